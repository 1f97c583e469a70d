"""Drives a headless Chromium through its pipe for debugging, with Python's library alone."""
import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time


def find_chromium():
    """Returns the program's path, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
                None)


class Browser:
    def __init__(self):
        self.profile = tempfile.mkdtemp()
        ours, theirs = os.pipe(), os.pipe()  # commands, answers

        def connect():
            for end in (ours[0], theirs[1]):
                os.set_inheritable(end, True)
            os.dup2(ours[0], 100)
            os.dup2(theirs[1], 101)
            os.dup2(100, 3)
            os.dup2(101, 4)

        self.process = subprocess.Popen(
            [find_chromium(), "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
             "--remote-debugging-pipe", "--user-data-dir=" + self.profile, "about:blank"],
            preexec_fn=connect, close_fds=False, stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.out, self.answers = os.fdopen(ours[1], "wb", 0), os.fdopen(theirs[0], "rb", 0)
        self.ids, self.rest, self.events = itertools.count(1), b"", []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.answers.fileno(), 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        message = {"id": next(self.ids), "method": method, "params": params}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        self.out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, dark=False, javascript=True):
        """Opens a page; the events since then are those of the page."""
        self.call("Emulation.setScriptExecutionDisabled", value=not javascript)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events = []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def run(self, expression):
        """Returns the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return answer["result"].get("value")

    def problems(self):
        """Returns errors of the console and requests other than that for the page itself."""
        time.sleep(0.05)
        self.run("1")  # what has happened until now has been told
        found = []
        for event in self.events:
            method, params = event["method"], event["params"]
            if method in ("Runtime.exceptionThrown", "Log.entryAdded"):
                found.append(json.dumps(params)[:300])
            if method == "Runtime.consoleAPICalled":
                found.append(json.dumps(params)[:300])
            if method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:")):
                    found.append(url)
        return found

    def screenshot(self, path, top=0, height=1400, width=1100):
        """Saves a part of the page as PNG."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                         clip={"x": 0, "y": top, "width": width, "height": height, "scale": 1})
        with open(path, "wb") as file:
            file.write(base64.b64decode(data["data"]))

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (EOFError, OSError):
            pass
        self.process.wait(30)
        shutil.rmtree(self.profile, ignore_errors=True)
