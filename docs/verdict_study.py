"""How often the verdict is wrong: tables that expose people, and tables with nothing to find.

python -m docs.verdict_study           # a few minutes; writes docs/studies/verdict-study.md
python -m docs.verdict_study --quick   # two tables of each kind, shown and not written

Every table comes from its kind and its seed alone. Whether it exposes anybody is not what was
planted, but what a plain count of it says, which shares no code with the verdict.
"""

import argparse
import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import sfumato as sf
from docs.papers.results import say
from sfumato.decouplings import Decoupling
from sfumato.releases.release import Release
from sfumato.typing import IntArray
from tests.verdict.exact import (
    Counted,
    belief_under_pram,
    count,
    count_groups,
    paired_by_counts,
)
from tests.verdict.published import column_of, edit, grouped_of

TEMPLATE = Path(__file__).with_suffix(".template")
PAGE = Path(__file__).parent / "studies" / "verdict-study.md"
TABLES = 15
"""The number of tables of each kind."""

QUICK = 2
MOST_SECONDS = 1.0
SIZES = (60, 200, 600, 2_000, 6_000, 20_000)
KS = (5, 10, 20, 50, 100)
METHODS = ("full-domain", "mondrian", "top-down")
REGIONS = {"north": ["AX", "BY", "CZ", "DK"], "south": ["EE", "FO", "GR", "HU"]}
QUASI = ("age", "region")


class Drawn(NamedTuple):
    """Something to judge, and what a plain count says of it."""

    what: Any
    policy: Mapping[str, Any] | None
    counted: Counted
    exact: bool = True
    """Whether the people at risk are to be as many as counted."""


Columns = dict[str, list[Any]]


class People(NamedTuple):
    """People with quasi-identifiers as they are and as they are published."""

    raw: Columns
    shown: Columns
    class_id: IntArray
    k: int

    def __len__(self) -> int:
        return len(self.class_id)

    def members(self, at: int) -> IntArray:
        """Return the people of a class."""
        return np.flatnonzero(self.class_id == at)

    def in_turn(self, rng: np.random.Generator, values: int) -> IntArray:
        """Return values of which each class has as many of each as can be, in random order."""
        found = np.zeros(len(self), dtype=np.int64)
        for at in range(self.class_id.max() + 1):
            who = self.members(at)
            found[who] = rng.permutation(np.arange(len(who)) % values)
        return found


def draw_people(
    rng: np.random.Generator,
    *,
    sizes: Sequence[int] = SIZES,
    ks: Sequence[int] = KS,
    methods: Sequence[str] = METHODS,
) -> People:
    """Draw people, and generalise their quasi-identifiers until they are k-anonymous."""
    n = int(rng.choice(sizes))
    k = int(rng.choice([each for each in ks if 6 * each <= n] or [min(ks)]))
    every = [code for codes in REGIONS.values() for code in codes]
    raw: Columns = {
        "age": rng.integers(18, 82, n).tolist(),
        "region": [every[i] for i in rng.integers(0, len(every), n)],
    }
    rules = {
        "age": {
            "role": "quasi-identifier",
            "hierarchy": {"kind": "intervals", "widths": [4, 8, 16, 32]},
        },
        "region": {
            "role": "quasi-identifier",
            "hierarchy": {"kind": "taxonomy", "tree": REGIONS},
        },
    }
    method = str(rng.choice(methods))
    release = sf.anonymize(
        pa.table({**raw, "row": np.arange(n)}),
        {
            "columns": {**rules, "row": "plain"},
            "models": [{"model": "k-anonymity", "k": k}],
            "method": method,
        },
        seed=int(rng.integers(2**31)),
    )
    columns = release.table.to_pydict()
    order = np.argsort(columns["row"])
    shown = {name: [str(columns[name][i]) for i in order] for name in QUASI}
    pairs = [*zip(*shown.values(), strict=True)]
    numbers = {pair: at for at, pair in enumerate(dict.fromkeys(pairs))}
    return People(raw, shown, np.array([numbers[pair] for pair in pairs]), k)


def named(codes: IntArray, name: str) -> list[str]:
    """Return texts for the codes of a column."""
    return [f"{name}{code}" for code in codes.tolist()]


def judged(
    people: People,
    sensitive: Mapping[str, Any],
    *,
    plain: Mapping[str, Any] | None = None,
    seen: Columns | None = None,
    rules: Mapping[str, Mapping[str, Any]] | None = None,
    **told: Any,  # noqa: ANN401 - what the count takes
) -> Drawn:
    """Return a table of generalised people with some other columns, and count it.

    Args:
        people: The people.
        sensitive: The sensitive columns.
        plain: The plain ones.
        seen: Quasi-identifiers as an adversary sees them who looks at all columns; None for as
            they are published.
        rules: What the policy says of sensitive columns.
        told: The same for the count.
    """
    others: Columns = {**sensitive, **(plain or {})}
    columns: dict[str, Any] = dict.fromkeys(QUASI, "quasi-identifier")
    columns |= {name: {"role": "sensitive", **(rules or {}).get(name, {})} for name in sensitive}
    columns |= {name: {"role": "plain", "because": "it is known"} for name in plain or {}}
    policy = {"columns": columns, "models": [{"model": "k-anonymity", "k": people.k}]}
    texts = {
        name: [None if cell is None else str(cell) for cell in cells]
        for name, cells in {**(seen or people.shown), **others}.items()
    }
    counted = count(texts, QUASI, [*sensitive], plain=[*(plain or {})], **told)
    found = Counter(zip(*(texts[name] for name in QUASI), strict=True))
    # Who undoes a label finds fewer people than are promised.
    counted.harmless &= min(found.values()) >= people.k
    return Drawn(pa.table({**people.shown, **others}), policy, counted, seen is None)


# Tables that expose somebody, nearly always: the count decides.


def chance(rng: np.random.Generator) -> Drawn:
    """One of two or three values in classes of five: some have one value by chance."""
    people = draw_people(rng, sizes=SIZES[2:], ks=(5,))
    ill = rng.integers(0, int(rng.integers(2, 4)), len(people))
    return judged(people, {"ill": named(ill, "i")})


def some_classes(rng: np.random.Generator) -> Drawn:
    """Job and illness go together in a tenth of the classes, in each in another way."""
    people = draw_people(rng)
    values = int(rng.integers(3, 6))
    job, ill, debt = (rng.integers(0, values, len(people)) for _ in range(3))
    number = people.class_id.max() + 1
    for at in rng.choice(number, max(1, number // 10), replace=False):
        who = people.members(at)
        ill[who] = rng.permutation(values)[job[who]]
    return judged(
        people, {"ill": named(ill, "i"), "job": named(job, "j"), "debt": named(debt, "d")}
    )


def verbatim(rng: np.random.Generator) -> Drawn:
    """A plain column repeats the sensitive one."""
    people = draw_people(rng)
    ill = named(people.in_turn(rng, 4), "i")
    return judged(people, {"ill": ill}, plain={"note": ill})


def spelling(rng: np.random.Generator) -> Drawn:
    """A plain column has the sensitive one in another spelling, or as a number."""
    people = draw_people(rng)
    ill = people.in_turn(rng, 5)
    note = [f" I-{code} " for code in ill] if rng.random() < 0.5 else (ill * 7 + 3).tolist()
    return judged(people, {"ill": named(ill, "i")}, plain={"note": note})


def nearly_a_drug(rng: np.random.Generator) -> Drawn:
    """The drug tells the illness of all but one in a thousand."""
    people = draw_people(rng)
    ill = people.in_turn(rng, 4)
    odd = rng.random(len(people)) < 0.001
    drug = np.where(odd, rng.integers(0, 4, len(people)), ill)
    return judged(people, {"ill": named(ill, "i"), "drug": named(drug, "d")})


def complement(rng: np.random.Generator) -> Drawn:
    """Nobody in one class has the harmless value: all have one of many others."""
    people = draw_people(rng)
    ill = np.where(rng.random(len(people)) < 0.8, 0, rng.integers(1, 9, len(people)))
    who = people.members(int(rng.integers(people.class_id.max() + 1)))
    ill[who] = 1 + np.arange(len(who)) % 8
    return judged(
        people,
        {"ill": named(ill, "i")},
        rules={"ill": {"harmless": ["i0"], "because": "i0 is healthy"}},
        harmless={"ill": ["i0"]},
    )


def stigma(rng: np.random.Generator) -> Drawn:
    """All of one class have an illness of one category of the hierarchy."""
    people = draw_people(rng)
    ill = people.in_turn(rng, 12)
    who = people.members(int(rng.integers(people.class_id.max() + 1)))
    ill[who] = np.arange(len(who)) % 4
    groups = [[f"i{i}" for i in range(low, low + 4)] for low in (0, 4, 8)]
    tree = {f"group {at}": group for at, group in enumerate(groups)}
    return judged(
        people,
        {"ill": named(ill, "i")},
        rules={"ill": {"hierarchy": {"kind": "taxonomy", "tree": tree}}},
        categories={"ill": groups},
    )


def rare_job(rng: np.random.Generator) -> Drawn:
    """A few people have a job that nobody else has, and all of them the rare illness."""
    people = draw_people(rng)
    ill, job = 1 + people.in_turn(rng, 3), people.in_turn(rng, 2)
    who = rng.choice(len(people), int(rng.integers(2, 9)), replace=False)
    ill[who], job[who] = 0, 9
    return judged(people, {"ill": named(ill, "i")}, plain={"job": named(job, "j")})


def exclusive_or(rng: np.random.Generator) -> Drawn:
    """A plain and a sensitive column tell a third together, and neither does alone."""
    people = draw_people(rng)
    both = people.in_turn(rng, 4)
    job, debt = both // 2, both % 2
    return judged(
        people,
        {"ill": named(job ^ debt, "i"), "debt": named(debt, "d")},
        plain={"job": named(job, "j")},
    )


def odd_person(rng: np.random.Generator) -> Drawn:
    """One person is the only one of a class with two values, which others have one by one."""
    people = draw_people(rng, sizes=SIZES[2:], ks=(50, 100))
    both = people.in_turn(rng, 3)
    job, debt = (both == 1).astype(np.int64), (both == 2).astype(np.int64)
    ill = people.in_turn(rng, 4)
    who = int(rng.integers(len(people)))
    job[who] = debt[who] = 1
    return judged(
        people, {"ill": named(ill, "i"), "job": named(job, "j"), "debt": named(debt, "d")}
    )


def day_number(rng: np.random.Generator) -> Drawn:
    """A day number of birth beside ranges of ages, called a measurement that nobody knows."""
    people = draw_people(rng, ks=(5, 10, 20))
    age = np.array(people.raw["age"])
    born = 22_900 - (age * 365.2425).astype(np.int64) - rng.integers(1, 364, len(age))
    ill = people.in_turn(rng, 5)
    drawn = judged(
        people,
        {"ill": named(ill, "i"), "bdat": born.tolist()},
        seen={**people.shown, "age": people.raw["age"]},
        rules={"bdat": {"known": False, "because": "nobody counts days"}},
        unknown=["bdat"],
    )
    # Days of birth are close together where ages are: ranges of numbers are not counted here.
    drawn.counted.harmless = False
    return drawn._replace(exact=False)


def iso_code(rng: np.random.Generator) -> Drawn:
    """A plain code names the country that was generalised to a part of the continent."""
    people = draw_people(rng, sizes=SIZES[:5], ks=(5, 10), methods=("full-domain", "top-down"))
    ill = people.in_turn(rng, 3)
    code = [f"{name}/{ord(name[0])}" for name in people.raw["region"]]
    return judged(
        people,
        {"ill": named(ill, "i")},
        plain={"code": code},
        seen={**people.shown, "region": people.raw["region"]},
    )


def decouple(columns: Mapping[str, Sequence[str]], method: Decoupling | None = None) -> Drawn:
    """Return people whose sensitive columns are published apart, and count their groups."""
    names = [name for name in columns if name not in QUASI]
    # Buckets promise diversity, and groups of people who look alike their size.
    diversity = {"model": "distinct-l-diversity", "column": "ill", "l": 4}
    model = {"model": "k-anonymity", "k": 2} if method is None else diversity
    policy = {
        "columns": {
            **dict.fromkeys(QUASI, "quasi-identifier"),
            **dict.fromkeys(names, "sensitive"),
        },
        "models": [model],
    }
    release = sf.decouple(pa.table(columns), method, policy=policy)
    groups, values = grouped_of(release)
    counted = count_groups(groups, values)
    if len(names) == 2:
        first, second = (values[name] for name in names)
        # Equal counts that nothing but a rule explains: in some group they are not all alike.
        pairs = paired_by_counts(groups, first, second)
        if len(pairs) == len({v for some in second.values() for v in some}) > 1:
            counted.exposed, counted.example = True, f"equal counts: {pairs}"
    return Drawn(release, policy, counted, exact=False)


def few_groups(rng: np.random.Generator) -> Drawn:
    """Illness and drug are one for one, in up to five groups: their counts are equal."""
    number, values = int(rng.integers(1, 6)), int(rng.integers(4, 7))
    people = np.arange(number * int(rng.choice([60, 150, 400]))) % number
    shares = np.array([rng.dirichlet([2.0] * values) for _ in range(number)])
    ill = np.array([rng.choice(values, p=shares[at]) for at in people])
    drug = rng.permutation(values)[ill]
    columns = {"age": named(people, "a"), "region": ["all"] * len(people)}
    return decouple({**columns, "ill": named(ill, "i"), "drug": named(drug, "d")})


def many_groups(rng: np.random.Generator) -> Drawn:
    """Illness and drug are one for one, in many groups."""
    people = draw_people(rng, sizes=(2_000, 6_000), ks=(50, 100))
    ill = rng.integers(0, 5, len(people))
    drug = rng.permutation(5)[ill]
    return decouple({**people.shown, "ill": named(ill, "i"), "drug": named(drug, "d")})


def group_of_one(rng: np.random.Generator) -> Drawn:
    """Published apart, one group still has one value."""
    people = draw_people(rng)
    ill, job = people.in_turn(rng, 4), people.in_turn(rng, 3)
    ill[people.members(int(rng.integers(people.class_id.max() + 1)))] = 2
    return decouple({**people.shown, "ill": named(ill, "i"), "job": named(job, "j")})


def release_of(
    people: People,
    columns: Mapping[str, Any],
    rules: Mapping[str, Any],
    seed: int | None = None,
    folder: Path | None = None,
) -> tuple[Release, dict[str, Any]]:
    """Return a release of generalised people, made with a policy, and the policy."""
    policy = {
        "columns": {**dict.fromkeys(QUASI, "quasi-identifier"), **rules},
        "models": [{"model": "k-anonymity", "k": people.k}],
    }
    table = pa.table({**people.shown, **columns})
    where = {} if folder is None else {"output": folder, "format": "csv"}
    return sf.anonymize(table, policy, seed=seed, **where), policy


def count_release(release: Release, sensitive: Sequence[str]) -> Counted:
    """Count the table of a release as it is published."""
    columns = {name: [*map(str, cells)] for name, cells in release.table.to_pydict().items()}
    return count(columns, QUASI, sensitive)


def odd_under_pram(rng: np.random.Generator) -> Drawn:
    """One class has one value, and chance has changed some of the cells of every class."""
    keep, values = float(rng.choice([0.7, 0.8, 0.9])), 5
    people = draw_people(rng, sizes=SIZES[2:5], ks=(50, 100))
    ill = people.in_turn(rng, values)
    who = people.members(int(rng.integers(people.class_id.max() + 1)))
    ill[who] = 1
    rule = {"role": "sensitive", "perturb": {"kind": "pram", "keep": keep}}
    release, policy = release_of(people, {"ill": named(ill, "i")}, {"ill": rule}, 1)
    shown = release.table.to_pydict()
    pairs = Counter(zip(*(shown[name] for name in (*QUASI, "ill")), strict=True))
    odd = tuple(people.shown[name][who[0]] for name in QUASI)
    belief = belief_under_pram(pairs[(*odd, "i1")], len(who), values, keep)
    exposed = belief >= 0.8 and (ill == 1).mean() <= 0.45
    counted = Counted({}, exposed=exposed, harmless=belief < 0.4, example=f"{belief:.2f}")
    return Drawn(release, policy, counted, exact=False)


def near_exact_pram(rng: np.random.Generator) -> Drawn:
    """The drug tells the illness, of which chance changes one cell in a thousand."""
    people = draw_people(rng)
    ill = people.in_turn(rng, 4)
    rule = {"role": "sensitive", "perturb": {"kind": "pram", "keep": 0.999}}
    columns = {"ill": named(ill, "i"), "drug": named(ill, "d")}
    release, policy = release_of(people, columns, {"ill": rule, "drug": "sensitive"}, 1)
    return Drawn(release, policy, count_release(release, ["ill", "drug"]), exact=False)


def noise_of_one(rng: np.random.Generator) -> Drawn:
    """Pay in thousands tells the illness; noise of one changes nothing of that."""
    people = draw_people(rng)
    ill = people.in_turn(rng, 4)
    pay = (ill + 1) * 1000
    rule = {"role": "sensitive", "perturb": {"kind": "noise", "sd": 1}}
    columns = {"ill": named(ill, "i"), "pay": pay.tolist()}
    release, policy = release_of(people, columns, {"ill": "sensitive", "pay": rule}, 1)
    shown = release.table.to_pydict()
    seen = {**shown, "pay": [str(round(each / 1000)) for each in shown["pay"]]}
    return Drawn(release, policy, count(seen, QUASI, ["ill", "pay"]), exact=False)


def false_claim(rng: np.random.Generator) -> Drawn:
    """A manifest says that chance has changed what it has not: one class has one value."""
    people = draw_people(rng, sizes=SIZES[:4])
    ill = people.in_turn(rng, 4)
    ill[people.members(int(rng.integers(people.class_id.max() + 1)))] = 2
    with TemporaryDirectory() as folder:
        place = Path(folder)
        given = {"ill": named(ill, "i")}
        release, _ = release_of(people, given, {"ill": "sensitive"})
        release_of(people, given, {"ill": "sensitive"}, folder=place / "a")
        keep = float(rng.choice([0.05, 0.3, 0.6]))
        claim = [{"kind": "pram", "keep": keep}]
        edit(place / "a", place / "b", lambda m: column_of(m, "ill").update(perturbed=claim))
        table, manifest = (place / "b" / n for n in ("data.csv", "manifest.json"))
        held = {n.name: n.read_text(encoding="utf-8") for n in (table, manifest)}
    counted = count_release(release, ["ill"])
    # A claim that the cells contradict is never a yes.
    counted.harmless = False
    return Drawn(held, None, counted, exact=False)


# Tables in which nothing is to be found, nearly always: the count decides.


def binary(rng: np.random.Generator) -> Drawn:
    """Two or three columns of two values, independent, in classes of a hundred and more."""
    people = draw_people(rng, sizes=SIZES[3:], ks=(100,))
    names = ("ill", "job", "debt")[: int(rng.integers(2, 4))]
    values = {name: named(rng.integers(0, 2, len(people)), name) for name in names}
    return judged(people, values)


def even(rng: np.random.Generator) -> Drawn:
    """Many values, of which each class has about as many of each."""
    people = draw_people(rng, ks=(10, 20, 50, 100))
    ill = people.in_turn(rng, int(rng.integers(5, 10)))
    return judged(people, {"ill": named(ill, "i")})


def stratified(rng: np.random.Generator) -> Drawn:
    """Every class has the same shares: of one column, or of all combinations of up to four."""
    people = draw_people(rng, sizes=SIZES[2:], ks=(50, 100))
    both = people.in_turn(rng, 16)
    names = ("ill", "job", "debt", "car")[: int(rng.integers(1, 5))]
    return judged(people, {name: named(both >> at & 1, name) for at, name in enumerate(names)})


def apart(rng: np.random.Generator) -> Drawn:
    """Independent columns that are published apart, in many groups or in buckets."""
    people = draw_people(rng, sizes=SIZES[3:5], ks=(50, 100))
    if rng.random() < 0.5:
        ill = people.in_turn(rng, 8)
        return decouple({**people.shown, "ill": named(ill, "i")}, sf.decouplings.Anatomy(4))
    ill, job, debt = (rng.integers(0, each, len(people)) for each in (3, 3, 4))
    columns = {"ill": named(ill, "i"), "job": named(job, "j"), "debt": named(debt, "d")}
    return decouple({**people.shown, **columns})


def diverse(rng: np.random.Generator) -> Drawn:
    """One sensitive column, whose shares the policy limits in every class."""
    n, k = int(rng.choice(SIZES[2:5])), int(rng.choice([10, 20]))
    columns = {
        "age": rng.integers(18, 82, n).tolist(),
        "region": named(rng.integers(0, 4, n), "r"),
        "ill": named(rng.integers(0, 6, n), "i"),
    }
    ages = {"kind": "intervals", "widths": [8, 32]}
    policy = {
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": ages},
            "region": {"role": "quasi-identifier", "hierarchy": "star"},
            "ill": "sensitive",
        },
        "models": [{"model": "alpha-k-anonymity", "column": "ill", "alpha": 0.45, "k": k}],
        "method": str(rng.choice(["mondrian", "top-down"])),
    }
    table = pa.table(columns)
    release = sf.anonymize(table, policy, seed=int(rng.integers(2**31)))
    return Drawn(release.table, policy, count_release(release, ["ill"]))


def nothing_sensitive(rng: np.random.Generator) -> Drawn:
    """Quasi-identifiers and nothing else."""
    people = draw_people(rng)
    return judged(people, {})


def said_harmless(rng: np.random.Generator) -> Drawn:
    """Classes differ in a value that is harmless, for a reason, and in nothing else."""
    people = draw_people(rng, ks=(20, 50, 100))
    ill = 1 + people.in_turn(rng, 8) % 4
    some = rng.random(people.class_id.max() + 1)[people.class_id]
    ill = np.where(rng.random(len(people)) < 0.5 * some, 0, ill)
    return judged(
        people,
        {"ill": named(ill, "i")},
        rules={"ill": {"harmless": ["i0"], "because": "i0 is healthy"}},
        harmless={"ill": ["i0"]},
    )


def not_known(rng: np.random.Generator) -> Drawn:
    """Two columns that tell each other, and that nobody knows, for a reason."""
    people = draw_people(rng, ks=(10, 20, 50, 100))
    ill = people.in_turn(rng, 5)
    rule = {"known": False, "because": "only the laboratory has it"}
    return judged(
        people,
        {"ill": named(ill, "i"), "protein": named(ill, "p")},
        rules={"ill": rule, "protein": rule},
        unknown=["ill", "protein"],
    )


Draw = Callable[[np.random.Generator], Drawn]

LEAKS: dict[str, Draw] = {
    "one value by chance": chance,
    "one tells another in some classes": some_classes,
    "a plain copy": verbatim,
    "a copy in other words": spelling,
    "a drug for all but one in a thousand": nearly_a_drug,
    "no harmless value": complement,
    "one category of the hierarchy": stigma,
    "a rare job": rare_job,
    "two tell a third": exclusive_or,
    "one person with two values": odd_person,
    "a day number beside ages": day_number,
    "a code beside regions": iso_code,
    "equal counts in few groups": few_groups,
    "equal counts in many groups": many_groups,
    "a group with one value": group_of_one,
    "an odd class under PRAM": odd_under_pram,
    "a thousandth of PRAM": near_exact_pram,
    "noise of one": noise_of_one,
    "a false claim of chance": false_claim,
}

HARMLESS: dict[str, Draw] = {
    "two values each, large classes": binary,
    "many values, spread evenly": even,
    "the same shares in all classes": stratified,
    "independent, published apart": apart,
    "shares limited by the policy": diverse,
    "nothing sensitive": nothing_sensitive,
    "harmless values": said_harmless,
    "unknown to others": not_known,
}

KINDS = {**LEAKS, **HARMLESS}


class Result(NamedTuple):
    """What came out for one table."""

    kind: str
    seed: int
    truth: str
    """Exposed, harmless or between, as counted."""

    answer: str
    rows: int
    seconds: float
    same: bool | None
    """Whether as many people are at risk as counted; None where that is not to be."""


def draw(kind: str, seed: int) -> Drawn:
    """Return a table of a kind."""
    return KINDS[kind](np.random.default_rng([zlib.crc32(kind.encode()), seed]))


def judge(kind: str, seed: int) -> Result:
    """Draw a table, count it, and ask for the verdict."""
    drawn = draw(kind, seed)
    what = drawn.what
    with TemporaryDirectory() as folder:
        if isinstance(what, dict):
            for name, text in what.items():
                (Path(folder) / name).write_text(text, encoding="utf-8")
            what = folder
        start = perf_counter()
        found = sf.verify(what, drawn.policy)
        seconds = perf_counter() - start
    rows = getattr(what, "num_rows", 0)
    same = found.at_risk == drawn.counted.at_risk if drawn.exact else None
    return Result(kind, seed, drawn.counted.kind, found.answer, rows, seconds, same)


def study(tables: int = TABLES, kinds: Sequence[str] = tuple(KINDS)) -> list[Result]:
    """Run the study; what is wrong goes to stderr."""
    right = {"exposed": "no", "harmless": "yes"}
    results = []
    for kind in kinds:
        for seed in range(tables):
            one = judge(kind, seed)
            results.append(one)
            if one.answer != right.get(one.truth, one.answer) or one.same is False:
                say(json.dumps(one._asdict()))
    return results


def share(results: Sequence[Result], truth: str, answer: str) -> float:
    """Return the share of tables of which the count says one thing with an answer."""
    mine = [one for one in results if one.truth == truth]
    return sum(one.answer == answer for one in mine) / max(len(mine), 1)


def page(results: Sequence[Result]) -> str:
    """Return the page."""
    exact = [one for one in results if one.same is not None]
    return TEMPLATE.read_text(encoding="utf-8").format(
        tables=len(results),
        leaks=len(LEAKS),
        harmless_kinds=len(HARMLESS),
        exposed_no=f"{100 * share(results, 'exposed', 'no'):.1f} %",
        harmless_yes=f"{100 * share(results, 'harmless', 'yes'):.1f} %",
        exposed=_rows(results, "exposed"),
        harmless=_rows(results, "harmless"),
        between=_rows(results, "between"),
        counted=len(exact),
        same=sum(bool(one.same) for one in exact),
        seconds=f"{median(one.seconds for one in results):.2f}",
    )


def _rows(results: Sequence[Result], truth: str) -> str:
    by_kind: dict[str, Counter[str]] = defaultdict(Counter)
    for one in results:
        if one.truth == truth:
            by_kind[one.kind][one.answer] += 1
    return "\n".join(
        f"| {kind} | {said.total()} | {said['yes']} | {said['with care']} | {said['no']} |"
        for kind, said in by_kind.items()
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=TABLES, help="how many of each kind")
    parser.add_argument("--quick", action="store_true", help="few tables; show the page")
    parser.add_argument("--show", action="store_true", help="show the page, do not write it")
    parser.add_argument("--kind", choices=[*KINDS], action="append", help="only these kinds")
    given = parser.parse_args(arguments)
    kinds = tuple(given.kind or KINDS)
    text = page(study(QUICK if given.quick else given.tables, kinds))
    if given.show or given.quick or given.kind:
        say(text)
    else:
        PAGE.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
