"""Writes the character maps that `Precompiled` of Hugging Face's tokenizers reads.

A map is the size of a trie, the trie as a double array in the layout of darts-clone, and the strings
that its values are offsets into, each ended by a zero.
"""
import collections
import struct


def charsmap(entries):
    """Returns the bytes of a map that replaces each key of `entries` by its value."""
    root, blob, offsets = {}, bytearray(), {}
    for key, value in entries.items():
        if value not in offsets:
            offsets[value] = len(blob)
            blob += value.encode() + b"\0"
        node = root
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[None] = offsets[value]
    units, used, bases, free = [0], bytearray(b"\1"), set(), 1
    queue = collections.deque([(0, root)])
    while queue:
        position, node = queue.popleft()
        if not node:
            continue
        labels = [label or 0 for label in node]
        base = free
        while True:
            while len(units) < base + 512:
                units += [0] * 256
                used += bytes(256)
            if base not in bases and not any(used[base ^ label] for label in labels):
                break
            base += 1
        bases.add(base)
        offset = position ^ base
        assert offset < 1 << 21, "the map is too large"
        units[position] |= offset << 10
        for label, child in node.items():
            at = base ^ (label or 0)
            used[at] = 1
            if label is None:
                units[position] |= 1 << 8
                units[at] = 1 << 31 | child
            else:
                units[at] |= label
                queue.append((at, child))
        while used[free]:
            free += 1
    units += [0] * (-len(units) % 256)
    return struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + bytes(blob)
