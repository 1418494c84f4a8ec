"""The real server in a process of its own, and requests to it as no browser would send them."""

import http.client
import re
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

_PROGRAM = "from sfumato.cli import main; main()"
_PATIENCE = 300
_SHOWN = re.compile(r"(https?)://(\S+?):(\d+)/\?token=(\S+)")


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    """With names in small letters."""

    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


@dataclass
class Served:
    """A running app, and who it let in."""

    process: subprocess.Popen
    folder: Path
    port: int
    token: str
    log: Path
    """Everything that the process has said, on both streams."""

    scheme: str = "http"
    base: str = ""
    """What addresses of pages begin with."""

    cookie: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}"

    @property
    def door(self) -> str:
        return f"{self.origin}/?token={self.token}"

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def send(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str | None] | None = None,
    ) -> Answer:
        """Send exactly this; a header without a value is left out."""
        given = {"Host": self.host, **(headers or {})}
        if self.scheme == "http":
            line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        else:
            # Certificates of tests are signed by no authority.
            any_one = ssl._create_unverified_context()
            line = http.client.HTTPSConnection(
                "127.0.0.1", self.port, timeout=_PATIENCE, context=any_one
            )
        try:
            line.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in given.items():
                if value is not None:
                    line.putheader(name, value)
            if body or method not in ("GET", "HEAD"):
                line.putheader("Content-Length", str(len(body)))
            line.endheaders(body)
            answer = line.getresponse()
            told = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, told, answer.read())
        finally:
            line.close()

    def enter(self) -> None:
        """Exchange the token for the cookie, as the browser does."""
        answer = self.send("GET", f"/?token={self.token}")
        assert answer.status == 303, answer
        self.base = answer.headers["location"].rstrip("/")
        self.cookie = answer.headers["set-cookie"].partition(";")[0]

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | Mapping[str, str] = b"",
        headers: Mapping[str, str | None] | None = None,
    ) -> Answer:
        """Send what a page of the app would, but for the headers that are given."""
        sent = body if isinstance(body, bytes) else urlencode(body).encode()
        own: dict[str, str | None] = {"Cookie": self.cookie}
        if method not in ("GET", "HEAD"):
            own["Origin"] = self.origin
        return self.send(method, f"{self.base}{path}", sent, {**own, **(headers or {})})

    def open_table(self, name: str, data: bytes) -> Answer:
        """Upload a table, and wait until it is read or refused."""
        answer = self.ask("POST", f"/upload?{urlencode({'name': name})}", data)
        if answer.status == 201:
            self.wait()
        return answer

    def wait(self, job: str = "open") -> None:
        """Wait until some work is over."""
        end = time.monotonic() + _PATIENCE
        while "hx-trigger" not in self.ask("GET", f"/job/{job}").headers:
            assert time.monotonic() < end, f"{job} does not end"
            time.sleep(0.05)


@contextmanager
def serving(folder: Path, log: Path, *options: str) -> Iterator[Served]:
    """Start the app in `folder`, enter it, and end it as Ctrl-C does.

    Args:
        folder: Where it works.
        log: A file elsewhere that takes what the process says.
        options: More of the command line.
    """
    with log.open("wb") as told:
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", _PROGRAM, "app", "--no-browser"),
                *("--folder", str(folder), *options),
            ],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=subprocess.STDOUT,
        )
    try:
        found = _wait_for_address(process, log)
        served = Served(process, folder, int(found[3]), found[4], log, found[1])
        _wait_for_answer(served)
        served.enter()
        yield served
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=240)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for_address(process: subprocess.Popen, log: Path) -> re.Match[str]:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and process.poll() is None:
        found = _SHOWN.search(log.read_text(encoding="utf-8", errors="replace"))
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("the app gave no address: " + log.read_text(encoding="utf-8"))


def _wait_for_answer(served: Served) -> None:
    """The socket listens before the server answers: the first request waits for it."""
    assert served.send("GET", "/").status in (401, 403)


def path_of(address: str) -> str:
    """Give the path of an address, with its query."""
    parts = urlsplit(address)
    return parts.path + (f"?{parts.query}" if parts.query else "")
