#!/usr/bin/env python3
"""Predicts how a training step scales with the number of processes, from measurements on a few.

    scale.py --compute 0.25 --bytes 45e6 --latency-ms 0.1 [--overlap 0.5] [--fixed 0.02]
             [--processes 8 64 1024]

Each process computes a batch of one size, so more processes take more examples per step (weak
scaling). A step takes

    compute + fixed + max(0, exchange - overlap x compute)
    exchange = 2 (W - 1) / W x bytes / bandwidth + rounds x latency

for W processes. `bytes` are the gradients of one process. The exchange sends each piece to the
process that sums it, and then gathers the sums: 2 (W - 1) / W of all bytes pass each process's link
in each direction. `--algorithm ring` takes 2 (W - 1) rounds. `direct` takes two rounds, in which
each process sends to all others at once, with `--message-us` of work for each of W - 1 messages.
`--overlap` is the part of the computation during which gradients are already sent. `--fixed` is the
additional time of each exchange in seconds.

The table shows the seconds of a step and the efficiency, i.e. one process's step over this one. The
last column has the number of processes from which on the efficiency is below one half, so that half
of the machines are wasted.
"""

import argparse

# bytes per second in each direction
NETWORKS = {"NVLink, 300 GB/s": 300e9, "100 Gbit/s": 100e9 / 8, "10 Gbit/s": 10e9 / 8}
PROCESSES = [8, 16, 32, 64, 128, 256, 512, 1024]


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compute", type=float, required=True,
                        help="seconds of a step of one process")
    parser.add_argument("--bytes", type=float, required=True, help="bytes of gradients per step")
    parser.add_argument("--latency-ms", type=float, required=True,
                        help="from one process to another")
    parser.add_argument("--fixed", type=float, default=0, help="seconds")
    parser.add_argument("--overlap", type=float, default=0, help="between 0 and 1")
    parser.add_argument("--message-us", type=float, default=20,
                        help="microseconds per message, for direct")
    parser.add_argument("--algorithm", choices=["direct", "ring"], default="direct")
    parser.add_argument("--bandwidth", type=float, help="one more network, in bytes per second")
    parser.add_argument("--processes", type=int, nargs="+", default=PROCESSES)
    return parser.parse_args()


def exchange(world, bandwidth, options):
    """Returns the seconds from the first gradient sent to the last sum received."""
    if world == 1:
        return 0
    latency = options.latency_ms / 1e3
    if options.algorithm == "ring":
        waiting = 2 * (world - 1) * latency
    else:
        waiting = 2 * (latency + (world - 1) * options.message_us / 1e6)
    return 2 * (world - 1) / world * options.bytes / bandwidth + waiting


def step(world, bandwidth, options):
    """Returns the seconds of a step."""
    alone = options.compute
    if world == 1:
        return alone
    hidden = options.overlap * options.compute
    return alone + options.fixed + max(0, exchange(world, bandwidth, options) - hidden)


def row(name, bandwidth, options):
    cells, stops = [], None
    for world in sorted(options.processes):
        seconds = step(world, bandwidth, options)
        efficiency = options.compute / seconds
        cells.append(f"{seconds:.3f} s, {efficiency:.2f}")
        if efficiency < 0.5 and stops is None:
            stops = world
    return [name, *cells, str(stops or "not here")]


def main():
    options = parse()
    networks = dict(NETWORKS)
    if options.bandwidth:
        networks[f"{options.bandwidth:.3g} B/s"] = options.bandwidth
    head = ["network", *map(str, sorted(options.processes)), "below one half from"]
    print(f"| {' | '.join(head)} |\n|---|{'--:|' * (len(head) - 1)}")
    for name, bandwidth in networks.items():
        print(f"| {' | '.join(row(name, bandwidth, options))} |")


if __name__ == "__main__":
    main()
