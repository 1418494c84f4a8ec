"""Pairs of tables that differ in nothing but rows which are, or may be, suppressed.

A case is a table of usual rows and odd ones, and what each odd row becomes in the other table:
other values, other gaps, another place, no row or two. How sure odd rows are to be suppressed is
in `hidden`:

- `missing`: they miss a quasi-identifier, and the policy suppresses such rows;
- `gate`: each is alone with its value of a column that may not be generalised;
- `far`: they are merely far from all others.
"""

import csv
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from sfumato.losses import LOSSES
from sfumato.partition import PARTITIONERS
from sfumato.search import SEARCHES
from sfumato.tables.arrow.writing import write_table
from tests.fuzz.guards import Case
from tests.tables.office_files import write_xlsx

TAG = "tag"
"""A number of its own for each row, published as it is where it is asked which rows are."""

GATE = "area"

METHODS = ("full-domain", "regional", *PARTITIONERS)

# Values: those of most rows, and those of rows that are to be suppressed.

SCALE = ["never", "rarely", "sometimes", "often", "always"]
BANDS = ["18-24", "25-34", "35-44", "45-54", "55-64", "65-74", "75+"]
MORE_BANDS = ["<18", "10-17", *BANDS, "85-94", "95+"]
NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida", "Jon", "Kim", "Lea"]
STATES = ["Maine", "Texas", "Ohio", "Utah", "Iowa", "Alaska", "Hawaii", "Nevada", "Georgia"]
TREE = {
    "been married": {"now": ["wed", "registered"], "before": ["divorced", "widowed"]},
    "single": ["never wed", "engaged"],
}
LEAVES = ["wed", "registered", "divorced", "widowed", "never wed", "engaged"]
ILLS = ["flu", "gout", "hiv", "ulcer", "cold"]
ODD_ILLS = [*ILLS, "Flu", "plague", "yaws "]
ITEMS = ["I10.0", "I10.9", "E11.9", "E11.0", "J45.0", "J45.9"]
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

Draw = Callable[[random.Random], Any]


@dataclass(frozen=True)
class Make:
    """How values of a kind are drawn, and what can be done with a column of them."""

    type: pa.DataType
    usual: Draw
    odd: Draw
    hierarchies: tuple[Any, ...] = ()
    """Of quasi-identifiers; None is a column that is published as it is or as a star."""

    forms: tuple[str, ...] = ()
    """What the setting `as` may be."""

    several: bool = True
    """Whether the usual values are a few that come again."""


def choice(*values: Any) -> Draw:
    return lambda rng: rng.choice(values)


def day(first: int, last: int) -> Callable[[random.Random], str]:
    return lambda rng: date.fromordinal(
        rng.randint(date(first, 1, 1).toordinal(), date(last, 12, 31).toordinal())
    ).isoformat()


def moment(rng: random.Random) -> str:
    return f"{day(2015, 2021)(rng)}T{rng.choice(['00:00:00', '00:00:00', '08:30:00'])}"


def items(*pool: str) -> Draw:
    return lambda rng: ";".join(sorted({rng.choice(pool) for _ in range(rng.randint(1, 3))}))


NUMBERS = ("text", "bounds", "midpoint", "mean", "median")
INTERVALS = (
    {"kind": "intervals", "widths": [5, 10, 20]},
    {"kind": "intervals", "widths": [10, 50], "lower": 20, "upper": 60},
    {"kind": "intervals", "bounds": [[20, 30, 40, 50, 60], [30, 50]]},
    {"kind": "intervals", "widths": [5, 10, 20], "join": True},
    {"kind": "intervals", "bounds": [[25, 35, 45]], "join": True},
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
MARRIED = {"kind": "csv", "file": "tree.csv"}
FREQUENT = {"kind": "frequent", "keep": [["Ada", "Ben", "Cleo"], ["Ada"]]}

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
        choice(*MORE_BANDS),
        (None, "auto", "ordered", {"kind": "ordered", "order": MORE_BANDS}),
    ),
    "scale": Make(
        pa.string(),
        choice(*SCALE[:3]),
        choice(*SCALE, "Never", "OFTEN"),
        (
            None, "auto", "ordered",
            {"kind": "ordered", "order": [*SCALE, "Never", "OFTEN"]},
            {"kind": "ordered", "order": SCALE, "apart": ["Never", "OFTEN"]},
        ),
    ),
    "name": Make(
        pa.string(),
        choice(*NAMES[:8]),
        choice(*NAMES, "Zebulon", "ada", "O'Neill", "*", "=1+1"),
        (None, "auto", FREQUENT, "star"),
    ),
    "tree": Make(pa.string(), choice(*LEAVES[:4]), choice(*LEAVES), (NESTED, MARRIED, None)),
    "state": Make(
        pa.string(),
        choice(*STATES[:6]),
        choice(*STATES, "Atlantis", "TX"),
        ({"kind": "known", "tree": "us-states"}, "auto", None),
    ),
    "zip code": Make(
        pa.string(),
        choice("94110", "94115", "03601", "10001", "10002"),
        choice("94110", "03601", "05901-1234", "60601"),
        ({"kind": "zip-areas"}, {"kind": "zip-areas"}, None),
    ),
    "day": Make(
        pa.date32(),
        day(2015, 2021),
        choice("1900-01-01", "2099-12-31", "1000-05-05", "2014-12-31", "2022-01-01"),
        (
            None, "auto", *DATES,
            {"kind": "intervals", "widths": ["7d", "28d"]},
            {"kind": "intervals", "widths": ["28d"], "join": True},
        ),
        ("text", "bounds", "midpoint"),
    ),
    "moment": Make(
        pa.timestamp("us"),
        moment,
        choice("1900-01-01T00:00:00", "2099-12-31T23:59:59.123456", "2016-02-03T04:05:06"),
        (None, "auto", *DATES),
    ),
    "instant": Make(
        pa.timestamp("ns"),
        moment,
        choice("1900-01-01T00:00:00", "2099-12-31T23:59:59.123456789", "2016-02-03T04:05:06.1"),
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
    ),
    "category": Make(
        pa.dictionary(pa.int32(), pa.string(), ordered=True),
        choice("low", "medium", "high"),
        choice("very low", "very high", "none", "high"),
        (None, "auto", "ordered"),
    ),
    "ill": Make(pa.string(), choice(*ILLS), choice(*ODD_ILLS)),
    "pay": Make(
        pa.float64(),
        lambda rng: float(rng.randint(10, 40) * 100),
        choice(1234.5678, 10.0**9, -3.25, 0.0, 99.0),
        several=False,
    ),
    "born": Make(pa.date32(), day(1950, 2000), choice("1900-01-01", "2014-12-31"), several=False),
    "seen": Make(pa.date32(), day(2015, 2021), choice("2014-12-31", "2099-12-31"), several=False),
    "weight": Make(
        pa.float64(),
        lambda rng: rng.randint(10, 400) / 2,
        choice(0.0, 10.0**7, 3.14159265, 1e-6, 12345.678),
        several=False,
    ),
    "items": Make(pa.string(), items(*ITEMS[:4]), items(*ITEMS, "C50.1", "X", "Z99.99999")),
    "person": Make(
        pa.int64(), lambda rng: rng.randint(1, 40), lambda rng: rng.randint(5000, 9_000_000),
        several=False,
    ),
    "home": Make(
        pa.int64(), lambda rng: rng.randint(1, 20), lambda rng: rng.randint(100, 200),
        several=False,
    ),
    "gate": Make(pa.string(), choice("north", "south"), lambda rng: f"area {rng.randrange(10**9)}"),
}  # fmt: skip
CATEGORIES = ["none", "very low", "low", "medium", "high", "very high"]
"""In their order, as the source declares them."""

PEOPLE = [name for name, make in MAKES.items() if make.hierarchies]
"""Kinds of quasi-identifiers."""

NEVER_LACKING = ("gate", "weight", "person", "home")


def role_of(rule: Any) -> str:
    return rule["role"] if isinstance(rule, dict) else rule


# Drawing.


def draw_rule(rng: random.Random, make: str) -> dict[str, Any]:
    """Draw a rule for a quasi-identifier: a hierarchy, levels, a form, a weight."""
    kind = MAKES[make]
    rule: dict[str, Any] = {"role": "quasi-identifier"}
    hierarchy = rng.choice(kind.hierarchies)
    if hierarchy is not None:
        rule["hierarchy"] = hierarchy
    if hierarchy not in (None, "star") and rng.random() < 0.35:
        # Some hierarchies that follow from the values have no more than one level.
        short = [[0, 1], [1, 1]]
        rule["levels"] = rng.choice(short if make == "bool" else [*short, [1, 2], [0, 2]])
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
    return rule


def draw_columns(rng: random.Random, hidden: str) -> dict[str, dict[str, Any]]:
    """Draw one to three quasi-identifiers and what is published beside them."""
    columns = {
        make.replace(" ", "_"): {"make": make, "rule": draw_rule(rng, make)}
        for make in rng.sample(PEOPLE, rng.choice([1, 1, 2, 2, 3]))
    }
    if hidden == "gate":
        columns[GATE] = {"make": "gate", "rule": {"role": "quasi-identifier", "levels": [0, 0]}}
    columns["ill"] = {"make": "ill", "rule": "sensitive"}
    if rng.random() < 0.4:
        columns["pay"] = {"make": "pay", "rule": rng.choice(["sensitive", "plain"])}
    return columns


def draw_methods(rng: random.Random) -> dict[str, Any]:
    """Draw a method with its settings, a search and a loss."""
    settings: dict[str, Any] = {}
    method: Any = rng.choice(["full-domain", "full-domain", *METHODS])
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
    if rng.random() < 0.1:
        settings["sampling_fraction"] = 0.1
    return settings


def draw_policy(
    rng: random.Random, hidden: str, columns: Mapping[str, Any], odd: int
) -> dict[str, Any]:
    """Draw all that is not about columns."""
    models: list[dict[str, Any]] = [{"model": "k-anonymity", "k": rng.choice([2, 2, 3])}]
    drawn = rng.random()
    if drawn < 0.15:
        models.append({"model": "distinct-l-diversity", "column": "ill", "l": 2})
    elif drawn < 0.25:
        models.append({"model": "t-closeness", "column": "ill", "t": 0.7})
    elif drawn < 0.3 and "pay" in columns and columns["pay"]["rule"] == "sensitive":
        far = {"distance": "ordered"}
        models.append({"model": "t-closeness", "column": "pay", "t": 0.6, **far})
    missing = rng.choice(["own-value", "own-value", "matches-any"])
    rows = rng.choice(["remove", "remove", "remove", "star"])
    if any("as" in each["rule"] for each in columns.values()):
        # Numbers cannot be starred, nor match any value.
        missing, rows = "own-value", "remove"
    return {
        "models": models,
        **draw_methods(rng),
        "suppression": {"limit": rng.choice([odd, odd + 1, odd + 3, 0.5, 1.0]), "rows": rows},
        "missing": "suppress" if hidden == "missing" else missing,
    }


# What else a policy may ask for; each takes the case as it is and adds to it.


def plain_case(rng: random.Random, case: Case) -> None:
    """Add nothing."""


PERTURBATIONS: dict[str, tuple[Mapping[str, Any], ...]] = {
    "rounding": ({"step": 100}, {"step": 1000, "to": "up"}),
    "top-coding": ({"above": 3000}, {"above": "90%"}, {"above": "90%", "becomes": 5000}),
    "bottom-coding": ({"below": 1500}, {"below": "10%"}),
    "noise": ({"sd": 100}, {"sd": "10%"}, {"sd": "10%", "shape": "laplace", "at_least": 0}),
    "correlated-noise": ({"sd": "10%"}, {"sd": 50}),
    "rank-swapping": ({"distance": 3}, {"distance": "20%"}),
    "record-swapping": ({"share": "50%"}, {"share": "40%", "within": ["ill"]}),
    "pram": ({"keep": 0.7}, {"keep": 0.7, "invariant": True}),
}
"""Settings of each perturbation; a test compares this with the registry."""


def perturbed_case(rng: random.Random, case: Case) -> None:
    """Perturb what is published beside the quasi-identifiers, or one of these."""
    kind = rng.choice([*PERTURBATIONS])
    rule = {"kind": kind, **rng.choice(PERTURBATIONS[kind])}
    role = rng.choice(["sensitive", "plain"])
    columns = case["columns"]
    if kind == "pram":
        columns["ill"] = {"make": "ill", "rule": {"role": "sensitive", "perturb": rule}}
    else:
        columns["pay"] = {"make": "pay", "rule": {"role": role, "perturb": rule}}
        if kind in ("correlated-noise", "record-swapping"):
            columns["rent"] = {"make": "pay", "rule": {"role": "plain", "perturb": rule}}
    case["policy"]["models"] = case["policy"]["models"][:1]
    # Who gets which noise goes by where the row is.
    case["fixed"] = True


def weighted_case(rng: random.Random, case: Case) -> None:
    """Publish the weight of a survey."""
    more = rng.choice([{}, {}, {"round": 10}, {"perturb": 0.05}])
    case["columns"]["wgt"] = {"make": "weight", "rule": {"role": "weight", **more}}
    settings = case["policy"]
    if settings["missing"] == "matches-any":
        settings["missing"] = "own-value"
    for column in case["columns"].values():
        if isinstance(column["rule"], dict):
            column["rule"].pop("as", None)


def people_case(rng: random.Random, case: Case) -> None:
    """Count people, who have several rows, and perhaps live together."""
    case["columns"]["pid"] = {"make": "person", "rule": "identifier"}
    settings = case["policy"]
    settings["person"] = "pid"
    if rng.random() < 0.3:
        case["columns"]["home"] = {"make": "home", "rule": "dropped"}
        settings["household"] = "home"
    if settings["missing"] != "suppress":
        settings["suppression"] |= {"unit": rng.choice(["rows", "people"]), "rows": "remove"}
    for column in case["columns"].values():
        if isinstance(column["rule"], dict):
            column["rule"].pop("as", None)


def set_case(rng: random.Random, case: Case) -> None:
    """Publish sets of items."""
    hierarchy = rng.choice(
        [None, {"kind": "masking"}, {"kind": "masking", "keep": 3, "levels": 1}, "auto"]
    )
    rule: dict[str, Any] = {"role": "set", "separator": ";"}
    if hierarchy is not None:
        rule["hierarchy"] = hierarchy
    case["columns"]["items"] = {"make": "items", "rule": rule}
    case["policy"]["models"] = [
        *case["policy"]["models"][:1],
        {"model": "km-anonymity", "k": 2, "m": rng.choice([1, 2])},
    ]
    for column in case["columns"].values():
        if isinstance(column["rule"], dict):
            column["rule"].pop("as", None)


def derived_case(rng: random.Random, case: Case) -> None:
    """Compute ages and times between dates, or move dates."""
    columns, settings = case["columns"], case["policy"]
    columns["born"] = {"make": "born", "rule": "dropped"}
    columns["seen"] = {"make": "seen", "rule": "dropped"}
    at = rng.choice(["seen", "2020-12-31"])
    age = rng.choice(["age", "relative", "shift"])
    settings["derive"] = [{"kind": "age", "of": "born", "into": "years", "at": at}]
    rule = draw_rule(rng, "whole")
    rule.pop("as", None)
    case["made"] = {"years": rule}
    if age == "relative":
        unit = rng.choice(["days", "weeks", "months"])
        settings["derive"].append(
            {"kind": "relative", "of": "seen", "since": "born", "into": "since", "unit": unit}
        )
        case["made"]["since"] = "plain"
    elif age == "shift":
        columns["pid"] = {"make": "person", "rule": "identifier"}
        settings["person"] = "pid"
        settings["derive"].append(
            {"kind": "shift", "columns": ["seen"], "days": 30, "person": "pid", "key": "shift.key"}
        )
        columns["seen"]["rule"] = {"role": "quasi-identifier", "hierarchy": "dates"}
        for column in columns.values():
            if isinstance(column["rule"], dict):
                column["rule"].pop("as", None)


def population_case(rng: random.Random, case: Case) -> None:
    """Compare with a population, which is public: it has the people of both tables."""
    case["policy"]["models"].append({"model": "k-map", "k": 3})
    if case["policy"]["method"] not in ("full-domain", "regional"):
        case["policy"]["method"] = "full-domain"
    if case["policy"]["missing"] == "matches-any":
        case["policy"]["missing"] = "own-value"
    for column in case["columns"].values():
        if isinstance(column["rule"], dict):
            column["rule"].pop("as", None)
    case["population"] = True


def judged_case(rng: random.Random, case: Case) -> None:
    """Say more of sensitive columns: how near values are, which are worse."""
    columns = case["columns"]
    rule = rng.choice([
        {"role": "sensitive", "secret": ["hiv"]},
        {"role": "sensitive", "hierarchy": "auto"},
        {"role": "sensitive", "spelling": "exact"},
    ])  # fmt: skip
    columns["ill"] = {"make": "ill", "rule": rule}
    columns["pay"] = {"make": "pay", "rule": {"role": "sensitive", "width": 500}}
    if "hierarchy" in rule:
        far = {"model": "t-closeness", "column": "ill", "t": 0.8, "distance": "hierarchical"}
        case["policy"]["models"] = [*case["policy"]["models"][:1], far]


CODES: dict[str, list[Any]] = {
    "whole": [999, -7],
    "money": [0, 3],
    "number": [61, -3],
    "decimal": [61, 33],
    "code": ["00", "1"],
    "name": ["Zebulon", "*"],
    "figure": ["n/a", "61"],
    "scale": ["Never", "OFTEN"],
    "category": ["none"],
    "pay": [99, 0],
    "ill": ["plague"],
}
"""What stands for a missing value in columns of some kinds; odd rows have it now and then."""


def codes_case(rng: random.Random, case: Case) -> None:
    """Name values that stand for missing ones; perhaps leave out rows that nobody owns."""
    columns = case["columns"]
    columns["pay"] = {"make": "pay", "rule": {"role": rng.choice(["sensitive", "plain"])}}
    for column in columns.values():
        rule = column["rule"]
        if column["make"] in CODES:
            rule = rule if isinstance(rule, dict) else {"role": rule}
            column["rule"] = {**rule, "missing_codes": CODES[column["make"]]}
    if rng.random() < 0.4:
        people_case(rng, case)
        case["policy"]["person"] = {"column": "pid", "missing": "leave-out"}


THEMES: dict[str, Callable[[random.Random, Case], None]] = {
    "plain": plain_case,
    "perturbed": perturbed_case,
    "weighted": weighted_case,
    "people": people_case,
    "sets": set_case,
    "derived": derived_case,
    "population": population_case,
    "judged": judged_case,
    "codes": codes_case,
}


class Drawer:
    """Draws rows of one case."""

    def __init__(self, rng: random.Random, case: Case) -> None:
        self.rng = rng
        self.hidden = case["hidden"]
        self.columns = case["columns"]
        self.unowned = isinstance(case["policy"].get("person"), dict) and rng.random() < 0.7
        self.quasi = [
            name for name, column in self.columns.items()
            if role_of(column["rule"]) == "quasi-identifier"
        ]  # fmt: skip
        self.gaps = rng.choice([0, 0, 0, 0.1])
        self.usual = {
            name: [MAKES[column["make"]].usual(rng) for _ in range(rng.randint(2, 9))]
            for name, column in self.columns.items()
        }

    def row(self) -> list[Any]:
        """Draw a row like most others."""
        cells = []
        for name, column in self.columns.items():
            lacks = column["make"] not in NEVER_LACKING and self.rng.random() < self.gaps
            if name in self.quasi and self.hidden == "missing":
                lacks = False
            make = MAKES[column["make"]]
            if lacks:
                cells.append(None)
            elif make.several:
                cells.append(self.rng.choice(self.usual[name]))
            else:
                cells.append(make.usual(self.rng))
        return cells

    def odd(self) -> list[Any]:
        """Draw a row that is to be suppressed; its values may be any."""
        cells = []
        for name, column in self.columns.items():
            make = MAKES[column["make"]]
            perturbed = isinstance(column["rule"], dict) and "perturb" in column["rule"]
            if column["make"] in ("gate", "person") or self.rng.random() < 0.6:
                cells.append(make.odd(self.rng))
            elif column["make"] in NEVER_LACKING or perturbed:
                cells.append(self.rng.choice(self.usual[name]))
            else:
                cells.append(self.rng.choice([*self.usual[name], None]))
        if self.unowned:
            cells[list(self.columns).index("pid")] = None
        if self.hidden == "missing":
            which = self.rng.choice(self.quasi)
            cells[list(self.columns).index(which)] = None
        return cells


def draw_pair(
    rng: random.Random, *, theme: str | None = None, hidden: str | None = None, most: int = 90
) -> Case:
    """Draw a case: columns, rows, a policy, and what odd rows become."""
    hidden = hidden or rng.choice([*["missing"] * 4, *["gate"] * 4, "far"])
    theme = theme or rng.choice([*["plain"] * 6, *THEMES])
    columns = draw_columns(rng, hidden)
    size = rng.randint(1, 3)
    case: Case = {
        "columns": columns,
        "hidden": hidden,
        "policy": draw_policy(rng, hidden, columns, 2 * size),
        "fixed": rng.random() < 0.3,
    }
    THEMES[theme](rng, case)
    drawer = Drawer(rng, case)
    case["rows"] = [drawer.row() for _ in range(rng.randint(8, most))]
    # Starred rows are in the file, so as many must be there.
    as_many = case["fixed"] or case["policy"]["suppression"]["rows"] == "star"
    number = not as_many and rng.random() < 0.2
    odd = []
    for _ in range(size):
        becomes = [drawer.odd() for _ in range(rng.randint(0, 2) if number else 1)]
        odd.append({"row": drawer.odd(), "becomes": becomes})
    if not number and not case["fixed"] and len(odd) > 1 and rng.random() < 0.3:
        # Another one twice, and one not at all: as many rows, of which others are there.
        odd[1]["becomes"].append(drawer.odd())
        odd[0]["becomes"] = []
    case["odd"] = odd
    tags = iter(rng.sample(range(1000, 9000), len(case["rows"]) + 4 * len(odd)))
    for row in (*case["rows"], *(row for each in odd for row in (each["row"], *each["becomes"]))):
        row.insert(0, next(tags))
    case["seed"] = rng.randrange(1000)
    case["orders"] = [rng.randrange(1000), rng.randrange(1000)]
    return case


# Both tables.


def first_rows(case: Case) -> list[list[Any]]:
    """Return the rows of the first table."""
    rows = [*case["rows"], *(each["row"] for each in case["odd"])]
    random.Random(case["orders"][0]).shuffle(rows)
    return rows


def other_rows(case: Case, published: set[int]) -> list[list[Any]]:
    """Return the rows of the other table: odd ones that were not published became others."""
    becomes = {
        each["row"][0]: each["becomes"]
        for each in case["odd"]
        if each["row"][0] not in published
    }  # fmt: skip
    rows = [new for row in first_rows(case) for new in becomes.get(row[0], [row])]
    if not case["fixed"]:
        random.Random(case["orders"][1]).shuffle(rows)
    return rows


def table_of(
    case: Case, rows: Sequence[Sequence[Any]], *, tagged: bool, columns: Sequence[str] | None = None
) -> pa.Table:
    """Return rows, which begin with their tag, as an Arrow table."""
    made = {TAG: pa.array([row[0] for row in rows], pa.int64())} if tagged else {}
    for i, (name, column) in enumerate(case["columns"].items(), start=1):
        if columns is None or name in columns:
            made[name] = array_of([row[i] for row in rows], MAKES[column["make"]].type)
    return pa.table(made)


def array_of(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return cells of a case as an array."""
    if kind == pa.date32():
        return pa.array([None if v is None else date.fromisoformat(v) for v in values], kind)
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.string()).cast(kind)
    if pa.types.is_dictionary(kind):
        codes = [None if v is None else CATEGORIES.index(v) for v in values]
        return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), CATEGORIES, ordered=True)
    return pa.array(values, kind)


def write_csv(table: pa.Table, path: Path) -> None:
    """Write a table as people do: whole numbers without a point."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table.column_names)
        columns = [written(column) for column in table.columns]
        writer.writerows(zip(*columns, strict=True))


def written(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        texts = column.cast(pa.string()).to_pylist()
        return ["" if cell is None else cell.replace(" ", "T") for cell in texts]
    return ["" if cell is None else written_cell(cell) for cell in column.to_pylist()]


def written_cell(cell: Any) -> Any:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e16:
        return int(cell)
    if isinstance(cell, bool):
        return str(cell).lower()
    return cell.isoformat() if isinstance(cell, datetime) else cell


def source_of(table: pa.Table, form: str, folder: Path) -> object:
    """Give a table as a file, or as what a library has for it."""
    path = folder / f"given.{form}"
    if form in IN_MEMORY:
        return IN_MEMORY[form](table)
    if form == "csv":
        write_csv(table, path)
    elif form == "parquet":
        pa.parquet.write_table(table, path)
    elif form == "feather":
        pa.feather.write_feather(table, path)
    elif form == "xlsx":
        write_xlsx(path, [table.column_names, *zip(*map(cells_of, table.columns), strict=True)])
    else:
        write_table(table, path, force=True, private="")
    return path


def cells_of(column: pa.ChunkedArray) -> list[Any]:
    """Return cells as a sheet holds them: moments to the millisecond."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms"), safe=False)
    return column.to_pylist()


def polars_frame(table: pa.Table) -> object:
    import polars as pl

    return pl.from_arrow(table)


def with_encoded_texts(table: pa.Table) -> pa.Table:
    for at, field in enumerate(table.schema):
        if field.type == pa.string():
            table = table.set_column(at, field.name, table[at].dictionary_encode())
    return table


IN_MEMORY: dict[str, Callable[[pa.Table], object]] = {
    "pandas": pa.Table.to_pandas,
    "polars": polars_frame,
    "encoded": with_encoded_texts,
    "arrow": lambda table: table,
}


def policy_of(case: Case, folder: Path, *, tagged: bool) -> dict[str, Any]:
    """Return the settings of a policy; files it names are in the folder."""
    rules: dict[str, Any] = {}
    if tagged:
        rules[TAG] = {"role": "plain", "because": "a number of its own"}
    for name, column in case["columns"].items():
        rule = column["rule"]
        hierarchy = rule.get("hierarchy") if isinstance(rule, dict) else None
        if isinstance(hierarchy, dict) and hierarchy["kind"] == "csv":
            path = folder / hierarchy["file"]
            path.write_text("".join(f"{';'.join(line)}\n" for line in paths_of(TREE)))
            rule = {**rule, "hierarchy": {**hierarchy, "file": str(path)}}
        rules[name] = rule
    settings = {"columns": {**rules, **case.get("made", {})}, **case["policy"]}
    if "derive" in settings:
        settings["derive"] = [
            {**step, "key": str(folder / step["key"])} if "key" in step else step
            for step in settings["derive"]
        ]
    if case.get("population"):
        quasi = [n for n, c in case["columns"].items() if role_of(c["rule"]) == "quasi-identifier"]
        odd = [row for each in case["odd"] for row in (each["row"], *each["becomes"])]
        people = table_of(case, [*case["rows"], *case["rows"], *odd], tagged=False, columns=quasi)
        pa.parquet.write_table(people, folder / "people.parquet")
        settings["population"] = str(folder / "people.parquet")
    return settings


def write_policy(settings: Mapping[str, Any], path: Path) -> Path:
    """Write a policy to a file; JSON is YAML."""
    path.write_text(json.dumps(settings), encoding="utf-8")
    return path


def paths_of(tree: Any, above: tuple[str, ...] = ("*",)) -> Iterator[tuple[str, ...]]:
    """Return each leaf with the names above it, all equally long."""
    if isinstance(tree, list):
        for leaf in tree:
            yield (leaf, *[above[0]] * (3 - len(above)), *above)
        return
    for name, below in tree.items():
        yield from paths_of(below, (name, *above))


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
