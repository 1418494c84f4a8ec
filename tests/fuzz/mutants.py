"""Damaged manifests, evidence, ledgers, policies and files: told, never believed, never a crash."""

import base64
import contextlib
import gzip
import json
import random
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import yaml

import sfumato as sf
from sfumato import tools
from sfumato.models import MODELS
from tests.fuzz.canaries import bytes_of_folder, find_canaries
from tests.fuzz.guards import Case, Fault, Guard, refusals
from tests.fuzz.recount import groups_of, read_file, recount

ILLS = ["flu", "gout", "hiv", "ulcer"]
NAMES = [f"Zq{first}{second}xx" for first in "GHJKMNPQRS" for second in "GHJKMN"]
COLUMNS = {
    "name": "identifier",
    "age": {
        "role": "quasi-identifier",
        "hierarchy": {"kind": "intervals", "widths": [10, 20]},
        "levels": [1, 3],
    },
    "sex": "quasi-identifier",
    "ill": {
        "role": "sensitive",
        "hierarchy": {"kind": "taxonomy", "tree": {"a": ["flu", "hiv"], "b": ["gout", "ulcer"]}},
    },
}
POLICY = {
    "columns": COLUMNS,
    "models": [
        {"model": "k-anonymity", "k": 3},
        {"model": "distinct-l-diversity", "column": "ill", "l": 2},
        {"model": "t-closeness", "column": "ill", "t": 0.6, "distance": "hierarchical"},
    ],
    "suppression": 0.2,
}


def people() -> pa.Table:
    """Return sixty people whom every policy here can protect."""
    n = len(NAMES)
    return pa.table(
        {
            "name": NAMES,
            "age": [20 + i * 7 % 30 for i in range(n)],
            "sex": ["f" if i % 3 else "m" for i in range(n)],
            "ill": [ILLS[i % 4] for i in range(n)],
        }
    )


# What is done to things.

VALUES = [
    *(None, True, False, 0, -1, 1, 2, 1.5, -0.0, 0.5, 1e308, 10**30),
    *("", "x", "*", "\x00", "\ud7ff", "nan", "é" * 300, "2020-01-01", "csv", "parquet", "plain"),
    *("../../etc/passwd", "/dev/zero", "data.csv", "quasi-identifier", "break-merge"),
    *([], {}, [None], [[]], {"a": 1}, [1, "x"], [["x", "y"]]),
]
"""What may stand where something else is expected."""

BYTES = [
    *(b'"', b"\n", b"\r", b",", b";", b"\t", b"\x00", b"\xff", b"\xc3", b"\xef\xbb\xbf"),
    *(b"{", b"}", b"[", b"]", b":", b"'", b"&a", b"*a", b"!!", b"- ", b"~", b"\\", b"<"),
    *(b"1e999", b"0x"),
]


def paths_in(document: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to everything in a document."""
    items = document.items() if isinstance(document, dict) else ()
    for key, value in enumerate(document) if isinstance(document, list) else items:
        yield (*above, key)
        yield from paths_in(value, (*above, key))


def draw_edits(rng: random.Random, document: Any) -> list[list[Any]]:
    """Draw changes of a document: [path, what, value]."""
    paths = list(paths_in(document))
    return [
        [
            list(rng.choice(paths)),
            rng.choice(["set", "set", "set", "delete", "add", "nudge"]),
            rng.choice(VALUES),
        ]
        for _ in range(rng.choice([1, 1, 1, 2, 4]))
    ]


def edited(document: Any, edits: list[list[Any]]) -> Any:
    """Return a document with these changes, as far as they still make sense."""
    document = json.loads(json.dumps(document))
    for path, what, value in edits:
        at = document
        with contextlib.suppress(KeyError, IndexError, TypeError):
            for key in path[:-1]:
                at = at[key]
            match what:
                case "set":
                    at[path[-1]] = value
                case "delete":
                    del at[path[-1]]
                case "add" if isinstance(at, list):
                    at.append(value)
                case "add":
                    at[str(value)[:9]] = at[path[-1]]
                case "nudge":
                    at[path[-1]] += 1 if not isinstance(at[path[-1]], str) else "x"
    return document


def draw_cuts(rng: random.Random, size: int) -> list[list[Any]]:
    """Draw changes of bytes: [where, how many go, what comes]."""
    cuts = []
    for _ in range(rng.choice([1, 1, 2, 5])):
        at = rng.randrange(size + 1)
        gone = rng.choice([0, 0, 1, 1, 1, 4, 64, size])
        new = rng.choice([b"", rng.choice(BYTES), bytes([rng.randrange(256)]), b"\x00" * 64])
        cuts.append([at, gone, base64.b64encode(new).decode()])
    return cuts


def cut(data: bytes, cuts: list[list[Any]]) -> bytes:
    """Return bytes with these changes."""
    for at, gone, new in cuts:
        data = data[:at] + base64.b64decode(new) + data[at + gone :]
    return data


class Mutants(Guard):
    """What is made once and damaged anew for every case."""

    @cached_property
    def home(self) -> Path:
        home = Path(tempfile.mkdtemp(prefix="sfumato-mutants-"))
        self.build(home)
        return home

    def build(self, home: Path) -> None:
        """Make what will be damaged."""

    def close(self) -> None:
        if "home" in self.__dict__:
            shutil.rmtree(self.home, ignore_errors=True)
            del self.__dict__["home"]


def build_releases(home: Path) -> None:
    """Make one release of each kind; a seed, so that a kept case means the same tomorrow."""
    table = people()
    pa.parquet.write_table(table, home / "people.parquet")
    policy = sf.Policy(**POLICY)
    sf.anonymize(table, policy, output=home / "csv", format="csv", seed=1)
    local = sf.Policy(**{**POLICY, "method": "mondrian", "models": POLICY["models"][:2]})
    sf.anonymize(table, local, output=home / "parquet", format="parquet", seed=1)
    starred = sf.Policy(
        **{**POLICY, "suppression": {"limit": 0.3, "rows": "star"}, "models": POLICY["models"][:2]}
    )
    sf.anonymize(table, starred, output=home / "feather", format="feather", seed=1)
    sf.decouple(home / "csv", "break-merge", output=home / "broken", format="csv", seed=1)
    roles = {"quasi_identifiers": ["age", "sex"], "sensitive": ["ill"]}
    plain = table.drop_columns(["name"])
    for name in ("anatomy", "bucketization", "slicing"):
        method = {"method": name, "l": 2}
        sf.decouple(plain, method, output=home / name, format="csv", seed=1, **roles)
    sf.decouple(home / "csv", "association-hiding", output=home / "hidden", format="csv", seed=1)


class Manifests(Mutants):
    """Manifests and evidence that were meddled with, and everything that reads them."""

    name = "manifests"
    weight = 2.0
    few = 90
    kinds = ("csv", "parquet", "feather", "broken", "anatomy", "bucketization", "slicing", "hidden")

    def build(self, home: Path) -> None:
        build_releases(home)

    @property
    def calls(self) -> dict[str, Callable[[Path, Path], object]]:
        person = {"age": 30, "sex": "f"}
        original = self.home / "people.parquet"
        return {
            "verify": lambda f, _: str(sf.verify(f, attacks=False)),
            "attack": lambda f, _: sf.verify(f).to_dict(),
            "hold to a policy": lambda f, _: sf.verify(f, POLICY, attacks=False),
            "report": lambda f, _: sf.report(f).to_html(),
            "public report": lambda f, _: sf.report(f, public=True).to_markdown(),
            "explain": lambda f, _: str(sf.explain(f, person)),
            "diff": lambda f, _: str(sf.diff(self.home / f.name, f)),
            "detect": lambda f, _: str(sf.detect(f)),
            "decouple": lambda f, t: sf.decouple(f, "break-merge", output=t / "new"),
            "evidence": lambda f, _: str(sf.check_evidence(f)),
            "merge": lambda f, _: tools.merge(f),
            "estimate": lambda f, _: str(sf.estimate(f, {"ill": "flu"})),
            "utility": lambda f, _: str(sf.utility(original, f, queries=20)),
            "breach": lambda f, _: str(sf.breach(f)),
            "membership": lambda f, _: str(tools.membership(original, f, fakes=50)),
            "start a ledger": lambda f, t: sf.Ledger.start(f, t / "l.ledger", alpha=0.9, k=2),
            "correlations": lambda f, _: str(tools.correlations(f)),
        }

    def draw(self, rng: random.Random) -> Case:
        kind = rng.choice(self.kinds)
        file = rng.choice(["manifest.json", "manifest.json", "manifest.json", "evidence.json"])
        data = (self.home / kind / file).read_bytes()
        case: Case = {
            "kind": kind,
            "file": file,
            "calls": rng.sample(sorted(self.calls), 3),
            "evidence": rng.random() < 0.4,
        }
        if rng.random() < 0.85:
            return {**case, "edits": draw_edits(rng, json.loads(data))}
        return {**case, "cuts": draw_cuts(rng, len(data))}

    def attempt(self, case: Case, folder: Path) -> None:
        release = folder / case["kind"]
        shutil.copytree(self.home / case["kind"], release)
        path = release / case["file"]
        data = path.read_bytes()
        if "edits" in case:
            document = json.loads(data)
            changed = edited(document, case["edits"])
            if changed == document:
                return
            path.write_text(json.dumps(changed), encoding="utf-8")
        else:
            path.write_bytes(cut(data, case["cuts"]))
        if not case["evidence"] and case["file"] == "manifest.json":
            (release / "evidence.json").unlink()
        for name in case["calls"]:
            with refusals():
                self.calls[name](release, folder)
        with refusals():
            if sf.verify(release, attacks=False).verdict.holds:
                self.judge(release)

    def judge(self, release: Path) -> None:
        """What holds must be true: promises that can be made, and claims that were counted."""
        manifest = json.loads((release / "manifest.json").read_text(encoding="utf-8"))
        for promise in manifest["models"]:
            # A weak promise may hold, as of one value; one that means nothing may not.
            for name in MODELS[promise["model"]].stricter:
                value = promise[name]
                whole = name in ("k", "p")
                if not 0 <= value < 1e300 or (whole and (value != int(value) or value < 1)):
                    raise Fault("a promise holds that means nothing", str(promise))
        if manifest.get("kind") is not None:
            return
        [file] = manifest["files"]
        rows = read_file(release / file["name"])
        quasi = [c["name"] for c in manifest["columns"] if c["role"] == "quasi-identifier"]
        gone = manifest["rows"]["suppressed"] if manifest["rows"]["suppression"] == "star" else 0
        kept = list(rows)
        for row in [r for r in rows if all(r[q] == "*" for q in quasi)][:gone]:
            kept.remove(row)
        models = [
            {**m, "paths": manifest["hierarchies"].get(m["column"], {})}
            if m.get("distance") == "hierarchical" else m
            for m in manifest["models"]
        ]  # fmt: skip
        recount(kept, quasi, models, missing=manifest["missing"])
        sizes = [len(group) for group in groups_of(kept, quasi, "own-value")]
        claimed = manifest.get("classes") or {}
        true = {"count": len(sizes), "smallest": min(sizes), "largest": max(sizes)}
        wrong = [k for k, value in true.items() if k in claimed and claimed[k] != value]
        if wrong:
            raise Fault("a false claim holds", f"{wrong}: {claimed}, truly {true}")


class Ledgers(Mutants):
    """Ledgers in which a bit, a page or a cell changed."""

    name = "ledgers"
    weight = 1.5
    few = 60

    def build(self, home: Path) -> None:
        ills = ["flu", "gout", "hiv", "cold"]
        start = pa.table({"age": ["20s"] * 8 + ["30s"] * 8, "ill": ills * 4})
        roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
        broken = sf.decouple(start, "break-merge", seed=1, **roles)
        ledger = sf.Ledger.start(broken, home / "x.ledger", alpha=0.5, k=2)
        good = pa.table({"age": ["20s"] * 4, "ill": ills})
        ledger.publish(good, output=home / "one", seed=1)
        worse = pa.table({"age": ["20s"] * 9 + ["30s"], "ill": ["hiv"] * 9 + ["flu"]})
        ledger.publish(worse, output=home / "two", seed=2)
        with contextlib.closing(sqlite3.connect(home / "x.ledger")) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def cells(self) -> list[tuple[str, str, int]]:
        with contextlib.closing(sqlite3.connect(self.home / "x.ledger")) as db:
            tables = [
                name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type='table'")
            ]
            found = []
            # Without the hash of the file all of it is read: that changes nothing.
            for table in sorted({*tables} - {"file_seal"}):
                rows = db.execute(f'SELECT * FROM "{table}"')
                names = [column[0] for column in rows.description]
                found += [(table, name, i) for i, _ in enumerate(rows) for name in names]
            return found

    def draw(self, rng: random.Random) -> Case:
        if rng.random() < 0.6:
            edits = [
                [*rng.choice(self.cells()), rng.choice(["set", "set", "nudge", "delete"]),
                 rng.choice([v for v in VALUES if not isinstance(v, list | dict) and v != 10**30])]
                for _ in range(rng.choice([1, 1, 1, 2]))
            ]  # fmt: skip
            return {"edits": edits}
        size = (self.home / "x.ledger").stat().st_size
        kind = rng.choice(["bit", "bit", "bit", "short", "page", "cuts"])
        at = rng.randrange(size)
        if kind == "cuts":
            return {"cuts": draw_cuts(rng, size)}
        return {"damage": [kind, at, rng.randrange(8)]}

    def attempt(self, case: Case, folder: Path) -> None:
        path = folder / "x.ledger"
        shutil.copyfile(self.home / "x.ledger", path)
        path.chmod(0o600)
        before = dump(path)
        if "edits" in case:
            if not self.edit(path, case["edits"]):
                return
        else:
            data = bytearray(path.read_bytes())
            kind, at, bit = case.get("damage", ["cuts", 0, 0])
            if kind == "bit":
                data[at] ^= 1 << bit
            elif kind == "short":
                del data[at:]
            elif kind == "page":
                data[at // 4096 * 4096 : at // 4096 * 4096 + 4096] = bytes(4096)
            else:
                data = bytearray(cut(bytes(data), case["cuts"]))
            path.write_bytes(data)
        changed = dump(path) != before
        new = pa.table({"age": ["30s"] * 4, "ill": ["flu", "gout", "hiv", "cold"]})
        calls: list[Callable[[], object]] = [
            lambda: sf.Ledger(path).history,
            lambda: counted_sizes(path),
            lambda: str(sf.Ledger(path).headroom()),
            lambda: sf.Ledger(path).compare(1, 2),
            lambda: sf.Ledger(path).policy,
            lambda: sf.Ledger(path).publish(new, dry_run=True),
        ]
        for call in calls:
            with refusals():
                call()
        found = None
        with refusals():
            found = sf.Ledger(path).verify()
        with refusals():
            sf.Ledger(path).publish(new, output=folder / "out", whole=True)
            # It was believed: then nothing that counts may have been changed.
            if changed and "edits" in case:
                raise Fault("a changed ledger is published on", f"{case['edits']}; verify: {found}")

    def edit(self, path: Path, edits: list[list[Any]]) -> bool:
        """Change cells with SQL, and return whether anything is different."""
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA ignore_check_constraints = ON")
            for table, name, i, what, value in edits:
                rows = db.execute(f'SELECT * FROM "{table}"').fetchall()
                if i >= len(rows):
                    continue
                columns = [c[0] for c in db.execute(f'SELECT * FROM "{table}"').description]
                where = " AND ".join(f'"{column}" IS ?' for column in columns)
                with contextlib.suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):
                    if what == "delete":
                        db.execute(f'DELETE FROM "{table}" WHERE {where}', rows[i])
                    else:
                        old = rows[i][columns.index(name)]
                        more = old + 1 if isinstance(old, int) else f"{old}x"
                        new = more if what == "nudge" else value
                        change = f'UPDATE "{table}" SET "{name}" = ? WHERE {where}'
                        db.execute(change, (new, *rows[i]))
            db.commit()
        return True


def counted_sizes(path: Path) -> object:
    return sf.Ledger(path).contents().tables.sizes


def dump(path: Path) -> list[Any] | None:
    """Return all cells of a database, or None if it is none."""
    try:
        with contextlib.closing(sqlite3.connect(path)) as db:
            names = [
                name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type='table'")
            ]
            return [
                (name, sorted(map(repr, db.execute(f'SELECT * FROM "{name}"'))))
                for name in sorted(names)
            ]
    except (sqlite3.Error, UnicodeDecodeError):
        return None


EXTRAS = """
name: Zürich
other: dropped
person: {rows: "a row is a visit"}
loss: {loss: precision}
search: {search: best-first, seconds: 1}
missing: matches-any
risk_levels: {moderate: 0.2, high: 0.5, very_high: 0.9}
method: top-down
decouple: {method: anatomy, l: 2}
accept: []
"""


class Policies(Mutants):
    """Policies with anything in them, as text and as structure."""

    name = "policies"
    few = 150

    @property
    def base(self) -> dict[str, Any]:
        return {**POLICY, **{k: v for k, v in yaml.safe_load(EXTRAS).items() if k != "name"}}

    def draw(self, rng: random.Random) -> Case:
        keys = list(self.base)
        kept = {k: self.base[k] for k in keys if k in POLICY or rng.random() < 0.3}
        if rng.random() < 0.6:
            return {"policy": kept, "edits": draw_edits(rng, kept)}
        size = len(yaml.safe_dump(kept).encode())
        return {"policy": kept, "cuts": draw_cuts(rng, size)}

    def attempt(self, case: Case, folder: Path) -> None:
        path = folder / "policy.yaml"
        if "edits" in case:
            changed = edited(case["policy"], case["edits"])
            with refusals():
                self.use(sf.Policy(**changed) if isinstance(changed, dict) else changed, folder)
            path.write_text(yaml.safe_dump(changed), encoding="utf-8")
        else:
            path.write_bytes(cut(yaml.safe_dump(case["policy"]).encode(), case["cuts"]))
        with refusals():
            policy = sf.Policy.load(path)
            again = sf.Policy.from_yaml(policy.to_yaml())
            if again.to_yaml() != policy.to_yaml():
                raise Fault("a policy does not read what it wrote", policy.to_yaml())
            self.use(policy, folder)

    def use(self, policy: sf.Policy, folder: Path) -> None:
        table = people()
        for call in (
            lambda: sf.inspect(table, policy=policy),
            lambda: sf.verify(table, policy, attacks=False),
            lambda: sf.anonymize(table, policy),
            lambda: sf.decouple(table, policy=policy),
        ):
            with refusals():
                call()


class Files(Mutants):
    """Damaged tables, and everything that reads one."""

    name = "files"
    few = 90
    forms = ("csv", "csv", "csv", "csv.gz", "parquet", "feather")

    def build(self, home: Path) -> None:
        table = people()
        pa.csv.write_csv(table, home / "people.csv")
        (home / "people.csv.gz").write_bytes(
            gzip.compress((home / "people.csv").read_bytes(), mtime=0)
        )
        pa.parquet.write_table(table, home / "people.parquet")
        pa.feather.write_feather(table, home / "people.feather")

    def draw(self, rng: random.Random) -> Case:
        form = rng.choice(self.forms)
        size = (self.home / f"people.{form}").stat().st_size
        return {"form": form, "cuts": draw_cuts(rng, size)}

    def attempt(self, case: Case, folder: Path) -> None:
        path = folder / f"people.{case['form']}"
        path.write_bytes(cut((self.home / path.name).read_bytes(), case["cuts"]))
        for call in (
            lambda: sf.inspect(path, policy=POLICY),
            lambda: sf.draft(path),
            lambda: sf.verify(path, POLICY),
            lambda: sf.verify(path, quasi_identifiers=["age"], sensitive=["ill"], attacks=False),
        ):
            with refusals():
                call()
        with refusals():
            release = sf.anonymize(path, POLICY, output=folder / "release")
            rows = read_file(next((folder / "release").glob("data.*")))
            # A damaged cell may swallow others; then it has their line break, and that is told.
            cells = Counter(cell for row in rows for cell in row.values() if cell)
            swallowed = any("\n" in cell or "\r" in cell for cell in cells)
            if swallowed and not any("line break" in warning for warning in release.warnings):
                raise Fault("cells with line breaks are not told of", str(release.warnings))
            if not swallowed:
                shifted = {cell for cell in cells if any(name in cell for name in NAMES)}
                planted = [n for n in NAMES if not any(n in cell for cell in shifted)]
                find_canaries(planted, bytes_of_folder(folder / "release"))
