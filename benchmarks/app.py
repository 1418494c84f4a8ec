"""The workbench: its start, what a change costs until the new figures are there, and memory.

Measured from outside, as a browser sees it: a real server in a process of its own, asked over HTTP.
Seconds of a clock, because that is what people wait for; the least of several on a quiet machine.
"""

import http.client
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from urllib.parse import urlencode

from benchmarks.bench import Bench
from benchmarks.measure import ROOT
from benchmarks.results import Figure
from benchmarks.workloads import adult_policy
from sfumato.models import KAnonymity
from sfumato.policy import Policy

_COMMAND = "from sfumato.cli import main; main()"
_MILLION = 1_000_000


@dataclass
class _App:
    """A running app, asked as a browser asks it."""

    process: subprocess.Popen[str]
    port: int
    token: str
    base: str = ""
    cookie: str = ""

    def ask(self, method: str, path: str, body: str = "") -> tuple[int, dict[str, str], str]:
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        headers = {"Cookie": self.cookie, "Origin": f"http://127.0.0.1:{self.port}"}
        line.request(method, path, body.encode(), headers)
        answer = line.getresponse()
        told = {name.lower(): value for name, value in answer.getheaders()}
        text = answer.read().decode()
        line.close()
        return answer.status, told, text

    def enter(self) -> None:
        _, told, _ = self.ask("GET", f"/?token={self.token}")
        self.base = told["location"].rstrip("/")
        self.cookie = told["set-cookie"].partition(";")[0]

    def wait(self, job: str) -> None:
        while "hx-refresh" not in self.ask("GET", f"{self.base}/job/{job}")[1]:
            time.sleep(0.05)

    def change(self, policy: Policy) -> tuple[float, float]:
        """Return the seconds from a new policy to its first figures, and to the exact ones."""
        start = time.perf_counter()
        self.ask("POST", f"{self.base}/policy", urlencode({"policy": policy.to_yaml()}))
        self.ask("GET", f"{self.base}/promises")
        seconds: list[float] = []
        while True:
            status, _, text = self.ask("GET", f"{self.base}/status")
            seconds.append(time.perf_counter() - start)
            if status != 200 or "<dl" not in text:
                raise RuntimeError(f"there are no figures: {status} {text[:400]}")
            if 'class="status ready"' in text:
                return seconds[0], seconds[-1]

    @property
    def memory(self) -> float:
        """The most memory it took, in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024


@contextmanager
def _running(folder: Path, file: str) -> Iterator[tuple[_App, float]]:
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", _COMMAND, "app", "--no-browser", file],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"127\.0\.0\.1:(\d+)/\?token=(\S+)", line):
                break
        app = _App(process, int(found[1]), found[2])
        app.enter()
        app.ask("GET", f"{app.base}/data?again=1")
        yield app, time.perf_counter() - start
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)


def run(bench: Bench) -> Iterator[Figure]:
    sizes = [("Adult", bench.files.adult, 0.2)]
    if not bench.quick:
        sizes.append(("1 M rows", bench.files.jittered(_MILLION, "parquet"), 1.0))
    for name, file, target in sizes:
        with tempfile.TemporaryDirectory() as place:
            copyfile(file, Path(place) / file.name)
            yield from _measure(bench, name, Path(place), file.name, target)


def _measure(bench: Bench, name: str, folder: Path, file: str, target: float) -> Iterator[Figure]:
    policy = adult_policy(k=5, limit=0.05)
    (folder / "policy.yaml").write_text(policy.to_yaml(), encoding="utf-8")
    with _running(folder, file) as (app, seconds):
        if name == "Adult":
            yield Figure("start, until the first page", seconds, "s", target=2.0)
        start = time.perf_counter()
        app.ask("GET", f"{app.base}/data")
        app.wait("open")
        yield Figure(f"{name}: reading", time.perf_counter() - start, "s")
        app.change(policy)
        for what, kind in (("full-domain", "full-domain"), ("mondrian", "mondrian")):
            took = [
                app.change(policy.with_method(kind).replace(models=[KAnonymity(k)]))
                for k in range(6, 9 + bench.few)
            ]
            first, exact = (min(seconds) for seconds in zip(*took, strict=True))
            yield Figure(f"{name}: another k, {what}, first figures", first, "s", target=target)
            yield Figure(f"{name}: another k, {what}, exact ones", exact, "s")
        yield Figure(f"{name}: memory of the server", app.memory, "MB", target=1000.0)
