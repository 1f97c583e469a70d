#!/usr/bin/env python3
"""Opens the pages of made-up runs in a headless Chromium: browser_test.py WRITE_PAGES

Skips with code 77 if there is no Chromium."""
import subprocess
import sys
import tempfile
from pathlib import Path

from browser import Browser, find_chromium

FIGURES = {
    "ordinary": {"dev-confusion": 9, "dev-labels": 9, "balance": 6, "lengths": 2,
                 "dev-precision-recall": 3, "loss": 5, "rate": 2},
    "one_epoch": {"dev-confusion": 9, "loss": 4},
    "no_dev": {"loss": 2, "rate": 2},
    "regression": {"dev-scatter": 200},
    "targets": {"dev-scatter-0": 200, "dev-scatter-2": 200},
    "several_labels": {"dev-labels": 12, "dev-precision-recall": 4},
    "many_labels": {"dev-labels": 90, "balance": 60, "dev-precision-recall": 8},
    "many_steps": {"loss": 5, "norm": 2},
}


def expect(is_so, what):
    if not is_so:
        raise SystemExit("FAILED: " + what)


def check_figures(browser, name):
    marks = browser.run("""Object.fromEntries([...document.querySelectorAll('figure')].map(f =>
        [f.id, [+f.dataset.marks, f.querySelectorAll('svg .m').length,
                f.querySelectorAll('svg > title, svg > desc').length,
                f.querySelectorAll('details table tbody tr').length]]))""")
    for figure, (told, drawn, titles, rows) in marks.items():
        expect(told == drawn, f"{name}: {figure} has {drawn} marks, not {told}")
        expect(titles == 2, f"{name}: {figure} has no title")
        expect(rows > 0, f"{name}: {figure} has no numbers")
    for figure, count in FIGURES.get(name, {}).items():
        expect(figure in marks, f"{name}: there is no figure {figure}")
        expect(marks[figure][0] == count,
               f"{name}: {figure} has {marks[figure][0]} marks, not {count}")


def check_filter(browser):
    shown = "[...document.querySelectorAll('#example-table tbody tr')].filter(r => !r.hidden)"
    everything = browser.run(shown + ".length")
    browser.run("""(() => { const gold = document.getElementById('filter-gold'); gold.value = '1';
        gold.dispatchEvent(new Event('input', {bubbles: true})); })()""")
    golds = browser.run(shown + ".map(r => r.dataset.gold)")
    expect(0 < len(golds) < everything and set(golds) == {"1"}, "the filter by gold label")
    browser.run("document.querySelector('[data-cell=\"0-2\"]').dispatchEvent("
                "new MouseEvent('click', {bubbles: true, cancelable: true}))")
    cells = browser.run(shown + ".map(r => r.dataset.gold + r.dataset.said)")
    expect(cells and set(cells) == {"02"}, "the filter by a cell of the matrix")
    target = browser.run("document.querySelector('[data-cell=\"0-2\"]').getAttribute('href')")
    expect(browser.run(f"document.querySelector('{target}').dataset.said") == "2",
           "the cell's link leads to one of its examples")
    browser.run("document.querySelectorAll('#example-table th button')[1].click()")
    losses = browser.run("[...document.querySelectorAll('#example-table tbody tr')]"
                         ".map(r => +r.cells[1].textContent)")
    expect(losses == sorted(losses), "sorting by loss")


def main():
    if find_chromium() is None:
        print("skipped: there is no Chromium")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([sys.argv[1], directory], check=True)
        browser = Browser()
        try:
            for page in sorted(Path(directory).iterdir()):
                for dark in (False, True):
                    browser.open(page / "report.html", dark=dark)
                    problems = browser.problems()
                    expect(not problems, f"{page.name}: {problems}")
                check_figures(browser, page.name)
                expect(browser.run("document.documentElement.scrollWidth <= innerWidth + 1"),
                       page.name + " is wider than the window")
                if page.name == "ordinary":
                    check_filter(browser)
                expect(browser.run("document.title") == "made · <run>", page.name + ": title")
            browser.open(Path(directory) / "hostile/report.html")
            text = browser.run("document.getElementById('example-table').textContent")
            expect("<script>document.title = 'taken'</script>" in text, "a script is shown")
            expect("onerror=" in text and "\u202e" in text, "hostile texts are shown")
            expect(browser.run("document.querySelectorAll('main img, main script, main style')"
                               ".length") == 0, "no markup comes from texts")
            browser.open(Path(directory) / "ordinary/report.html", javascript=False)
        finally:
            browser.close()
    print("passed")


if __name__ == "__main__":
    main()
