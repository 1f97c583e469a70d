#!/usr/bin/env bash
# How many compilers to run at once: one a core, if each can have 1.5 GiB of memory.
by_memory=$(awk '/^MemAvailable:/ { print int($2 / (1.5 * 1024 * 1024)) }' /proc/meminfo)
cores=$(nproc)
jobs=$((by_memory < cores ? by_memory : cores))
echo $((jobs > 1 ? jobs : 1))
