"""browser.py --serve PATH: tests the page of `serve` in headless Chromium by the DevTools protocol.

The page must load without an error in the console, answer an entered text with a bar for each
label, and colour the words that decided. Exits with 77 if there is no Chromium."""

import argparse
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import made_model  # noqa: E402
from load import Server  # noqa: E402

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SKIPPED = 77


class Browser:
    """Chromium with one page. Messages over two pipes are JSON and end with a zero byte."""

    def __init__(self, program, profile):
        to_read, self.to = os.pipe()
        self.answers, from_write = os.pipe()

        def connect():  # Chromium reads descriptor 3 and writes 4
            read, write = os.dup(to_read), os.dup(from_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--disable-background-networking", "--remote-debugging-pipe",
             f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.rest = b""
        self.last = 0
        self.session = None
        self.errors = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self, seconds=120):
        deadline = time.monotonic() + seconds
        while b"\0" not in self.rest:
            if not select.select([self.answers], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.answers, 1 << 16)
            if not part:
                raise RuntimeError("the browser has ended")
            self.rest += part
        line, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(line)
        self.note(message.get("method"), message.get("params", {}))
        return message

    def note(self, method, parameters):
        if method == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"])
        if method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "assert"):
            self.errors.append(parameters["args"])
        if method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"])

    def value(self, expression):
        """Returns the value of a JavaScript expression. Waits if it is a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                           returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait_for(self, expression, seconds=60):
        deadline = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > deadline:
                raise TimeoutError(f"not true after {seconds} s: {expression}; {self.errors}")
            time.sleep(0.05)

    def close(self):
        self.process.kill()
        self.process.wait()


ROWS = """[...document.querySelectorAll("#answer .row")].map(row => ({
  name: row.querySelector(".name").textContent,
  score: Number(row.querySelector(".score").textContent),
  bar: row.querySelector(".bar div").getBoundingClientRect().width /
       row.querySelector(".bar").getBoundingClientRect().width}))"""


def try_words(browser):
    """Asks which words decided: all of both texts are shown, with a share each."""
    browser.value("""document.getElementById("text").value = "bada <b> mona.";
                     document.getElementById("pair").value = "kilo";
                     document.getElementById("explain").click()""")
    browser.wait_for("document.querySelectorAll('#words p').length == 2")
    assert browser.value("""[...document.querySelectorAll("#words p")]
                            .map(shown => shown.textContent)""") == ["bada <b> mona.", "kilo"]
    words = browser.value("""[...document.querySelectorAll("#words span")].map(word => ({
      text: word.textContent, share: Number(word.title), kind: word.className,
      colour: getComputedStyle(word).backgroundColor}))""")
    assert [word["text"] for word in words] == ["bada", "<", "b", ">", "mona", ".", "kilo"], words
    assert all(word["kind"] == ("against" if word["share"] < 0 else "for") for word in words), words
    darkest = max(words, key=lambda word: abs(word["share"]))
    assert darkest["colour"].endswith(", 0.65)"), words


def try_page(browser, port):
    browser.call("Page.navigate", url=f"http://127.0.0.1:{port}/")
    browser.wait_for("document.readyState == 'complete' && !!document.getElementById('form')")
    browser.wait_for("document.getElementById('model').textContent.includes('float32')")
    for text, pair in (("bada mona <b>", ""), ("bada mona", "kilo")):
        browser.value(f"""document.getElementById("text").value = {json.dumps(text)};
                          document.getElementById("pair").value = {json.dumps(pair)};
                          document.getElementById("answer").replaceChildren();
                          document.querySelector("button").click()""")
        browser.wait_for("document.getElementById('time').textContent.endsWith(' ms') && "
                         "document.querySelectorAll('#answer .row').length > 0")
        rows = browser.value(ROWS)
        assert sorted(row["name"] for row in rows) == sorted(made_model.LABELS), rows
        scores = [row["score"] for row in rows]
        assert scores == sorted(scores, reverse=True) and abs(sum(scores) - 1) < 1e-3, rows
        assert all(abs(row["bar"] - row["score"]) < 0.02 for row in rows), rows
    try_words(browser)
    assert not browser.errors, browser.errors
    # The page shows an error of the server. The console has it too.
    browser.value("""document.getElementById("text").value = " ".repeat(2 << 20);
                     document.querySelector("button").click()""")
    browser.wait_for("document.querySelectorAll('#answer .error').length == 1")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", required=True)
    arguments = parser.parse_args()
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if not program:
        print("skipped: there is no Chromium here")
        return SKIPPED
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        made_model.make(pathlib.Path(folder) / "model")
        server = Server(arguments.serve, pathlib.Path(folder) / "model")
        try:
            port = server.wait_for("Listening")["port"]
            server.wait_for("Ready")
            browser = Browser(program, pathlib.Path(folder) / "profile")
            try:
                print(try_page(browser, port))
            finally:
                browser.close()
        finally:
            server.process.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
