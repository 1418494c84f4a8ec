"""Tables, policies, methods and formats at random: what comes out keeps what it promises.

Everything is counted again from the files (`recount.py`), and markers are planted that must not be
in any byte of a release (`canaries.py`): identifiers, dropped columns, raw values that were
generalised, values that only suppressed rows have.
"""

import contextlib
import gzip
import json
import math
import random
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

import sfumato as sf
from sfumato.errors import SfumatoError
from tests.decouplings.slices import literal as slices
from tests.fuzz.canaries import bytes_of_folder, bytes_of_table, find_canaries, unpublished
from tests.fuzz.guards import Case, Fault, Guard, refusals
from tests.fuzz.recount import (
    CLASS_MODELS,
    PEOPLE_MODELS,
    Row,
    fold,
    groups_of,
    read_file,
    read_table,
    recount,
    spelt_once,
    text,
)
from tests.ledger.releases import cells_of, counted, sums_of, sums_of_folder, worst_of

LETTERS = "GHJKMNPQRSTVWXZ"
"""Of markers: no vowels, so they make no words, and no digits of a hash."""

ILLS = ["flu", "gout", "hiv", "ulcer", "cold"]
TREE = {"airways": ["flu", "cold"], "others": ["gout", "hiv", "ulcer"]}
CATEGORIES = [["hiv"], ["ulcer", "gout"], ["flu", "cold"]]
ODD_TEXTS = [
    "",
    " ",
    "NULL",
    "nan",
    "-",
    "*",
    "è名",
    'a"b',
    "a,b",
    "a\nb",
    "=1+1",
    "Flu",
    "flu ",
    "0",
    "1.0",
]
ODD_NUMBERS = [0.0, -0.0, math.nan, 1e300, 0.1, 7.0]
STRANGE = {
    "bands": ["<=20", "20-50", ">50"],
    "counts": ["4", "5", "6", ">6"],
    "shares": ["0-10%", "11-20%", ">20%", "5 %"],
    "numerals": [".5", "5.", "+1", "-.5", "1e3", "2..5", "007", "7", "1,000", "1.000,50", "1_000"],
    "ends": ["under 18", "18 to 64", "65 or more", "(5, 6]", "[6, 7)", "70+", "at least 80"],
    "stars": ["*", "**", "47*", "4**", "a*", "4711"],
    "days": ["2020-01-01", "before 2020-01-01", "after 1990s", "2020 Q1", "2020-W01-1", "1999"],
    "moments": ["2020-01-01 10:00:00.123456789", "2020-01-01T10:00:00Z", "2020-01-01", "10:30"],
    "unicode": ["\uff15", "\u0663", "\u226420", "20\u201350", "\u22125", "e\u0301", "\u00e9",
                "\u200b", "A\u00a0", "\ufb01", "\u00b2", "\U0001f600", "\ufeffx"],
    "nothing": ["nan", "NaN", "inf", "-inf", "None", "NULL", "NA", "", " ", "\u221e"],
    "quotes": ['"', '""', "'", "''=1", ",", ";", "\t", "a;b", "=1+1", "@x", "-1+2", "+", "\\", "|"],
    "breaks": ["a\r\nb", "a\rb", "\n", "\u2028", "a\x0bb", "\x1b[2J", "\x85"],
    "flags": ["true", "false", "True", "0", "1", "yes"],
}  # fmt: skip
"""Values that look like something else: like labels, ranges, numbers, dates, or like nothing."""

LONG = 140_000
"""How often a cell of `long` is repeated: together longer than many readers allow."""


def marker(rng: random.Random) -> str:
    return "".join(rng.choices(LETTERS, k=7))


# Drawing.


AGES: list[Any] = [
    {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5, 10, 20]}},
    {"role": "quasi-identifier", "hierarchy": "auto"},
    {"role": "quasi-identifier"},
]
BUILT = [
    "auto",
    "auto",
    "masking",
    "ordered",
    "star",
    "dates",
    {"kind": "masking", "side": "left"},
    {"kind": "intervals", "widths": [10]},
    {"kind": "intervals", "bounds": [[20, 50]]},
    {"kind": "intervals", "widths": [10], "join": True},
]
"""Hierarchies that are built for the values that there are."""

FORMS = ["bounds", "midpoint", "mean", "median"]
CODE = {"role": "quasi-identifier", "hierarchy": {"kind": "masking"}}
TAXONOMY = {"kind": "taxonomy", "tree": TREE}


STRANGE_MAKES = [f"strange-{family}" for family in STRANGE]
SECRETS = ["ill"] * 6 + ["outlier", "outlier", "odd", "odd", *STRANGE_MAKES[:4], "moment", "long"]


def draw_columns(rng: random.Random) -> dict[str, dict[str, Any]]:
    """Draw what columns there are: how values are made, and the rule of the policy."""
    columns: dict[str, dict[str, Any]] = {
        "pid": {"make": "marker", "rule": "identifier"},
        "age": {"make": "age", "rule": dict(rng.choice(AGES))},
        "code": {"make": "code", "rule": dict(CODE)},
        "more": draw_more(rng),
        "ill": {"make": rng.choice(SECRETS), "rule": "sensitive"},
        "pay": {"make": rng.choice(["pay", "float"]), "rule": "sensitive"},
        "note": {"make": "marker", "rule": rng.choice(["dropped", "plain"])},
        "free": {
            "make": rng.choice([*STRANGE_MAKES, "moment", "long", "odd"]),
            "rule": rng.choice(["plain", "plain", "plain", "sensitive", "dropped", "identifier"]),
        },
    }
    if rng.random() < 0.5:
        hierarchy = TAXONOMY if columns["ill"]["make"] == "ill" else "auto"
        columns["ill"]["rule"] = {"role": "sensitive", "hierarchy": hierarchy}
    for name, share in (("code", 0.7), ("more", 0.6), ("pay", 0.5), ("note", 0.3), ("free", 0.4)):
        if rng.random() > share:
            del columns[name]
    for column in columns.values():
        draw_settings(rng, column["rule"])
    names = list(columns)
    rng.shuffle(names)
    return {name: columns[name] for name in names}


def draw_more(rng: random.Random) -> dict[str, Any]:
    """Draw a quasi-identifier of some other type."""
    kind = rng.choice(["sex", "float", "bool", "day", "odd", "tree", "moment", "long", "strange"])
    kind = rng.choice(STRANGE_MAKES) if kind == "strange" else kind
    hierarchy = TAXONOMY if kind == "tree" else rng.choice([None, "auto"])
    if kind not in ("tree", "sex", "bool") and rng.random() < 0.5:
        hierarchy = rng.choice(BUILT)
    rule = {"role": "quasi-identifier", **({"hierarchy": hierarchy} if hierarchy else {})}
    return {"make": kind, "rule": rule}


def draw_settings(rng: random.Random, rule: Any) -> None:
    """Give a quasi-identifier levels and a weight, sometimes."""
    if isinstance(rule, dict) and rule.get("hierarchy") and "quasi" in rule["role"]:
        if rng.random() < 0.3:
            rule["levels"] = rng.choice([[0, 1], [1, 1], [1, 2], [1, 3]])
        if rng.random() < 0.2:
            rule["weight"] = rng.choice([0.5, 3])
        if rng.random() < 0.15:
            rule["as"] = rng.choice(FORMS)


def draw_rows(rng: random.Random, columns: Mapping[str, Mapping[str, Any]]) -> list[list[Any]]:
    """Draw the rows; some have nothing in common with others."""
    n = rng.choice([rng.randint(1, 8), rng.randint(8, 40), rng.randint(40, 90)])
    codes = [marker(rng)[:6] for _ in range(rng.randint(2, 6))]
    codes += ["".join(rng.sample(code, 6)) for code in codes[:2]]
    gaps = rng.choice([0, 0, 0.1, 0.4])
    ages = rng.sample(range(20, 90), rng.randint(2, 30))
    # Whole days, milliseconds, and what is below a microsecond.
    steps = rng.sample([0, 1, 999, 1_000, 10**6, 3_600 * 10**9, 86_400 * 10**9], rng.randint(2, 4))
    moments = [1_577_836_800_000_000_000 + step for step in steps]
    makes = {
        "marker": lambda: marker(rng),
        "age": lambda: rng.choice(ages),
        "code": lambda: rng.choice(codes),
        "sex": lambda: rng.choice(["f", "m"]),
        "float": lambda: rng.choice(ODD_NUMBERS),
        "bool": lambda: rng.random() < 0.5,
        "day": lambda: f"20{rng.randint(10, 12)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
        "odd": lambda: rng.choice(ODD_TEXTS),
        "tree": lambda: rng.choice(ILLS),
        "ill": lambda: rng.choice(ILLS[: rng.randint(1, 5)]),
        "outlier": lambda: marker(rng) if rng.random() < 0.1 else rng.choice(ILLS),
        "pay": lambda: rng.choice([1000, 2000, 2500, 9000]),
        "moment": lambda: rng.choice(moments),
        "long": lambda: rng.choice("uvwwxxyy"),
    }
    # Two families may meet in a column; then fewer of each.
    for make in STRANGE_MAKES:
        values = list(STRANGE[make.removeprefix("strange-")])
        if rng.random() < 0.3:
            values += rng.choice(list(STRANGE.values()))
        few = rng.sample(values, min(len(values), rng.randint(2, 6)))
        makes[make] = partial(rng.choice, few)
    rows = []
    for _ in range(n):
        row = []
        for column in columns.values():
            lacking = column["make"] != "marker" and rng.random() < gaps
            row.append(None if lacking else makes[column["make"]]())
        rows.append(row)
    return rows


def draw_models(rng: random.Random, columns: Mapping[str, Any], rows: int) -> list[dict[str, Any]]:
    """Draw one to three models, about columns for which they make sense."""
    k = rng.choice([2, 2, 3, 4])
    share = partial(rng.choice, [0.5, 0.6, 0.75, 0.9])
    pay = "pay" if "pay" in columns else "ill"
    models: list[dict[str, Any]] = [
        {"model": "k-anonymity", "k": k},
        {"model": "maximum-risk", "risk": 1 / k},
        {"model": "average-risk", "risk": rng.choice([0.2, 0.34, 0.5])},
        {"model": "sample-uniqueness", "share": rng.choice([0, 0.1])},
        {"model": "distinct-l-diversity", "column": rng.choice(["ill", pay]), "l": 2},
        {"model": "probabilistic-l-diversity", "column": "ill", "l": rng.choice([1.3, 1.5, 2])},
        {"model": "entropy-l-diversity", "column": "ill", "l": rng.choice([1.2, 1.5, 2])},
        {"model": "recursive-cl-diversity", "column": "ill", "c": rng.choice([2, 3.5]), "l": 2},
        {"model": "t-closeness", "column": rng.choice(["ill", pay]), "t": share() / 2},
        {"model": "t-closeness", "column": pay, "t": share() / 2, "distance": "ordered"},
        {"model": "alpha-k-anonymity", "column": "ill", "alpha": share(), "k": k},
        {"model": "p-sensitive-k-anonymity", "column": "ill", "p": 2, "k": k},
        {"model": "basic-beta-likeness", "column": "ill", "beta": rng.choice([1, 2.5])},
        {"model": "enhanced-beta-likeness", "column": "ill", "beta": rng.choice([1, 2.5])},
        {"model": "delta-disclosure", "column": "ill", "delta": rng.choice([1, 2])},
        {"model": "k-map", "k": k + 1},
        {"model": "estimated-k-map", "k": k + 1, "fraction": rng.choice([0.1, 0.5])},
        {"model": "delta-presence", "minimum": 0, "maximum": share()},
    ]
    if columns["ill"]["make"] == "ill":
        weight = rng.choice(["rows", "distinct"])
        models += [
            {"model": name, "column": "ill", "p": rng.choice([1, 2]), "alpha": rng.choice([0, 1]),
             "k": k, "categories": CATEGORIES, "weight": weight}
            for name in ("p-alpha-sensitive-k-anonymity", "enhanced-p-alpha-sensitive-k-anonymity")
        ]  # fmt: skip
        models.append(
            {"model": "category-share", "column": "ill", "share": share(),
             "categories": CATEGORIES[:2]}
        )  # fmt: skip
        if isinstance(columns["ill"]["rule"], dict):
            models.append(
                {"model": "t-closeness", "column": "ill", "t": share() / 2,
                 "distance": "hierarchical"}
            )  # fmt: skip
    if "pay" in columns and columns["pay"]["make"] == "pay":
        models.append({"model": "k-e-anonymity", "column": "pay", "k": 2, "e": 1000})
        models.append({"model": "range-share", "column": "pay", "within": 500, "share": share()})
    some = rng.sample(models, rng.choice([1, 1, 2, 3]))
    if rng.random() < 0.6 and not any(m["model"] == "k-anonymity" for m in some):
        some.insert(0, {"model": "k-anonymity", "k": k})
    return some


def draw_policy(rng: random.Random, columns: Mapping[str, Any], rows: int) -> dict[str, Any]:
    policy: dict[str, Any] = {
        "columns": {name: column["rule"] for name, column in columns.items()},
        "models": draw_models(rng, columns, rows),
        "suppression": {
            "limit": rng.choice([0, 0, 0.1, 0.3, 0.5, 1.0, 3]),
            "rows": rng.choice(["remove", "remove", "star"]),
        },
        "missing": rng.choice(["own-value", "own-value", "matches-any", "suppress"]),
    }
    if rng.random() < 0.4:
        policy["loss"] = rng.choice(
            ["normalized-loss", "distortion-ratio", "entropy", "discernibility",
             "average-class-size", "precision", "height"]
        )  # fmt: skip
    local = ["top-down", "mondrian", "bottom-up", "mdav"]
    method = rng.choice(["full-domain"] * 4 + ["regional", *local])
    policy["method"] = method
    if method == "full-domain":
        search = rng.choice(["best-first", "incognito", "exhaustive", "descent"])
        policy["search"] = {"search": search}
    if rng.random() < 0.1:
        policy["sensitive_blind"] = True
    return policy


# The table, in whatever it is given.

KINDS = {
    "age": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "day": pa.date32(),
    "pay": pa.int64(),
    "moment": pa.timestamp("ns"),
}


def table_of(case: Case, rows: Sequence[Sequence[Any]] | None = None) -> pa.Table:
    """Return the rows of a case as an Arrow table."""
    cells = case["rows"] if rows is None else rows
    made = {}
    for i, (name, column) in enumerate(case["columns"].items()):
        kind = KINDS.get(column["make"], pa.string())
        values = [written_out(column, row[i]) for row in cells]
        if kind == pa.date32():
            values = [None if value is None else date.fromisoformat(value) for value in values]
        made[name] = pa.array(values, kind)
    return pa.table(made)


def written_out(column: Mapping[str, Any], cell: Any) -> Any:
    """Return a cell as it is; a case has long ones in short."""
    return cell * LONG if column["make"] == "long" and cell in ("u", "v") else cell


def source_of(table: pa.Table, form: str, folder: Path) -> object:
    """Give a table as a file or as what a library has for it."""
    path = folder / f"given.{form}"
    match form:
        case "csv":
            pa.csv.write_csv(table, path)
        case "csv.gz":
            plain = folder / "plain.csv"
            pa.csv.write_csv(table, plain)
            path.write_bytes(gzip.compress(plain.read_bytes()))
        case "parquet":
            pa.parquet.write_table(table, path)
        case "feather":
            pa.feather.write_feather(table, path)
        case "pandas":
            return table.to_pandas()
        case "category":
            frame = table.to_pandas()
            texts = [f.name for f in table.schema if f.type == pa.string()]
            return frame.astype(dict.fromkeys(texts, "category"))
        case "polars":
            import polars as pl

            return pl.from_arrow(table)
        case "arrow":
            return table
        case "encoded":
            return table.set_column(0, table.column_names[0], table[0].dictionary_encode())
        case _:
            raise ValueError(form)
    return path


# Labels, made again.


def labels_of(rule: Any, value: str | None) -> list[str | None] | None:
    """Return what a value is at each level, where a stranger can say so; else None."""
    hierarchy = rule.get("hierarchy") if isinstance(rule, dict) else None
    if value is None:
        return None
    if hierarchy is None:
        return [value, "*"]
    if isinstance(hierarchy, str) or hierarchy in BUILT:
        return None
    if hierarchy["kind"] == "intervals":
        lows = [(int(value) // width * width, width) for width in hierarchy["widths"]]
        return [value, *(f"{low} to {low + width - 1}" for low, width in lows), "*"]
    if hierarchy["kind"] == "masking":
        return [value[: len(value) - i] + "*" * i for i in range(len(value))] + ["*"]
    [group] = [name for name, leaves in TREE.items() if value in leaves]
    return [value, group, "*"]


PATHS = {leaf: (group, "*") for group, leaves in TREE.items() for leaf in leaves}


class Releases(Guard):
    """Random tables under random policies, made by every method, in every format."""

    name = "releases"
    weight = 4.0
    few = 90
    sources: ClassVar[tuple[str, ...]] = (
        "csv", "csv.gz", "parquet", "feather", "pandas", "category", "polars", "arrow", "encoded",
    )  # fmt: skip
    outputs: ClassVar[tuple[str, ...]] = (
        *("csv", "csv", "parquet", "feather", "memory") * 12, "xlsx", "sav", "dta",
    )  # fmt: skip
    chains: ClassVar[tuple[str, ...]] = (
        "anonymize", "anonymize", "anonymize", "anonymize", "break-merge", "protect",
        "anatomy", "bucketization", "slicing", "ledger",
    )  # fmt: skip

    def draw(self, rng: random.Random) -> Case:
        columns = draw_columns(rng)
        chain = rng.choice(self.chains)
        if chain in ("anatomy", "bucketization", "slicing"):
            columns.pop("pay", None)
        rows = draw_rows(rng, columns)
        policy = draw_policy(rng, columns, len(rows))
        case = {
            "columns": columns,
            "rows": rows,
            "policy": policy,
            "chain": chain,
            "source": rng.choice(self.sources),
            "output": rng.choice(self.outputs),
        }
        if any(model["model"] in PEOPLE_MODELS for model in policy["models"]):
            others = draw_rows(rng, columns)
            case["others"] = [[*row] for row in others]
        if chain == "ledger":
            case["alpha"] = rng.choice([0.4, 0.5, 0.7, 0.9])
            case["increments"] = [draw_rows(rng, columns) for _ in range(rng.randint(1, 3))]
            for batch in case["increments"]:
                for row in batch:
                    # People of the same kind, so that some have a place.
                    old = rng.choice(rows)
                    for i, name in enumerate(columns):
                        if name in ("age", "code", "more"):
                            row[i] = old[i]
        return case

    def attempt(self, case: Case, folder: Path) -> None:
        table = table_of(case)
        with refusals():
            source = self.give(table, case, folder)
            self.follow(case, source, folder)

    def give(self, table: pa.Table, case: Case, folder: Path) -> object:
        return source_of(table, case["source"], folder)

    def follow(self, case: Case, source: object, folder: Path) -> None:
        settings = dict(case["policy"])
        if "others" in case:
            people = table_of(case, [*case["rows"], *case["others"]])
            pa.parquet.write_table(people, folder / "people.parquet")
            settings["population"] = str(folder / "people.parquet")
        policy = sf.Policy(**settings)
        chain = case["chain"]
        into = self.place(case, folder)
        if chain in ("anatomy", "bucketization", "slicing"):
            method = {"method": chain, "l": 2}
            release: Any = sf.decouple(source, method, policy=policy, **into)
            return self.judge_decoupled(case, release, folder)
        if chain == "protect":
            release = sf.protect(source, policy, rounds=1, **into).release
            if release.manifest.kind is not None:
                return self.judge_decoupled(case, release, folder)
            return self.judge(case, release, policy, folder)
        release = sf.anonymize(source, policy, **into)
        self.judge(case, release, policy, folder)
        if chain in ("break-merge", "ledger"):
            broken = sf.decouple(release, "break-merge", **self.beside(into, folder))
            self.judge_decoupled(case, broken, folder)
            if chain == "ledger":
                self.judge_ledger(case, broken, policy, folder)
        return None

    def place(self, case: Case, folder: Path) -> dict[str, Any]:
        if case["output"] == "memory":
            return {"output": None}
        return {"output": folder / "release", "format": case["output"]}

    def beside(self, into: dict[str, Any], folder: Path) -> dict[str, Any]:
        """Return a second place of the same kind."""
        return {**into, "output": folder / "broken"} if into["output"] else into

    # Reading it.

    def given_rows(self, case: Case, folder: Path) -> list[Row]:
        """Return what was given, as a stranger reads it: in CSV, NaN is a text."""
        path = folder / f"given.{case['source']}"
        if path.suffix in (".csv", ".gz"):
            return read_file(path)
        names = list(case["columns"])
        return [dict(zip(names, map(text, row), strict=True)) for row in comparable(case)]

    def tables_of(self, release: Any) -> dict[str, list[Row]]:
        """Read every table of a release as a stranger would, by its name in the manifest."""
        manifest = release.manifest.to_dict()
        if release.folder is None:
            tables = getattr(release, "tables", None) or {"data": release.table}
            return {name: read_table(table) for name, table in tables.items()}
        return {
            Path(file["name"]).stem: read_file(Path(release.folder) / file["name"])
            for file in manifest["files"]
        }

    def bytes_of(self, release: Any) -> Iterator[tuple[str, bytes]]:
        yield "the manifest", json.dumps(release.manifest.to_dict(), ensure_ascii=False).encode()
        report = sf.report(release, public=True)
        yield "the report", report.to_html().encode()
        if release.folder is not None:
            yield from bytes_of_folder(Path(release.folder))
        else:
            for table in (getattr(release, "tables", None) or {"data": release.table}).values():
                yield from bytes_of_table(table)

    # Judging it.

    def judge(self, case: Case, release: Any, policy: sf.Policy, folder: Path) -> None:
        """Count one table again, and look for markers."""
        if case["output"] in OFFICE and release.folder is not None:
            return self.judge_verified(case, release, policy)
        [rows] = self.tables_of(release).values()
        settings = case["policy"]
        names = list(case["columns"])
        roles = {name: role_of(case["columns"][name]["rule"]) for name in names}
        numbers = numbers_of(case)
        quasi = [name for name in names if roles[name] == "quasi-identifier"]
        shown = [n for n in names if roles[n] in ("quasi-identifier", "sensitive", "plain")]
        shown = [each for name in shown for each in numbers.get(name, [name])]
        labelled = [name for name in quasi if name not in numbers]
        quasi = [each for name in quasi for each in numbers.get(name, [name])]
        if rows and set(rows[0]) != set(shown):
            raise Fault("other columns than promised", f"{list(rows[0])}, not {shown}")
        stars = [row for row in rows if is_starred(row, quasi)]
        claimed = release.manifest.to_dict()["rows"]
        kept = list(rows)
        if settings["suppression"]["rows"] == "star":
            if len(stars) < claimed["suppressed"]:
                raise Fault("fewer rows of stars than claimed")
            for row in stars[: claimed["suppressed"]]:
                kept.remove(row)
        if len(kept) != claimed["published"]:
            raise Fault("other rows than claimed", f"{len(kept)}: {claimed}")
        self.judge_suppression(case, kept, policy)
        raw = self.given_rows(case, folder)
        level_of = self.judge_labels(case, release, kept, raw, quasi, labelled)
        self.judge_numbers(case, kept, raw, quasi, numbers)
        people = self.people(case, kept, quasi, level_of)
        models = [
            {**m, "paths": PATHS} if m.get("distance") == "hierarchical" else m
            for m in settings["models"]
        ]
        missing = settings["missing"]
        if missing == "suppress" and any(row[name] is None for row in kept for name in labelled):
            raise Fault("a row with a missing value", str(labelled))
        recount(kept, quasi, models, missing=missing, people=people)
        self.judge_verified(case, release, policy)
        self.judge_order(case, rows)
        self.judge_canaries(case, release, {"data": rows})
        return None

    def judge_verified(self, case: Case, release: Any, policy: sf.Policy) -> None:
        """Let the verifier judge a release, as strangers have it and as its maker does."""
        # Without its policy there is no population to compare with.
        for given in (None, policy) if "others" not in case else (policy,):
            checked = sf.verify(release, given, attacks=False)
            if not checked.verdict.holds:
                raise Fault("maker and verifier disagree", str(checked))

    def judge_numbers(
        self, case: Case, kept: list[Row], raw: list[Row], quasi: Sequence[str],
        numbers: Mapping[str, Sequence[str]],
    ) -> None:  # fmt: skip
        """Hold the ends of each row to the rows that were given, and a mean to its ends."""
        secret = [n for n in (kept[0] if kept else ()) if n not in quasi]
        had: dict[tuple[Any, ...], list[Row]] = {}
        for row in raw:
            had.setdefault(tuple(zero(row[n]) for n in secret), []).append(row)
        for name, parts in numbers.items():
            ends = [part for part in parts if part.endswith(("_low", "_high"))]
            if not ends or case["columns"][name]["make"] != "age":
                continue
            for row in kept:
                low, high = (None if row[end] is None else float(row[end]) for end in ends)

                def holds(cell: str | None, low: Any = low, high: Any = high) -> bool:
                    if cell is None:
                        return low is high is None
                    return (low is None or low <= float(cell)) and (
                        high is None or float(cell) <= high
                    )

                if not any(holds(each[name]) for each in had[tuple(zero(row[n]) for n in secret)]):
                    raise Fault("ends that no row has", f"{name}: {row}")
                if name in parts and row[name] is not None and not holds(row[name]):
                    raise Fault("a mean beyond its ends", f"{name}: {row}")

    def judge_suppression(self, case: Case, kept: list[Row], policy: sf.Policy) -> None:
        n = len(case["rows"])
        limit = case["policy"]["suppression"]["limit"]
        most = min(limit, n) if isinstance(limit, int) else int(Fraction(repr(limit)) * n)
        gone = n - len(kept)
        if case["policy"]["missing"] == "suppress":
            quasi = [
                i for i, column in enumerate(case["columns"].values())
                if role_of(column["rule"]) == "quasi-identifier"
            ]  # fmt: skip
            gone -= sum(any(text(row[i]) is None for i in quasi) for row in comparable(case))
        if gone > most:
            raise Fault("more rows suppressed than allowed", f"{gone}, not {most}")

    def judge_labels(
        self, case: Case, release: Any, kept: list[Row], raw: list[Row], quasi: Sequence[str],
        labelled: Sequence[str],
    ) -> dict[str, int]:  # fmt: skip
        """Hold the labels to the hierarchy and its levels, and each row to one that was given."""
        levels: dict[str, int] = {}
        columns = release.manifest.to_dict()["columns"]
        secret = [n for n in (kept[0] if kept else ()) if n not in quasi]
        had = Counter(tuple(zero(row[name]) for name in secret) for row in raw)
        have = Counter(tuple(zero(row[name]) for name in secret) for row in kept)
        if have - had:
            raise Fault("rows that nobody gave", str(have - had))
        full = case["policy"]["method"] == "full-domain" and case["chain"] != "protect"
        for name in labelled:
            rule = case["columns"][name]["rule"]
            chains = [labels_of(rule, value) for value in {row[name] for row in raw}]
            if None in [chain for chain in chains if chain != [None]] and any(
                row[name] is not None and labels_of(rule, row[name]) is None for row in raw
            ):
                continue  # A hierarchy that is built from the values.
            chains = [chain for chain in chains if chain is not None]
            if not chains:
                continue
            top = max(len(chain) for chain in chains) - 1
            low, high = (rule.get("levels") if isinstance(rule, dict) else None) or (0, top)
            found = {row[name] for row in kept} - {None}
            if full:
                fits = [
                    i for i in range(top + 1)
                    if found <= {chain[min(i, len(chain) - 1)] for chain in chains}
                ]  # fmt: skip
                if found and not any(low <= i <= high for i in fits):
                    raise Fault("labels of a level that is not allowed", f"{name}: {found}")
                levels[name] = max(
                    (c.get("level", 0) for c in columns if c["name"] == name),
                    default=0,
                )
            elif not has_intervals(case, rule) and case["chain"] != "protect":
                allowed = {
                    chain[i] for chain in chains for i in range(low, min(high, len(chain) - 1) + 1)
                }
                if not found <= allowed | {"*"}:
                    raise Fault("labels of a level that is not allowed", f"{name}: {found}")
            if case["policy"]["method"] == "regional" and case["chain"] != "protect":
                self.judge_cut(name, found, chains)
        return levels

    def judge_cut(
        self, name: str, found: set[str | None], chains: Sequence[Sequence[str | None]]
    ) -> None:
        """Hold the labels of a column to one cut: no value has two of them above it."""
        if any(chain[0] == "*" for chain in chains):
            found = found - {"*"}  # It may be a value that somebody wrote so.
        for chain in chains:
            if len(found & {*chain}) > 1:
                raise Fault("a label above another", f"{name}: {found & {*chain}}")

    def people(
        self, case: Case, kept: list[Row], quasi: Sequence[str], levels: Mapping[str, int]
    ) -> Counter[tuple[str | None, ...]] | None:
        """Count the people of the population by their labels, where a stranger can."""
        if "others" not in case or set(levels) != set(quasi):
            return None
        if case["policy"]["missing"] != "own-value" or case["chain"] == "protect":
            return None
        if case["policy"]["suppression"]["rows"] == "star":
            return None
        names = list(case["columns"])
        found: Counter[tuple[str | None, ...]] = Counter()
        for cells in comparable({**case, "rows": [*case["rows"], *case["others"]]}):
            row = dict(zip(names, map(text, cells), strict=True))
            key = []
            for name in quasi:
                chain = labels_of(case["columns"][name]["rule"], row[name])
                at_top = all(each[name] == "*" for each in kept)
                label = "*" if at_top else None
                key.append(label if chain is None else chain[levels[name]])
            found[tuple(key)] += 1
        return found

    def judge_order(self, case: Case, rows: list[Row]) -> None:
        """Find rows that stand in the order in which they were given."""
        if "note" not in case["columns"] or role_of(case["columns"]["note"]["rule"]) != "plain":
            return
        at = list(case["columns"]).index("note")
        place = {row[at]: i for i, row in enumerate(case["rows"])}
        order = [place[row["note"]] for row in rows if row["note"] in place]
        if len(order) < 20:
            return
        same = sum(b > a for a, b in pairwise(order)) / (len(order) - 1)
        if same > 0.95 or same < 0.05:
            raise Fault("rows in the order in which they were given", str(order))

    def judge_canaries(self, case: Case, release: Any, tables: Mapping[str, list[Row]]) -> None:
        """Look for raw values that are not published in every byte."""
        published = {cell for rows in tables.values() for row in rows for cell in row.values()}
        planted = {
            cell
            for row in [*case["rows"], *case.get("others", ())]
            for cell in row
            if isinstance(cell, str) and len(cell) >= 6 and set(cell) <= set(LETTERS)
        }
        find_canaries(unpublished(planted, published), self.bytes_of(release))

    def judge_decoupled(self, case: Case, release: Any, folder: Path) -> None:
        """Count the tables of a decoupled release again."""
        manifest = release.manifest.to_dict()
        if case["output"] in OFFICE and release.folder is not None:
            if not sf.verify(release, attacks=False).verdict.holds:
                raise Fault("maker and verifier disagree", str(sf.verify(release, attacks=False)))
            return
        tables = self.tables_of(release)
        if not sf.verify(release, attacks=False).verdict.holds:
            raise Fault("maker and verifier disagree", str(sf.verify(release, attacks=False)))
        if manifest["kind"] == "slicing":
            self.judge_slices(manifest, tables, self.given_rows(case, folder))
        else:
            self.judge_parts(manifest, tables)
        self.judge_canaries(case, release, tables)

    def judge_parts(self, manifest: Mapping[str, Any], tables: Mapping[str, list[Row]]) -> None:
        """Put one table of people and one of each sensitive column together, and count groups."""
        group, count = manifest["group"], manifest["count"]
        files = {Path(file["name"]).stem: file for file in manifest.get("files", ())}
        sizes = Counter(row[group] for row in tables["qi"])
        values: dict[str, dict[str | None, Counter[str | None]]] = {}
        for name in tables.keys() - {"qi"}:
            rows = tables[name]
            column = files[name]["column"] if name in files else None
            if column is None:
                [column] = [n for n in rows[0] if n not in (group, count)]
            here = values.setdefault(column, {})
            for row in rows:
                here.setdefault(row[group], Counter())[row[column]] += int(row[count] or 0)
        for column, by_group in values.items():
            if {label: c.total() for label, c in by_group.items()} != dict(sizes):
                raise Fault("tables do not add up", column)
        found = [{label} for label in sizes]
        if manifest["kind"] == "break-merge" and manifest["missing"] == "matches-any":
            roles = {column["name"]: column["role"] for column in manifest["columns"]}
            there = tables["qi"][0] if sizes else ()
            names = [name for name in there if roles.get(name) == "quasi-identifier"]
            several = groups_of(tables["qi"], names, "matches-any")
            found = [{row[group] for row in rows} for rows in several]
        for model in manifest["models"]:
            self.judge_groups(model, found, sizes, values)

    def judge_groups(
        self, model: Mapping[str, Any], found: list[set[Any]], sizes: Counter[Any],
        values: Mapping[str, Any],
    ) -> None:  # fmt: skip
        """Judge the groups of people that each may be one of."""
        if model["model"] not in CLASS_MODELS or not sizes:
            return
        if model.get("distance") == "hierarchical":
            model = {**model, "paths": PATHS}
        by_group = values.get(model.get("column"), {})
        table: Counter[Any] = sum(by_group.values(), Counter())
        once = spelt_once(model, table)
        table = once(table)
        for labels in found:
            n = sum(sizes[label] for label in labels)
            here: Counter[Any] = sum((by_group.get(each, Counter()) for each in labels), Counter())
            here = once(here)
            if not CLASS_MODELS[model["model"]](n, here, table, model):
                raise Fault(f"{model['model']} does not hold", f"{dict(model)} in a group of {n}")

    def judge_slices(
        self,
        manifest: Mapping[str, Any],
        tables: Mapping[str, list[Row]],
        people: Sequence[Row],
    ) -> None:
        """Compute what an adversary believes of everybody, as the definition says."""
        group, count = manifest["group"], manifest["count"]
        secret = {model["column"] for model in manifest["models"]}
        tables = {name: spelt_in_one_way(rows, secret) for name, rows in tables.items()}
        people = spelt_in_one_way(people, secret)
        columns = [
            [n for n in rows[0] if n not in (group, count)] for rows in tables.values() if rows
        ]
        names = [name for column in columns for name in column]
        buckets: dict[Any, list[list[tuple[Any, ...]]]] = {}
        for at, rows in enumerate(tables.values()):
            for row in rows:
                bucket = buckets.setdefault(row[group], [[] for _ in columns])
                cells = tuple(row[name] for name in columns[at])
                bucket[at] += [cells] * int(row[count] or 0)
        if any(len({len(part) for part in bucket}) > 1 for bucket in buckets.values()):
            raise Fault("slices do not add up")
        joined = [
            [tuple(c for part in parts for c in part) for parts in zip(*bucket, strict=True)]
            for bucket in buckets.values()
        ]
        if len(people) > 40:
            return
        for row in people:
            person = tuple(row[name] for name in names)
            for model in manifest["models"]:
                diverse = partial(slices.probabilistic, l=model["l"])
                with contextlib.suppress(ZeroDivisionError):
                    if slices.is_exposed(person, joined, names, columns, model["column"], diverse):
                        raise Fault("slices expose a person", f"{person} {model}")

    def judge_ledger(self, case: Case, broken: Any, policy: sf.Policy, folder: Path) -> None:
        """Publish increments, and hold every cell to alpha and to the sums of the folders."""
        path = folder / "x.ledger"
        ledger = sf.Ledger.start(broken, path, alpha=case["alpha"], policy=policy, above=True)
        contents = ledger.contents()
        before = cells_beyond(contents)
        sums = sums_of(counted(contents.tables), text)
        for i, batch in enumerate(case["increments"]):
            output = folder / f"increment-{i}"
            try:
                done = ledger.publish(table_of(case, batch), output=output)
            except SfumatoError:
                with refusals():
                    raise
                continue
            contents = ledger.contents()
            if new := cells_beyond(contents) - before:
                raise Fault("a cell tells more than alpha, or has fewer rows than k", str(new))
            if ledger.verify():
                raise Fault("the ledger does not verify", str(ledger.verify()))
            if output.exists():
                if not sf.verify(output, attacks=False).verdict.holds:
                    raise Fault("maker and verifier disagree", str(output))
                sums += sums_of_folder(output)
                rows = {p.stem: read_file(p) for p in output.glob("*.csv")}
                taken = {c for t in rows.values() for r in t for c in r.values()}
                planted = {
                    c for row in batch for c in row
                    if isinstance(c, str) and len(c) >= 6 and set(c) <= set(LETTERS)
                }  # fmt: skip
                find_canaries(unpublished(planted, taken), bytes_of_folder(output))
            elif done.admitted:
                raise Fault("rows without a folder", str(done.admitted))
            if sums != (told := sums_of(counted(contents.tables), text)):
                raise Fault("folders and ledger do not add up", f"{sums - told} {told - sums}")


OFFICE = ("xlsx", "sav", "dta")
"""Formats that no reader here is sure to read as it was meant: the verifier alone judges them."""


def numbers_of(case: Case) -> dict[str, list[str]]:
    """Return what stands in place of each column that is published as numbers."""
    found = {}
    for name, column in case["columns"].items():
        how = column["rule"].get("as") if isinstance(column["rule"], dict) else None
        if how is not None:
            ends = [f"{name}_low", f"{name}_high"]
            found[name] = {"bounds": ends, "midpoint": [name]}.get(how, [name, *ends])
    return found


def has_intervals(case: Case, rule: Any) -> bool:
    """Return whether numbers become intervals that no hierarchy has."""
    method = case["policy"]["method"]
    return method == "mondrian" or (method == "mdav" and not rule.get("hierarchy"))


def role_of(rule: Any) -> str:
    return rule["role"] if isinstance(rule, dict) else rule


def zero(cell: str | None) -> str | None:
    """Return the text of a cell; zero has no sign, and a time no digits that say nothing."""
    if cell is not None and MOMENT.fullmatch(cell):
        return cell.rstrip("0").rstrip(".").removesuffix(" 00:00:00")
    return "0" if cell in ("-0", "-0.0", "0.0") else cell


MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+")


def is_starred(row: Row, quasi: Sequence[str]) -> bool:
    return all((cell == "*") if name in quasi else cell is None for name, cell in row.items())


def comparable(case: Case) -> list[list[Any]]:
    """Return the rows with numbers as they are published: −0.0 is 0."""
    kinds = list(case["columns"].values())

    def cell_of(column: Mapping[str, Any], cell: Any) -> Any:
        if column["make"] == "moment" and cell is not None:
            return pd.Timestamp(cell)
        return 0.0 if cell == 0 and cell is not False else written_out(column, cell)

    return [[cell_of(*each) for each in zip(kinds, row, strict=True)] for row in case["rows"]]


def spelt_in_one_way(rows: Sequence[Row], columns: Collection[str]) -> list[Row]:
    """Return rows in which values that differ only in spelling are one, and blanks are none."""
    return [
        {name: fold(cell) or None if name in columns else cell for name, cell in row.items()}
        for row in rows
    ]


def cells_beyond(contents: Any) -> set[int]:
    """Return the cells with fewer rows than k, or a value that tells more than alpha."""
    alpha = Fraction(repr(contents.alpha))
    return {
        number
        for number, (_, size, tables) in cells_of(contents.tables).items()
        if size < contents.k or worst_of(tables) > alpha
    }
