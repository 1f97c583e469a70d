#!/usr/bin/env python3
"""Tests that hosts.py makes the network that it promises and leaves nothing after it.

Exits with 77 if a test was skipped, because this machine lacks something that hosts.py needs.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOSTS = [sys.executable, str(HERE / "hosts.py"), "--timeout", "60"]
STREAM = [sys.executable, str(HERE / "stream.py")]


def hosts(*arguments):
    done = subprocess.run([*HOSTS, *arguments], capture_output=True, text=True)
    if done.returncode == 77:
        raise unittest.SkipTest(done.stderr.strip())
    return done


def measure(*options, megabytes):
    """Returns the least round trip in ms, the share of lost datagrams, and the rate in Mbit/s."""
    done = hosts(*options, "--", *STREAM, "--megabytes", str(megabytes))
    words = r"round trip ([\d.]+) ms(?:.|\n)*lost ([\d.]+)(?:.|\n)*stream (\d+) Mbit/s"
    return [float(word) for word in re.search(words, done.stdout).groups()]


def running(marker):
    """Returns whether any process of the machine has this word among its arguments."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if marker.encode() in file.read_bytes().split(b"\0"):
                return True
        except OSError:
            pass
    return False


class Hosts(unittest.TestCase):
    def test_names_and_variables(self):
        program = ('echo "$(uname -n) $HOST_INDEX {index} $HOSTS {hosts} $MASTER_ADDR {master} '
                   '{address};'
                   '$(getent ahostsv4 host0 | head -1) $(getent ahostsv4 host1 | head -1)"')
        lines = hosts("--hosts", "2", "--", "sh", "-c", program).stdout.splitlines()
        words = {line.split()[0]: line for line in lines if line.startswith("host")}
        self.assertRegex(words["host0:"], "host0: host0 0 0 2 2 host0 host0 10.77.0.1;"
                                          "127.0.1.1 .* 10.77.0.2 ")
        self.assertRegex(words["host1:"], "host1: host1 1 1 2 2 host0 host0 10.77.0.2;"
                                          "10.77.0.1 .* 127.0.1.1 ")

    def test_the_first_failure_is_the_end_code(self):
        program = ('[ $HOST_INDEX != 2 ] || while [ ! -e "$0" ]; do sleep 0.1; done;'
                   'exit $((HOST_INDEX * 7))')
        with tempfile.TemporaryDirectory() as folder:
            host1_ended = Path(folder) / "host1_ended"
            command = [*HOSTS, "--hosts", "3", "--", "sh", "-c", program, str(host1_ended)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                for line in process.stdout:
                    if "host1 ended with 7" in line:
                        host1_ended.touch()
        if process.returncode == 77:
            self.skipTest("hosts.py lacks something that it needs")
        self.assertEqual(process.returncode, 7)

    def test_time_is_up(self):
        self.assertEqual(hosts("--timeout", "1", "--", "sleep", "100").returncode, 124)

    def test_rate(self):
        _, lost, speed = measure("--rate", "100mbit", megabytes=10)
        self.assertEqual(lost, 0)
        self.assertLess(speed, 110)

    def test_delay(self):
        round_trip, lost, _ = measure("--delay-ms", "20", megabytes=10)
        self.assertGreaterEqual(round_trip, 40)
        self.assertEqual(lost, 0)

    def test_loss(self):
        _, lost, _ = measure("--delay-ms", "1", "--loss", "0.05", megabytes=1)
        self.assertGreater(lost, 0.05)  # 0.0975 is expected; 0.05 is five deviations away
        self.assertLess(lost, 0.15)

    def test_a_host_that_is_dropped_says_nothing(self):
        program = """
import os, socket, time
if os.environ["HOST_INDEX"] == "0":
    connection, _ = socket.create_server(("", 5001)).accept()
    time.sleep(100)
while True:
    try:
        connection = socket.create_connection(("host0", 5001))
        break
    except ConnectionRefusedError:
        pass
connection.settimeout(5)
try:
    print("read", connection.recv(1))
except TimeoutError:
    print("silence")
"""
        for drop in ("--kill-host", "--lose-host"):
            done = hosts(drop, "0@2", "--", sys.executable, "-c", program)
            self.assertIn("host1: silence", done.stdout, drop)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_nothing_stays(self):
        hosts("--", "true")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            marker = f"1234.{os.getpid()}{int(number)}"
            process = subprocess.Popen([*HOSTS, "--delay-ms", "1", "--", "sleep", marker])
            while not running(marker) or not running("host1"):
                time.sleep(0.05)
            process.send_signal(number)
            process.wait()
            while running(marker):  # ctest's time limit ends this loop if a process stays
                time.sleep(0.05)
            self.assertFalse(Path("/sys/class/net/bridge").exists())


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
