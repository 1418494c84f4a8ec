"""Readers of CSV, YAML, manifests, networks and ledgers under any bytes, led by lines they reach.

Each target takes bytes and either returns, or raises what is a fault. The guard here keeps an input
that reaches a new line and changes it further; it needs nothing but Python. With the extra `fuzz`,
Atheris drives the same targets (`under_atheris.py`).
"""

import base64
import contextlib
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import yaml

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.files.reading import TextFile
from sfumato.networks import Network, read_bif, tables_of, to_bif
from sfumato.releases.manifest import Manifest
from sfumato.tables import open_table
from sfumato.verifier.counting import count, open_source
from sfumato.verifier.promises import read_manifest
from tests.fuzz.guards import Case, Fault, Guard, refusals
from tests.fuzz.mutants import BYTES, POLICY, Ledgers, Manifests, Policies, people

# The targets.


def read_csv(data: bytes, folder: Path) -> None:
    """Read a table with the engine and with the verifier; what both accept must be the same."""
    path = folder / "x.csv"
    path.write_bytes(data)
    seen: list[dict[Any, int]] = []
    told: Any = path
    with refusals():
        table = open_table(path)
        # The verifier finds out nothing about a file but its delimiter.
        told = TextFile(path, table.reading)
        names = list(table.columns)[:3]
        counts = table.count(names)
        texts = [[value and str(value) for value in column.values] for column in counts.columns]
        cells = [[texts[i][code] for code in codes] for i, codes in enumerate(counts.codes)]
        seen.append(dict(zip(zip(*cells, strict=True), counts.rows.tolist(), strict=True)))
    with refusals():
        source = open_source(told)
        found = count(source, list(source.names)[:3])
        keys = [tuple(value and str(value) for value in key) for key in found.combinations]
        seen.append(dict(zip(keys, found.combinations.values(), strict=True)))
    if len(seen) == 2 and seen[0] != seen[1]:
        raise Fault("two readers see different rows", str(seen)[:2000])


def read_yaml(data: bytes, folder: Path) -> None:
    """Read a policy, write it, and read it again."""
    path = folder / "policy.yaml"
    path.write_bytes(data)
    with refusals():
        policy = sf.Policy.load(path)
        if sf.Policy.from_yaml(policy.to_yaml()).to_yaml() != policy.to_yaml():
            raise Fault("a policy does not read what it wrote")


def read_manifests(data: bytes, folder: Path) -> None:
    """Read a manifest with both readers there are."""
    path = folder / "manifest.json"
    path.write_bytes(data)
    with refusals():
        read_manifest(path)
    with refusals():
        made = Manifest.read_folder(folder)
        Manifest.from_json(made.to_json())


def read_network(data: bytes, folder: Path) -> None:
    """Read a network; one with probabilities is written, and read again."""
    path = folder / "x.bif"
    path.write_bytes(data)
    with refusals():
        found = read_bif(path)
        if any(abs(table.dense().sum(axis=-1) - 1).max() > 1e-6 for table in found.tables.values()):
            raise Fault("probabilities that do not add up to 1")
        if found.tables and found.network.acyclic:
            path.write_text(to_bif(found.network, found.tables), encoding="ascii")
            again = read_bif(path)
            if again.network.parents != found.network.parents:
                raise Fault("a network does not read what it wrote")


def read_ledger(data: bytes, folder: Path) -> None:
    """Open a ledger and read everything in it."""
    path = folder / "x.ledger"
    path.write_bytes(data)
    path.chmod(0o600)
    for call in (
        lambda: sf.Ledger(path).verify(),
        lambda: sf.Ledger(path).history,
        lambda: sf.Ledger(path).contents(),
        lambda: sf.Ledger(path).headroom(),
    ):
        with refusals():
            call()


TARGETS: dict[str, Callable[[bytes, Path], None]] = {
    "csv": read_csv,
    "yaml": read_yaml,
    "manifest": read_manifests,
    "network": read_network,
    "ledger": read_ledger,
}


def seeds(target: str) -> list[bytes]:
    """Return whole inputs to begin with."""
    if target == "csv":
        return [
            b"a,b,c\n1,x,\n2,y,z\n",
            b'a;b\n"1;2";"x\ny"\n',
            b"\xef\xbb\xbfa\tb\r\n1\t\r\n",
            "a;b\r\n1.234,5;K\u00f6ln\r\n2,5;M\u00fcller\r\n".encode("latin1"),
            "\ufeffa:b\n'1';x\n".encode("utf-16-le"),
            b"sep=|\na|b\n1'234|'x'\n",
            people().to_pandas().head(9).to_csv(index=False).encode(),
        ]
    if target == "yaml":
        return [
            sf.Policy(**POLICY).to_yaml().encode(),
            yaml.safe_dump(Policies().base).encode(),
            b"columns: {a: plain}\n",
        ]
    if target == "network":
        counts = FrequencySet.from_rows(["a", "b"], [("x", "1"), ("y", None), ("y", "[1, 2)")])
        network = Network.of("ab", [("a", "b")])
        return [
            to_bif(network, tables_of(counts, network)).encode(),
            b'variable "a b" { type discrete [ 2 ] { t f }; } // x\n',
            b"variable a { type discrete [ 2 ] { t f }; } probability ( a ) { default 0.5, .5; }",
        ]
    made: Any = Manifests() if target == "manifest" else Ledgers()
    try:
        if target == "ledger":
            return [(made.home / "x.ledger").read_bytes()]
        return [(made.home / kind / "manifest.json").read_bytes() for kind in made.kinds]
    finally:
        made.close()


# Which lines are reached.


class Watch:
    """Collect the lines of the package that are run."""

    def __init__(self) -> None:
        self.lines: set[tuple[CodeType, int]] = set()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, arg: object) -> Any:
        return self._line if "/sfumato/" in frame.f_code.co_filename else None

    def _line(self, frame: FrameType, event: str, arg: object) -> Any:
        self.lines.add((frame.f_code, frame.f_lineno))
        return self._line


class Readers(Guard):
    """Bytes that grow towards lines nobody reached before."""

    name = "readers"
    weight = 1.5
    few = 200

    def __init__(self) -> None:
        self.pools: dict[str, list[bytes]] = {}
        self.seen: set[tuple[CodeType, int]] = set()

    def draw(self, rng: random.Random) -> Case:
        target = rng.choice(sorted(TARGETS))
        if target not in self.pools:
            self.pools[target] = seeds(target)
        pool = self.pools[target]
        data = rng.choice(pool[-20:] if rng.random() < 0.5 else pool)
        for _ in range(rng.choice([1, 1, 2, 4, 8])):
            data = self.change(rng, data, pool)
        # A ledger is a database: bytes in the middle of its pages, and nothing longer.
        return {"target": target, "data": base64.b64encode(data[: 1 << 20]).decode(), "hunt": True}

    def change(self, rng: random.Random, data: bytes, pool: list[bytes]) -> bytes:
        at, size = rng.randrange(len(data) + 1), len(data)
        match rng.randrange(6):
            case 0:
                return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
            case 1:
                return data[:at] + rng.choice(BYTES) + data[at:]
            case 2:
                return data[:at] + data[at + rng.choice([1, 2, 8, 64]) :]
            case 3:
                other = rng.choice(pool)
                begin = rng.randrange(len(other) + 1)
                return data[:at] + other[begin : begin + rng.choice([4, 16, 64])] + data[at:]
            case 4:
                length = rng.choice([1, 4, 16])
                return data[:at] + data[at : at + length] * rng.choice([2, 3]) + data[at + length :]
            case _:
                other_at = rng.randrange(size + 1)
                low, high = sorted((at, other_at))
                return data[:low] + data[low:high][::-1][:64] + data[high:]

    def attempt(self, case: Case, folder: Path) -> None:
        data = base64.b64decode(case["data"])
        target = TARGETS[case["target"]]
        if not case.get("hunt"):
            target(data, folder)
            return
        watch = Watch()
        try:
            with watch.watching():
                target(data, folder)
        finally:
            if not watch.lines <= self.seen:
                self.seen |= watch.lines
                self.pools.setdefault(case["target"], []).append(data)

    def smaller(self, case: Case) -> Iterator[Case]:
        data = base64.b64decode(case["data"])
        step = len(data) // 2
        while step:
            for at in range(0, len(data), step):
                rest = base64.b64encode(data[:at] + data[at + step :]).decode()
                yield {"target": case["target"], "data": rest}
            step //= 2
