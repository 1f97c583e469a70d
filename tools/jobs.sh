#!/usr/bin/env bash
# Prints the number of compilers to run at once: one for each core, if there are 2 GiB of memory for each.
by_memory=$(awk '/^MemAvailable:/ { print int($2 / (2 * 1024 * 1024)) }' /proc/meminfo)
cores=$(nproc)
jobs=$((by_memory < cores ? by_memory : cores))
echo $((jobs > 1 ? jobs : 1))
