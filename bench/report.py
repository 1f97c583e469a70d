#!/usr/bin/env python3
"""Makes a table (Markdown) and a picture (SVG) of results.

    report.py ROWS.jsonl [TABLE.md PICTURE.svg]

A row of results is a JSON object a line: `what` was measured `on` what, `who` did it, and the
`value` in `unit`, or null if there is none; `note` may say more. Rows of the same `what` and `on` are compared.
If a row occurs several times, e.g. from runs in turns, its median counts. Without files to write the table
goes to the standard output.
"""
import collections
import html
import json
import statistics
import sys

OURS = "#2a6fb0"
OTHERS = "#b9bec4"
WIDTH, LABEL, BAR = 900, 250, 480  # of the picture, of a bar's label and of the longest bar
ROW, HEADING = 20, 34  # heights


def read(file):
    """Returns groups of rows in the order of their first rows."""
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(file, encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            groups[row["what"], row.get("on", "")][row["who"]].append(row)
    return {key: [median(same) for same in rows.values()] for key, rows in groups.items()}


def median(rows):
    values = [row["value"] for row in rows if row["value"] is not None]
    return {**rows[-1], "value": statistics.median(values) if values else None}


def figure(row):
    value = row["value"]
    if value is None:
        return "none"
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {row['unit']}"


def table(groups):
    """Returns a line for each row. The last column is seqtrain's figure divided by the row's."""
    lines = ["| what | on | who | figure | seqtrain is |  |", "|---|---|---|--:|--:|---|"]
    for (what, on), rows in groups.items():
        ours = next((row["value"] for row in rows if row["who"] == "seqtrain"), None)
        for row in rows:
            times = f"{ours / row['value']:.2f} ×" if ours and row["value"] and row["who"] != "seqtrain" else ""
            cells = [what, on, row["who"], figure(row), times, row.get("note", "")]
            lines.append("| " + " | ".join(cells) + " |")
            what = on = ""
    return "\n".join(lines) + "\n"


def bar(row, longest, y):
    length = max(1, BAR * row["value"] / longest)
    colour = OURS if row["who"] == "seqtrain" else OTHERS
    return [f'<text x="{LABEL - 8}" y="{y + 14}" text-anchor="end">{html.escape(row["who"])}</text>',
            f'<rect x="{LABEL}" y="{y + 2}" width="{length:.1f}" height="{ROW - 5}" fill="{colour}"/>',
            f'<text x="{LABEL + length + 6:.1f}" y="{y + 14}">{figure(row)}</text>']


def picture(groups):
    """Returns bars, group by group. The longest bars of all groups have equal lengths."""
    parts, y = [], 0
    for (what, on), rows in groups.items():
        rows = [row for row in rows if row["value"] is not None]
        title = html.escape(f"{what}: {on}" if on else what)
        parts.append(f'<text x="12" y="{y + 24}" font-weight="bold">{title}</text>')
        y += HEADING
        longest = max((row["value"] for row in rows), default=1)
        for row in rows:
            parts += bar(row, longest, y)
            y += ROW
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 12}" '
            'font-family="sans-serif" font-size="13">')
    return "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>\n"])


def main(rows, *outputs):
    groups = read(rows)
    if not outputs:
        return print(table(groups), end="")
    for make, file in zip((table, picture), outputs):
        with open(file, "w", encoding="utf-8") as out:
            out.write(make(groups))


if __name__ == "__main__":
    main(*sys.argv[1:])
