#!/usr/bin/env python3
"""Measures the network between the hosts of hosts.py, which starts it on each of them.

    hosts.py --hosts 2 -- stream.py [--megabytes 200]

Host 1 sends numbered datagrams to host 0, which returns them, and then a stream by TCP. Host 1
prints the least and the median round trip, the share of datagrams that were lost, and the rate of
the stream until host 0 has received all of it. Other hosts exit at once.
"""

import argparse
import os
import socket
import statistics
import time

PORT, DATAGRAMS, SECONDS = 5001, 1000, 3


def serve():
    echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    echo.bind(("", PORT))
    with socket.create_server(("", PORT)) as server:
        server.setblocking(False)
        echo.settimeout(0.1)
        while True:
            try:
                echo.sendto(*echo.recvfrom(64))
            except TimeoutError:
                pass
            try:
                connection, _ = server.accept()
                break
            except BlockingIOError:
                pass
        connection.setblocking(True)
        buffer = bytearray(1 << 20)
        while connection.recv_into(buffer):
            pass
        connection.sendall(b"!")


def round_trips():
    """Returns the round trips in seconds and the number of lost datagrams."""
    took = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("host0", PORT))
        sender.setblocking(False)
        begin, number = time.monotonic(), 0
        while time.monotonic() - begin < SECONDS + 1:
            if number < DATAGRAMS and time.monotonic() - begin > number * SECONDS / DATAGRAMS:
                number += 1
                try:
                    sender.send(str(time.monotonic()).encode())
                except ConnectionRefusedError:
                    number -= 1  # the other host has not bound its port yet
            try:
                took.append(-float(sender.recv(64)) + time.monotonic())
            except (BlockingIOError, ConnectionRefusedError):
                time.sleep(0.00005)
    return took, DATAGRAMS - len(took)


def stream(size):
    with socket.create_connection(("host0", PORT)) as sender:
        block = bytes(1 << 20)
        begin = time.monotonic()
        for _ in range(size):
            sender.sendall(block)
        sender.shutdown(socket.SHUT_WR)
        sender.recv(1)
        return size * len(block) * 8 / (time.monotonic() - begin)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=200)
    options = parser.parse_args()
    if os.environ["HOST_INDEX"] == "0":
        serve()
    if os.environ["HOST_INDEX"] == "1":
        time.sleep(0.5)
        took, lost = round_trips()
        print(f"round trip {min(took) * 1e3:.2f} ms at least, "
              f"{statistics.median(took) * 1e3:.2f} ms median")
        print(f"lost {lost / DATAGRAMS:.3f}")
        print(f"stream {stream(options.megabytes) / 1e6:.0f} Mbit/s", flush=True)


if __name__ == "__main__":
    main()
