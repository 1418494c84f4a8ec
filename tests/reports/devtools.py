"""A real browser, driven over a pipe: no server, no driver, no port.

Chromium reads commands of its DevTools protocol from file descriptor 3 and answers on 4, each
message a JSON text that ends in a zero byte.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--remote-debugging-pipe",
)
_PATIENCE = 300
_MOVE = """
import fcntl, os, sys
# First out of the way: one of the two may stand where the other has to go.
high = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
os.dup2(high[0], 3)
os.dup2(high[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""Moves the pipes to where the browser looks for them, and becomes the browser."""


def find_browser() -> str:
    """Give the program, or fail the test that asks."""
    for name in _NAMES:
        if found := shutil.which(name):
            return found
    pytest.fail("no browser: install Debian's package chromium (apt-get install chromium)")


@contextmanager
def browsing(folder: Path):
    """Start a browser with a profile of its own in `folder`, and end it."""
    program = find_browser()
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    flags = [*_FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
    process = subprocess.Popen(
        [sys.executable, "-c", _MOVE, str(their_in), str(their_out), program, *flags],
        pass_fds=(their_in, their_out),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(folder)},
    )
    os.close(their_in)
    os.close(their_out)
    try:
        yield Browser(our_in, our_out)
    finally:
        with suppress(OSError):
            os.write(our_out, b'{"id":0,"method":"Browser.close"}\0')
        try:
            process.wait(timeout=240)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(our_in)
        os.close(our_out)


@dataclass
class Browser:
    """One conversation with the browser."""

    reads: int
    writes: int
    number: int = 0
    left: bytes = b""
    events: list[dict] = field(default_factory=list)

    def call(self, method: str, session: str | None = None, **params) -> dict:
        """Give a command and wait for its answer; what happens meanwhile is remembered."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        os.write(self.writes, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict:
        until = time.monotonic() + _PATIENCE
        while b"\0" not in self.left:
            ready, _, _ = select.select([self.reads], [], [], max(until - time.monotonic(), 0))
            assert ready, "the browser says nothing any more"
            part = os.read(self.reads, 1 << 20)
            assert part, "the browser is gone"
            self.left += part
        text, _, self.left = self.left.partition(b"\0")
        return json.loads(text)

    def open(self, path: Path, **media) -> "Page":
        """Open a file, wait until it is shown, and watch what it does."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, path.resolve().as_uri())
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable", session)
        features = [{"name": name, "value": value} for name, value in media.items()]
        self.call("Emulation.setEmulatedMedia", session, features=features)
        page.size(1200, 900)
        self.events.clear()
        self.call("Page.navigate", session, url=page.url)
        page.wait_for("Page.loadEventFired")
        return page


@dataclass
class Page:
    """One open file."""

    browser: Browser
    session: str
    url: str

    def wait_for(self, method: str) -> None:
        """Wait for something to happen."""
        while not any(event.get("method") == method for event in self.browser.events):
            self.browser.events.append(self.browser._next())

    def size(self, width: int, height: int) -> None:
        """Give the window a size."""
        self.browser.call(
            "Emulation.setDeviceMetricsOverride",
            self.session,
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def run(self, script: str):
        """Evaluate JavaScript and give the value back; a promise is waited for."""
        result = self.browser.call(
            "Runtime.evaluate",
            self.session,
            expression=script,
            awaitPromise=True,
            returnByValue=True,
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def happened(self, *methods: str) -> list[dict]:
        """Give what happened since the page was opened."""
        self.run("new Promise(done => setTimeout(done, 50))")
        return [e["params"] for e in self.browser.events if e.get("method") in methods]

    def screenshot(self, path: Path) -> Path:
        """Draw the whole page, however long it is."""
        # A page behind another one is not drawn, and the browser would wait for that for ever.
        self.browser.call("Page.bringToFront", self.session)
        self.size(1200, int(self.run("document.documentElement.scrollHeight")))
        shot = self.browser.call("Page.captureScreenshot", self.session, format="png")
        path.write_bytes(base64.b64decode(shot["data"]))
        return path

    def printed(self) -> bytes:
        """Print it as PDF."""
        result = self.browser.call("Page.printToPDF", self.session, printBackground=False)
        return base64.b64decode(result["data"])
