"""A release is a function of the published rows and of what is public, and of nothing else.

Each case is a table with rows that are suppressed, and what these rows become. Both tables are
released with the same policy and seed. Where the same rows are published, everything in both
release folders must be the same (`alike.py`), and so must what the program answers: whatever
differs tells of people who were left out.

Three kinds of rows are sure, or likely, to be suppressed: rows that miss a quasi-identifier under
`missing: suppress`; rows that are alone with their value of a column which may not be generalised
(the gate); and rows that are merely far from all others. Of the first kind not even the decision
may depend: such rows are gone before anything is decided. The other two are weighed when it is
decided which rows are suppressed, so a pair in which that comes out differently is not compared,
but counted: see `Traces.tally`.
"""

import csv
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.losses import LOSSES
from sfumato.partition import PARTITIONERS
from sfumato.search import SEARCHES
from tests.fuzz.alike import differences, differing
from tests.fuzz.guards import Case, Fault, Guard, refusals
from tests.fuzz.recount import read_table

TAG = "tag"
"""A number of its own for each row, published as it is where it is asked which rows are."""

GATE = "area"

# Values: those of most rows, and those of rows that are to be suppressed.

SCALE = ["never", "rarely", "sometimes", "often", "always"]
BANDS = ["18-24", "25-34", "35-44", "45-54", "55-64", "65-74", "75+"]
NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida", "Jon", "Kim", "Lea"]
STATES = ["Maine", "Texas", "Ohio", "Utah", "Iowa", "Alaska", "Hawaii", "Nevada", "Georgia"]
TREE = {
    "been married": {"now": ["wed", "registered"], "before": ["divorced", "widowed"]},
    "single": ["never wed", "engaged"],
}
LEAVES = ["wed", "registered", "divorced", "widowed", "never wed", "engaged"]
ILLS = ["flu", "gout", "hiv", "ulcer", "cold"]
ODD_CODES = [
    "99999-1234",
    "1",
    "ABCDEFGHIJKLMNOP",
    "9999999999999",
    "é9",
    "00",
    "12 345",
    "K1A-0B1",
]


@dataclass(frozen=True)
class Make:
    """How values of a kind are drawn, and what can be done with a column of them."""

    type: pa.DataType
    usual: Callable[[random.Random], Any]
    odd: Callable[[random.Random], Any]
    hierarchies: tuple[Any, ...]
    forms: tuple[str, ...] = ()
    """What the setting `as` may be."""


def choice(*values: Any) -> Callable[[random.Random], Any]:
    return lambda rng: rng.choice(values)


def day(first: int, last: int) -> Callable[[random.Random], str]:
    return lambda rng: date.fromordinal(
        rng.randint(date(first, 1, 1).toordinal(), date(last, 12, 31).toordinal())
    ).isoformat()


def moment(rng: random.Random) -> str:
    return f"{day(2015, 2021)(rng)}T{rng.choice(['00:00:00', '00:00:00', '08:30:00'])}"


NUMBERS = ("text", "bounds", "midpoint", "mean", "median")
INTERVALS = (
    {"kind": "intervals", "widths": [5, 10, 20]},
    {"kind": "intervals", "widths": [10, 50], "lower": 20, "upper": 60},
    {"kind": "intervals", "bounds": [[20, 30, 40, 50, 60], [30, 50]]},
)
MASKINGS = (
    {"kind": "masking"},
    {"kind": "masking", "length": 20},
    {"kind": "masking", "step": 2},
    {"kind": "masking", "side": "left"},
    {"kind": "masking", "keep": 1, "char": "#"},
    {"kind": "masking", "levels": 2},
)
DATES = (
    {"kind": "dates"},
    {"kind": "dates", "levels": ["month", "year"]},
    {"kind": "dates", "levels": ["year", "decade", "century"]},
)
NESTED = {"kind": "taxonomy", "tree": TREE}

MAKES: dict[str, Make] = {
    "whole": Make(
        pa.int64(),
        lambda rng: rng.randint(20, 59),
        choice(0, 1, -7, 61, 120, 999, 251_234, 1_234_567, 10**12, -(10**9), 19),
        (None, "auto", *INTERVALS, {"kind": "masking"}, "star"),
        NUMBERS,
    ),
    "money": Make(
        pa.int64(),
        lambda rng: rng.randint(20_000, 47_000),
        choice(0, -5000, 251_234, 1_234_567, 10**9, 19_999, 3),
        (None, None, "auto", {"kind": "intervals", "widths": [5000, 10_000, 20_000]}, "star"),
        NUMBERS,
    ),
    "number": Make(
        pa.float64(),
        lambda rng: float(rng.randint(20, 59)),
        choice(20.5, 33.333333, 0.1, -0.25, 1e-9, 1e300, 250000.75, 61.0, -3.0, 1e15, 41.0),
        (None, None, "auto", *INTERVALS, "star"),
        NUMBERS,
    ),
    "decimal": Make(
        pa.float64(),
        lambda rng: rng.randint(40, 120) / 2,
        choice(20.123456789, 33.0, 0.1, -0.25, 1e-9, 250000.75, 61.0, 1e15),
        (None, None, "auto", *INTERVALS, "star"),
        NUMBERS,
    ),
    "code": Make(
        pa.string(),
        lambda rng: f"{rng.choice([220, 221, 730, 801])}{rng.randint(0, 99):02}",
        choice(*ODD_CODES),
        (None, "auto", *MASKINGS, "star"),
    ),
    "band": Make(
        pa.string(),
        choice(*BANDS[1:5]),
        choice(*BANDS, "85-94", "95+", "<18", "10-17"),
        (
            None,
            "auto",
            "ordered",
            {"kind": "ordered", "order": ["<18", "10-17", *BANDS, "85-94", "95+"]},
        ),
    ),
    "scale": Make(
        pa.string(),
        choice(*SCALE[:3]),
        choice(*SCALE, "Never", "OFTEN"),
        (
            None,
            "auto",
            "ordered",
            {"kind": "ordered", "order": [*SCALE, "Never", "OFTEN"]},
            {"kind": "ordered", "order": SCALE, "apart": ["Never", "OFTEN"]},
        ),
    ),
    "name": Make(
        pa.string(),
        choice(*NAMES[:8]),
        choice(*NAMES, "Zebulon", "ada", "O'Neill", "*", "=1+1"),
        (None, "auto", {"kind": "frequent", "keep": [["Ada", "Ben", "Cleo"], ["Ada"]]}, "star"),
    ),
    "tree": Make(
        pa.string(),
        choice(*LEAVES[:4]),
        choice(*LEAVES),
        (NESTED, {"kind": "csv", "file": "tree.csv"}, None),
    ),
    "state": Make(
        pa.string(),
        choice(*STATES[:6]),
        choice(*STATES, "Atlantis", "TX"),
        ({"kind": "known", "tree": "us-states"}, "auto", None),
    ),
    "day": Make(
        pa.date32(),
        day(2015, 2021),
        choice("1900-01-01", "2099-12-31", "1000-05-05", "2014-12-31", "2022-01-01"),
        (None, "auto", *DATES, {"kind": "intervals", "widths": ["7d", "28d"]}),
        ("text", "bounds", "midpoint"),
    ),
    "moment": Make(
        pa.timestamp("us"),
        moment,
        choice("1900-01-01T00:00:00", "2099-12-31T23:59:59.123456", "2016-02-03T04:05:06"),
        (None, "auto", *DATES),
    ),
    "written day": Make(
        pa.string(),
        day(2015, 2021),
        choice("2020", "1900-01", "2020-02-29T23:15", "2099-12-31"),
        (None, "auto", *DATES),
    ),
    "bool": Make(pa.bool_(), choice(True, False), choice(True, False), (None, "auto", "star")),
    "figure": Make(
        pa.string(),
        lambda rng: str(rng.randint(20, 59)),
        choice("20.5", "1e9", "n/a", "251234", "033", "1,5", "<20", ">=60", "61"),
        (None, "auto", {"kind": "masking"}),
        ("text",),
    ),
    "ill": Make(pa.string(), choice(*ILLS), choice(*ILLS, "Flu", "plague", "yaws "), ()),
    "pay": Make(
        pa.float64(),
        lambda rng: float(rng.randint(10, 40) * 100),
        choice(1234.5678, 10.0**9, -3.25, 0.0, 99.0),
        (),
    ),
}
PEOPLE = [name for name, make in MAKES.items() if make.hierarchies]
"""Kinds of quasi-identifiers."""


# Drawing.


def draw_quasi_identifier(rng: random.Random, make: str) -> dict[str, Any]:
    """Draw a rule for a column: a hierarchy, levels, a form, a weight."""
    kind = MAKES[make]
    rule: dict[str, Any] = {"role": "quasi-identifier"}
    hierarchy = rng.choice(kind.hierarchies)
    if hierarchy is not None:
        rule["hierarchy"] = hierarchy
    if hierarchy not in (None, "star") and rng.random() < 0.35:
        rule["levels"] = rng.choice([[0, 1], [1, 1], [1, 2], [0, 2]])
    masked = hierarchy == "star" or (isinstance(hierarchy, dict) and hierarchy["kind"] == "masking")
    if kind.forms and not masked and rng.random() < 0.5:
        rule["as"] = rng.choice(kind.forms)
    if rng.random() < 0.15:
        rule["weight"] = rng.choice([0.5, 3])
    pinned = isinstance(hierarchy, dict) and (
        hierarchy["kind"] in ("csv", "taxonomy") or "order" in hierarchy
    )
    if pinned and rng.random() < 0.4:
        rule["members"] = True
    return {"make": make, "rule": rule}


def draw_columns(rng: random.Random, hidden: str) -> dict[str, dict[str, Any]]:
    """Draw one to three quasi-identifiers and what is published beside them."""
    columns = {
        make.replace(" ", "_"): draw_quasi_identifier(rng, make)
        for make in rng.sample(PEOPLE, rng.choice([1, 1, 2, 2, 3]))
    }
    if hidden == "gate":
        columns[GATE] = {
            "make": "gate",
            "rule": {"role": "quasi-identifier", "levels": [0, 0]},
        }
    columns["ill"] = {"make": "ill", "rule": "sensitive"}
    if rng.random() < 0.4:
        columns["pay"] = {"make": "pay", "rule": rng.choice(["sensitive", "plain"])}
    return columns


def draw_methods(rng: random.Random) -> dict[str, Any]:
    """Draw a method with its settings, a search and a loss."""
    settings: dict[str, Any] = {}
    method: Any = rng.choice([*["full-domain"] * 3, "regional", *PARTITIONERS])
    if method == "mondrian":
        method = {"method": method, **rng.choice([{}, {"relaxed": True}, {"exact_bounds": True}])}
    elif method == "mdav":
        method = {"method": method, **rng.choice([{}, {"exact_bounds": True}])}
    elif method == "top-down":
        method = {"method": method, "best": rng.choice(["rows", "loss"])}
    elif method in ("full-domain", "regional"):
        settings["search"] = {"search": rng.choice([*SEARCHES])}
    settings["method"] = method
    if rng.random() < 0.5:
        settings["loss"] = rng.choice([*LOSSES])
    if rng.random() < 0.1:
        settings["sensitive_blind"] = True
    return settings


def draw_policy(
    rng: random.Random, hidden: str, columns: Mapping[str, Any], odd: int
) -> dict[str, Any]:
    """Draw all that is not about columns."""
    models: list[dict[str, Any]] = [{"model": "k-anonymity", "k": rng.choice([2, 2, 3])}]
    if rng.random() < 0.2:
        models.append({"model": "distinct-l-diversity", "column": "ill", "l": 2})
    elif rng.random() < 0.15:
        models.append({"model": "t-closeness", "column": "ill", "t": 0.7})
    missing = (
        "suppress" if hidden == "missing" else rng.choice(["own-value", "own-value", "matches-any"])
    )
    rows = rng.choice(["remove", "remove", "remove", "star"])
    if any("as" in each["rule"] for each in columns.values()):
        # Numbers cannot be starred, nor match any value.
        missing, rows = missing.replace("matches-any", "own-value"), "remove"
    return {
        "models": models,
        **draw_methods(rng),
        "suppression": {
            "limit": rng.choice([odd, odd + 1, odd + 3, 0.5, 1.0]),
            "rows": rows,
        },
        "missing": missing,
    }


class Drawer:
    """Draws cells of the columns of one case."""

    def __init__(self, rng: random.Random, columns: Mapping[str, Mapping[str, Any]]) -> None:
        self.rng = rng
        self.columns = columns
        self.quasi = [
            name for name in columns if role_of(columns[name]["rule"]) == "quasi-identifier"
        ]
        self.gaps = rng.choice([0, 0, 0, 0.1])
        self.usual = {
            name: [MAKES[column["make"]].usual(rng) for _ in range(rng.randint(2, 9))]
            if column["make"] != "gate" else ["north", "south"]
            for name, column in columns.items()
        }  # fmt: skip
        self.gate = 0

    def row(self, *, own_gaps: bool) -> list[Any]:
        """Draw a row like most others."""
        cells = []
        for name, column in self.columns.items():
            gap = self.gaps and column["make"] != "gate" and self.rng.random() < self.gaps
            if name in self.quasi and not own_gaps:
                gap = False
            cells.append(None if gap else self.rng.choice(self.usual[name]))
        return cells

    def odd(self, hidden: str) -> list[Any]:
        """Draw a row that is to be suppressed; its values may be any."""
        cells = []
        for name, column in self.columns.items():
            if column["make"] == "gate":
                self.gate += 1
                cells.append(f"nowhere {self.gate}")
            elif self.rng.random() < 0.6:
                cells.append(MAKES[column["make"]].odd(self.rng))
            else:
                cells.append(self.rng.choice([*self.usual[name], None]))
        if hidden == "missing":
            which = self.rng.choice(self.quasi)
            cells[list(self.columns).index(which)] = None
        return cells


# The tables.


def role_of(rule: Any) -> str:
    return rule["role"] if isinstance(rule, dict) else rule


def type_of(column: Mapping[str, Any]) -> pa.DataType:
    return pa.string() if column["make"] == "gate" else MAKES[column["make"]].type


def table_of(case: Case, rows: Sequence[Sequence[Any]], *, tagged: bool) -> pa.Table:
    """Return rows, which begin with their tag, as an Arrow table."""
    made = {TAG: pa.array([row[0] for row in rows], pa.int64())} if tagged else {}
    for i, (name, column) in enumerate(case["columns"].items(), start=1):
        kind = type_of(column)
        values = [row[i] for row in rows]
        if kind == pa.date32():
            values = [None if value is None else date.fromisoformat(value) for value in values]
        elif pa.types.is_timestamp(kind):
            values = [None if value is None else datetime.fromisoformat(value) for value in values]
        made[name] = pa.array(values, kind)
    return pa.table(made)


def write_csv(table: pa.Table, path: Path) -> None:
    """Write a table as people do: whole numbers without a point."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        for row in table.to_pylist():
            writer.writerow([written(cell) for cell in row.values()])


def written(cell: Any) -> Any:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e16:
        return int(cell)
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime):
        return cell.isoformat()
    return "" if cell is None else cell


def source_of(table: pa.Table, form: str, folder: Path) -> object:
    """Give a table as a file, or as what a library has for it."""
    path = folder / f"given.{form}"
    match form:
        case "csv":
            write_csv(table, path)
        case "parquet":
            pa.parquet.write_table(table, path)
        case "feather":
            pa.feather.write_feather(table, path)
        case "pandas":
            return table.to_pandas()
        case "encoded":
            kinds = [f.name for f in table.schema if f.type == pa.string()]
            for name in kinds:
                at = table.column_names.index(name)
                table = table.set_column(at, name, table[name].dictionary_encode())
            return table
        case "arrow":
            return table
        case _:
            raise ValueError(form)
    return path


def policy_of(case: Case, folder: Path, *, tagged: bool) -> dict[str, Any]:
    """Return the settings of a policy; files it names are in the folder."""
    rules: dict[str, Any] = (
        {TAG: {"role": "plain", "because": "a number of its own"}} if tagged else {}
    )
    for name, column in case["columns"].items():
        rule = column["rule"]
        hierarchy = rule.get("hierarchy") if isinstance(rule, dict) else None
        if isinstance(hierarchy, dict) and hierarchy["kind"] == "csv":
            path = folder / hierarchy["file"]
            path.write_text("".join(f"{';'.join(line)}\n" for line in paths_of(TREE)))
            rule = {**rule, "hierarchy": {**hierarchy, "file": str(path)}}
        rules[name] = rule
    return {"columns": rules, **case["policy"]}


def paths_of(tree: Any, above: tuple[str, ...] = ("*",)) -> Iterator[tuple[str, ...]]:
    """Return each leaf with the names above it, all equally long."""
    if isinstance(tree, list):
        for leaf in tree:
            yield (leaf, *[above[0]] * (3 - len(above)), *above)
        return
    for name, below in tree.items():
        yield from paths_of(below, (name, *above))


Tagged = dict[int, tuple[Any, ...]]
"""The published rows by their tag: how each looks in its quasi-identifiers."""


def classes_of(rows: Tagged) -> set[frozenset[int]]:
    """Return which rows look alike."""
    alike: dict[tuple[Any, ...], set[int]] = {}
    for tag, cells in rows.items():
        alike.setdefault(cells, set()).add(tag)
    return {frozenset(tags) for tags in alike.values()}


class Traces(Guard):
    """Tables that differ in suppressed rows alone, released alike."""

    name = "traces"
    weight = 3.0
    few = 150
    sources: ClassVar[tuple[str, ...]] = (
        "csv",
        "csv",
        "parquet",
        "feather",
        "pandas",
        "encoded",
        "arrow",
    )
    outputs: ClassVar[tuple[str, ...]] = (
        "csv",
        "csv",
        "csv",
        "parquet",
        "parquet",
        "feather",
        "sav",
        "dta",
        "xlsx",
    )

    def __init__(self) -> None:
        self.tally: Counter[str] = Counter()
        """What became of the pairs: how many were compared, and why others were not."""

    def close(self) -> None:
        if self.tally:
            told = ", ".join(f"{what} {n}" for what, n in self.tally.most_common())
            sys.stdout.write(f"{self.name}: of {self.tally.total()} pairs {told}\n")
            self.tally.clear()

    def draw(self, rng: random.Random) -> Case:
        hidden = rng.choice([*["missing"] * 4, *["gate"] * 4, "far"])
        columns = draw_columns(rng, hidden)
        drawer = Drawer(rng, columns)
        rows = [drawer.row(own_gaps=hidden != "missing") for _ in range(rng.randint(8, 90))]
        size = rng.randint(1, 3)
        policy = draw_policy(rng, hidden, columns, 2 * size)
        odd = []
        # Starred rows are in the file, so as many must be there.
        number = rng.random() < 0.2 and policy["suppression"]["rows"] == "remove"
        for _ in range(size):
            becomes = [drawer.odd(hidden) for _ in range(rng.randint(0, 2) if number else 1)]
            odd.append({"row": drawer.odd(hidden), "becomes": becomes})
        if not number and len(odd) > 1 and rng.random() < 0.3:
            # Another one twice, and one not at all: as many rows, of which others are there.
            odd[1]["becomes"].append(drawer.odd(hidden))
            odd[0]["becomes"] = []
        tags = iter(rng.sample(range(1000, 9000), len(rows) + 4 * len(odd)))
        for row in (*rows, *(row for each in odd for row in (each["row"], *each["becomes"]))):
            row.insert(0, next(tags))
        return {
            "columns": columns,
            "rows": rows,
            "odd": odd,
            "hidden": hidden,
            "policy": policy,
            "source": rng.choice(self.sources),
            "output": rng.choice(self.outputs),
            "tagged": rng.random() < 0.4,
            "seed": rng.randrange(1000),
            "orders": [rng.randrange(1000), rng.randrange(1000)],
        }

    def smaller(self, case: Case) -> Iterator[Case]:
        yield from super().smaller(case)
        for i in range(len(case["odd"])):
            if len(case["odd"]) > 1:
                yield {**case, "odd": case["odd"][:i] + case["odd"][i + 1 :]}
        for at, name in enumerate(case["columns"], start=1):
            if name != GATE and len(case["columns"]) > 1:
                yield without_column(case, at, name)
        for key in ("loss", "search", "sensitive_blind"):
            if key in case["policy"]:
                yield {**case, "policy": {k: v for k, v in case["policy"].items() if k != key}}

    def attempt(self, case: Case, folder: Path) -> None:
        with refusals():
            self.tally[self.follow(case, folder)] += 1
            return
        self.tally["refused"] += 1

    def follow(self, case: Case, folder: Path) -> str:
        """Release both tables and compare what came out; return what became of the pair."""
        one = [*case["rows"], *(each["row"] for each in case["odd"])]
        random.Random(case["orders"][0]).shuffle(one)
        before = self.published(case, one, folder)
        kept = {row[0] for row in case["rows"]} | set(before)
        odd = [each for each in case["odd"] if each["row"][0] not in before]
        if not odd:
            return "all published"
        gone = {each["row"][0] for each in odd}
        other = [row for row in one if row[0] not in gone]
        other += [row for each in odd for row in each["becomes"]]
        random.Random(case["orders"][1]).shuffle(other)
        try:
            after = self.published(case, other, folder)
        except SfumatoError:
            with refusals():
                raise
            return "refused then"
        # Rows that miss a cell are gone before anything is decided, if as many as before may be.
        strict = case["hidden"] == "missing" and len(one) == len(other)
        if set(before) != set(after):
            if strict and not set(after) - kept:
                raise Fault(f"other rows are published, {self.kind_of(case)}")
            return "other rows"
        if classes_of(before) != classes_of(after):
            if strict:
                raise Fault(f"other classes, {self.kind_of(case)}", shown_classes(before, after))
            return "other classes"
        self.compare(case, one, other, folder)
        return "compared"

    def kind_of(self, case: Case, column: str | None = None) -> str:
        """Return what tells a fault from others: the method, and how a column is recoded."""
        method = case["policy"]["method"]
        method = method["method"] if isinstance(method, dict) else method
        found = []
        for name, each in case["columns"].items():
            if isinstance(each["rule"], dict) and each["make"] != "gate" and column in (None, name):
                hierarchy = each["rule"].get("hierarchy")
                hierarchy = hierarchy["kind"] if isinstance(hierarchy, dict) else hierarchy
                found.append(
                    f"{each['make']} {hierarchy or 'raw'} as {each['rule'].get('as', 'text')}"
                )
        return f"{method}: {', '.join(found)}"

    def published(self, case: Case, rows: Sequence[Any], folder: Path) -> Tagged:
        """Return which rows are published, and how they look."""
        policy = sf.Policy(**policy_of(case, folder, tagged=True))
        source = self.give(table_of(case, rows, tagged=True), case, folder)
        release = sf.anonymize(source, policy, seed=case["seed"])
        quasi = release.manifest.with_role("quasi-identifier")
        return {
            int(row[TAG]): tuple(row[name] for name in quasi)
            for row in read_table(release.table)
            if row[TAG] is not None
        }

    def make(self, case: Case, rows: Sequence[Any], folder: Path, name: str) -> Any:
        """Release a table into a folder."""
        policy = sf.Policy(**policy_of(case, folder, tagged=case["tagged"]))
        table = table_of(case, rows, tagged=case["tagged"])
        source = self.give(table, case, folder)
        return sf.anonymize(
            source, policy, output=folder / name, format=case["output"], seed=case["seed"]
        )

    def give(self, table: pa.Table, case: Case, folder: Path) -> object:
        return source_of(table, case["source"], folder)

    def compare(self, case: Case, one: Sequence[Any], other: Sequence[Any], folder: Path) -> None:
        """Release both tables into folders and raise what differs."""
        first, second = self.make(case, one, folder, "one"), self.make(case, other, folder, "other")
        told = TOLD if len(one) != len(other) else {}
        for found in differences(folder / "one", folder / "other", told=told):
            raise self.fault(case, found)
        if told:
            return
        answers = [answer_of(release) for release in (first, second)]
        for found in differing(*answers, "answer"):
            raise self.fault(case, found)

    def fault(self, case: Case, found: str) -> Fault:
        place = found.partition(": ")[0]
        column = re.search(r"/column (\w+?)(_low|_high|_mean|_median)?$", place)
        if column is not None and column[1] in case["columns"]:
            place = f"a column, {self.kind_of(case, column[1])}"
        else:
            place = f"{re.sub(r'data[.][a-z]+', 'data', place)}, {self.kind_of(case)}"
        return Fault(f"a trace of suppressed rows in {place}", found)


TOLD = {
    "manifest.json": r'"suppressed": \d+|"(discernibility|average-class-size)": [\d.e+]+',
    "evidence.json": r'"suppressed":\d+',
    "README.md": r" \S+ rows of the original were left out\.",
}
"""How many rows were suppressed may be told; where that changes, so do these."""


def without_column(case: Case, at: int, name: str) -> Case:
    """Return a case without a column."""

    def cut(row: Sequence[Any]) -> list[Any]:
        return [*row[:at], *row[at + 1 :]]

    return {
        **case,
        "columns": {key: value for key, value in case["columns"].items() if key != name},
        "rows": [cut(row) for row in case["rows"]],
        "odd": [
            {"row": cut(each["row"]), "becomes": [cut(row) for row in each["becomes"]]}
            for each in case["odd"]
        ],
    }


def answer_of(release: Any) -> Any:
    """Return what the program answers, as with --json, without paths and hashes.

    The bound of a search is for its maker alone, and is not published.
    """
    answer = release.to_dict()
    hashes = {file["sha256"] for file in answer["manifest"].get("files", ())}
    for key in ("folder", "bound", "excess"):
        answer.pop(key, None)
    text = json.dumps(answer, default=str)
    for value in hashes:
        text = text.replace(value, "hash")
    return json.loads(text)


def shown_classes(one: Tagged, other: Tagged) -> str:
    return f"{sorted(set(one.values()))} | {sorted(set(other.values()))}"
