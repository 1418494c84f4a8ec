"""Every task finds in a database what it finds in memory: one list of tasks, every database."""

import json
import math
from dataclasses import replace
from functools import cached_property

import pyarrow as pa
import pytest

import sfumato as sf
from tests.tables import databases

pytestmark = databases.LEAVES_SOCKETS_OPEN

N = 48
PEOPLE = pa.table(
    {
        "the name": [f"person {i}" for i in range(N)],
        "age": pa.array([20 + i % 8 for i in range(N)], pa.int64()),
        "sex": pa.array(["f" if i % 3 else "m" for i in range(N - 1)] + [None], pa.string()),
        "ill": [["flu", "hiv", "gout", "cold"][(i * 7 + i // 9) % 4] for i in range(N)],
        "Select": [["low", "mid", "high"][(i * i + i // 5) % 3] for i in range(N)],
    }
)
POLICY = sf.Policy(
    columns={
        "the name": "identifier",
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [2, 4]}},
        "sex": "quasi-identifier",
        "ill": "sensitive",
        "Select": "sensitive",
    },
    models=[sf.models.KAnonymity(4), sf.models.DistinctLDiversity("ill", 2)],
)
OTHER = POLICY.with_method("mondrian")
ONE = {"sensitive": ["ill"]}
METHODS = {
    "broken": ("break-merge", {}),
    "buckets": ({"method": "anatomy", "l": 2}, ONE),
    "parted": ({"method": "bucketization", "partition": "mondrian"}, ONE),
    "hidden": ("association-hiding", {}),
    "sliced": ({"method": "slicing", "l": 2, "slices": 2}, ONE),
    "overlapping": ({"method": "slicing", "l": 2, "overlap": 0.01}, ONE),
    "relaxed": ({"method": "slicing", "l": 2, "cuts": "relaxed"}, ONE),
    "together": ({"method": "slicing", "l": 2, "cuts": "relaxed", "check": "worlds"}, ONE),
    "secrets": ({"method": "slicing", "l": 2, "form": "recursive", "c": 9}, {}),
}
"""One release by each way to decouple."""

KNOWN = {"age": 21, "sex": "f"}


class Embedded:
    """The same tables in memory."""

    def __init__(self):
        self.people = PEOPLE
        self.released = sf.anonymize(PEOPLE, POLICY)
        self.local = sf.anonymize(PEOPLE, OTHER)
        self.decoupled = {
            # As others have them: tables in a database know no policy of their maker's.
            name: replace(sf.decouple(self.released, method, seed=1, **given), policy=None)
            for name, (method, given) in METHODS.items()
        }


class Stored:
    """The same tables in a database, each by its name."""

    def __init__(self, database):
        self.database = database
        self.people = database.stored(PEOPLE, "people")
        connection = self.people[0]
        sf.anonymize(self.people, POLICY, output="table:released")
        self.released = (connection, "released")
        self.decoupled = {}
        for name, (method, given) in METHODS.items():
            sf.decouple(self.released, method, seed=1, output=f"table:{name}", **given)
            self.decoupled[name] = (connection, name)

    @cached_property
    def local(self):
        sf.anonymize(self.people, OTHER, output="table:local")
        return (self.people[0], "local")


def assessed(found):
    attacks = [(a.attack, a.column, a.people, a.prior, a.posterior) for a in found.attacks]
    promised = [c.to_dict() for c in found.verdict.checks if c.name not in ("manifest", "metadata")]
    return found.holds, attacks, [each for each in promised if each["name"] not in ONLY_FILES]


ONLY_FILES = ("columns", "file", "files", "data", "data.parquet", "checksum")


def changed(changes):
    """What is said of two releases, whatever they are called."""
    plain = json.loads(json.dumps(changes.to_dict()))
    plain["risk"] = [each for each in plain["risk"] if each["name"] not in OF_A_MANIFEST]
    return {key: part for key, part in plain.items() if key not in ("old", "new")}


OF_A_MANIFEST = [f"promise {name}" for name in ("manifest", "metadata", "columns")]
"""What is checked of a release that stands somewhere, and not of one in memory."""


def drawn(page):
    """The headings and tables of a report, without figures of time and names of places."""
    return [line for line in page.write("markdown").splitlines() if line.startswith("#")]


def attacked(t):
    found = sf.tools.attack(t.people, ["age", "sex"], [sf.attacks.Homogeneity("ill")])
    return [str(each) for each in found]


def compared(t):
    found = sf.compare(t.people, {"a": POLICY, "b": OTHER}, parallel=1)
    return [(p.name, p.losses, p.risks, p.at_risk) for p in found.points]


TASKS = {
    "inspect": lambda t: sf.inspect(t.people, policy=POLICY).to_dict(),
    "draft": lambda t: str(sf.draft(t.people)),
    "attack": attacked,
    "compare": compared,
    "correlations": lambda t: sf.tools.correlations(t.people, policy=POLICY).to_dict(),
    "correlations of a release": lambda t: sf.tools.correlations(t.released).to_dict(),
    "verify a table": lambda t: assessed(sf.verify(t.people, POLICY)),
    "verify": lambda t: assessed(sf.verify(t.released, POLICY, data=t.people, outside=t.people)),
    "verify locally": lambda t: assessed(sf.verify(t.local, OTHER)),
    "detect": lambda t: sf.detect(t.released).to_dict(),
    "breach": lambda t: sf.breach(t.released).to_dict(),
    "utility": lambda t: sf.utility(t.people, t.released, queries=20).to_dict(),
    "compare_utility": lambda t: sf.utility(
        t.people, {"r": t.released, "b": t.decoupled["broken"]}, queries=20, sensitive=["ill"]
    ).to_dict(),
    "explain": lambda t: sf.explain(t.released, KNOWN, data=t.people).to_dict(),
    "estimate": lambda t: sf.estimate(t.released, {"ill": "flu"}, original=t.people).to_dict(),
    "membership": lambda t: sf.tools.membership(t.people, t.released, fakes=50).to_dict(),
    "diff": lambda t: changed(
        sf.diff(t.released, t.decoupled["broken"], policy=POLICY, data=t.people)
    ),
    "report": lambda t: drawn(sf.report(t.released, data=t.people, policy=POLICY)),
}


def of_decoupled(name):
    """What can be asked of a release in several tables, whatever the method."""

    def what(t):
        return t.decoupled[name]

    return {
        f"verify {name}": lambda t: assessed(sf.verify(what(t))),
        f"estimate {name}": lambda t: sf.estimate(what(t), {"ill": "flu", "age": 21}).to_dict(),
        f"utility {name}": lambda t: sf.utility(t.people, what(t), queries=20, **ONE).to_dict(),
        f"explain {name}": lambda t: sf.explain(what(t), {"sex": "f"}).to_dict(),
    }


def merged(t):
    return sorted(map(str, sf.tools.merge(t.decoupled["broken"], columns=["ill"]).to_pylist()))


TASKS |= {
    "detect broken": lambda t: sf.detect(t.decoupled["broken"]).to_dict(),
    "breach broken": lambda t: sf.breach(t.decoupled["broken"], original=t.released).to_dict(),
    "merge broken": merged,
    "report sliced": lambda t: drawn(sf.report(t.decoupled["sliced"])),
}
for each in METHODS:
    TASKS |= of_decoupled(each)


def alike(one, other):
    """Compare plain values; what is computed in another order differs in the last digit."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float) and not math.isnan(one):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return one == other or str(one) == str(other) == "nan"


ASK_WHAT_OTHERS_ASK = {"diff", "compare_utility", "verify locally", "report sliced"}
"""Not run with Spark, where every statement takes its time."""


@pytest.fixture(scope="module")
def expected():
    embedded = Embedded()
    return {name: task(embedded) for name, task in TASKS.items()}


@pytest.mark.usefixtures("patience")
def test_every_task_finds_what_it_finds_in_memory(database, expected):
    stored = Stored(database)
    left_out = ASK_WHAT_OTHERS_ASK if database.name == "spark" else set()
    found = {name: task(stored) for name, task in TASKS.items() if name not in left_out}
    assert [name for name in found if not alike(found[name], expected[name])] == []
    assert not {name for name in database.tables() if name.startswith("sfumato")}
