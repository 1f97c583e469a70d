#!/usr/bin/env python3
"""Runs a command on several hosts, which this script makes from network namespaces and a bridge.

    hosts.py --hosts 4 --rate 1gbit --delay-ms 1 --loss 0.01 -- COMMAND...

The command runs once on each host, in the current directory and with the files of this machine. Its
output lines get the host's name as a prefix. `--kill-host 2@15` drops host2 after 15 seconds: first
its link goes down, so that the other hosts see no FIN and no RST, then its processes are killed.
`--lose-host 2@15` only takes the link down. The exit code is that of the first host that fails and
was not dropped, or 124 after `--timeout` seconds.

Host 0 is called host0 and has the address 10.77.0.1. A host's /etc/hosts has the addresses of the
others, and 127.0.1.1 for its own name, as on Debian. The command sees HOST_INDEX, HOSTS,
HOST_ADDRESS and MASTER_ADDR, which is `host0`. {index}, {hosts}, {address} and {master} in its
arguments are replaced.

The rate applies to each host and direction, the loss to each packet that a host receives, and the
delay to each packet from one host to another, so a ping takes twice as long. With a loss each
packet is one frame of 1,500 bytes, as on a wire, which may keep a slow machine below the rate.

Everything is in namespaces of this process and vanishes with it, whatever signal ends it. The
script needs root and Debian's packages iproute2, iptables and util-linux, and with a delay also g++
and /dev/net/tun. It exits with 77 if one of these is missing.
"""

import argparse
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

SKIPPED = 77
TIMED_OUT = 124
NETNS = Path("/run/netns")
DELAY = Path(__file__).with_name("delay.cpp")
PACKAGES = {"ip": "iproute2", "tc": "iproute2", "iptables": "iptables", "unshare": "util-linux"}
CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x20000000, 0x40000000
PR_SET_PDEATHSIG = 1
# Runs as pid 1 of a host and starts the command as its child: pid 1 must reap orphans and treats
# signals differently.
START = ('mount --bind "$1" /etc/hosts && echo "$2" > /proc/sys/kernel/hostname && shift 2 && '
         '"$@"; exit $?')

libc = ctypes.CDLL(None, use_errno=True)


def drop(text):
    host, _, seconds = text.partition("@")
    return int(host), float(seconds)


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--rate", default="1gbit", help="as tc writes it; `none` for no limit")
    parser.add_argument("--delay-ms", type=float, default=0, help="from one host to another")
    parser.add_argument("--loss", type=float, default=0, help="between 0 and 1")
    for flag in ("--kill-host", "--lose-host"):
        parser.add_argument(flag, type=drop, action="append", default=[], metavar="HOST@SECONDS")
    parser.add_argument("--timeout", type=float, help="seconds until all hosts are killed")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND")
    options = parser.parse_args(arguments)
    if options.command[:1] == ["--"]:
        del options.command[0]
    if not options.command:
        parser.error("no command: write it after --")
    if not 1 <= options.hosts <= 200:
        parser.error("--hosts must be between 1 and 200")
    if any(not 0 <= host < options.hosts for host, _ in options.kill_host + options.lose_host):
        parser.error("a dropped host must be one of the hosts")
    return options


def missing(options):
    """Returns what this machine lacks to make the hosts, or None."""
    if os.geteuid() != 0:
        return "root"
    for program, package in PACKAGES.items():
        if not shutil.which(program):
            return f"the program {program}: apt-get install {package}"
    if options.delay_ms and not Path("/dev/net/tun").exists():
        return "/dev/net/tun"
    if options.delay_ms and not shutil.which(os.environ.get("CXX", "g++")):
        return "a C++ compiler: apt-get install g++, or set CXX"
    return None


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"hosts.py: {' '.join(command)}: {done.stdout.strip()}")


class Host:
    def __init__(self, index):
        self.index, self.name, self.address = index, f"host{index}", f"10.77.0.{index + 1}"
        self.port = f"port-{self.name}"
        self.process = self.reader = None
        self.dropped = False

    def inside(self, *command):
        run("ip", "netns", "exec", self.name, *command)

    def link(self, options):
        """Joins the host to the bridge. With a delay its devices already exist."""
        if not options.delay_ms:
            run("ip", "link", "add", self.port, "type", "veth", "peer", "eth0", "netns", self.name)
        run("ip", "link", "set", self.port, "master", "bridge", "up")
        self.inside("ip", "link", "set", "lo", "up")
        self.inside("ip", "link", "set", "eth0", "up")
        self.inside("ip", "address", "add", f"{self.address}/24", "dev", "eth0")
        if options.loss:
            self.inside("ip", "link", "set", "eth0", "gso_max_segs", "1")
        if options.rate != "none":
            shape = ["root", "tbf", "rate", options.rate, "burst", "128kb", "latency", "50ms"]
            run("tc", "qdisc", "add", "dev", self.port, *shape)
            self.inside("tc", "qdisc", "add", "dev", "eth0", *shape)
        if options.loss:
            self.inside("iptables", "-A", "INPUT", "-i", "eth0", "-m", "statistic",
                        "--mode", "random", "--probability", str(options.loss), "-j", "DROP")

    def names(self, hosts):
        lines = ["127.0.0.1 localhost"]
        lines += [f"{'127.0.1.1' if host is self else host.address} {host.name}" for host in hosts]
        file = NETNS / f"names-{self.name}"
        file.write_text("\n".join(lines) + "\n")
        return str(file)

    def start(self, hosts, command):
        values = {"index": self.index, "hosts": len(hosts), "address": self.address,
                  "master": "host0"}
        for name, value in values.items():
            command = [word.replace("{" + name + "}", str(value)) for word in command]
        names = {"HOST_INDEX": self.index, "HOSTS": len(hosts), "HOST_ADDRESS": self.address,
                 "MASTER_ADDR": "host0"}
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", self.name, "unshare", "--uts", "--pid", "--fork",
             "--kill-child", "--mount-proc", "sh", "-c", START, "sh", self.names(hosts), self.name,
             *command],
            env=os.environ | {name: str(value) for name, value in names.items()},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.reader = threading.Thread(target=self.copy_output, daemon=True)
        self.reader.start()

    def copy_output(self):
        for line in self.process.stdout:
            sys.stdout.buffer.write(f"{self.name}: ".encode() + line.rstrip(b"\n") + b"\n")
            sys.stdout.buffer.flush()

    def lose(self):
        self.dropped = True
        run("ip", "link", "set", self.port, "down")

    def kill(self):
        self.lose()
        self.process.kill()  # unshare's --kill-child kills all processes of the host


def make(options):
    hosts = [Host(index) for index in range(options.hosts)]
    run("ip", "link", "add", "bridge", "type", "bridge")
    run("ip", "link", "set", "bridge", "up")
    run("ip", "link", "set", "lo", "up")
    for host in hosts:
        run("ip", "netns", "add", host.name)
    if options.delay_ms:
        # A packet passes the devices of two hosts, so each delays it by half of the time.
        names = [host.name for host in hosts]
        command = [compile_delay(), str(round(options.delay_ms * 500)), *names]
        delay = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        if delay.stdout.readline() != "ready\n":
            sys.exit("hosts.py: the program that delays packets did not start")
    for host in hosts:
        host.link(options)
    return hosts


def compile_delay():
    program = DELAY.parents[2] / "build/dist/delay"
    if not program.exists() or program.stat().st_mtime < DELAY.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        run(os.environ.get("CXX", "g++"), "-std=c++20", "-O2", "-pthread", "-o", str(program),
            str(DELAY))
    return str(program)


def say(begin, text):
    print(f"hosts.py: {time.monotonic() - begin:.1f} s: {text}", flush=True)


def inside(options):
    """Runs as pid 1 of the namespaces. When it ends, the kernel kills all other processes."""
    hosts = make(options)
    drops = [(seconds, hosts[host], what)
             for whats, what in [(options.kill_host, "killed"), (options.lose_host, "lost")]
             for host, seconds in whats]
    drops.sort(key=lambda drop: drop[0])
    begin = time.monotonic()
    for host in hosts:
        host.start(hosts, options.command)
    code = 0
    left = set(hosts)
    while any(not host.dropped for host in left):
        now = time.monotonic() - begin
        if options.timeout and now > options.timeout:
            say(begin, f"time is up: {', '.join(sorted(host.name for host in left))} did not end")
            return TIMED_OUT
        if drops and now >= drops[0][0]:
            _, host, what = drops.pop(0)
            host.kill() if what == "killed" else host.lose()
            say(begin, f"{host.name} is {what}")
        for host in [host for host in left if host.process.poll() is not None]:
            left.remove(host)
            host.reader.join()
            if not host.dropped:
                say(begin, f"{host.name} ended with {host.process.returncode}")
                code = code or host.process.returncode
        time.sleep(0.02)
    return code


def main():
    options = parse(sys.argv[1:])
    lacking = missing(options)
    if lacking:
        print(f"hosts.py: skipped: this needs {lacking}", file=sys.stderr)
        return SKIPPED
    if libc.unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID) != 0:
        print(f"hosts.py: skipped: no namespaces here: {os.strerror(ctypes.get_errno())}",
              file=sys.stderr)
        return SKIPPED
    child = os.fork()
    if child == 0:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)  # would not end pid 1
        run("mount", "--make-rprivate", "/")
        run("mount", "-t", "proc", "proc", "/proc")
        NETNS.mkdir(exist_ok=True)
        run("mount", "-t", "tmpfs", "tmpfs", str(NETNS))
        return inside(options)

    def end(number, _):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        sys.exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main())
