"""The worked examples of the sources, beside print: run through the public functions.

Every table and figure on the page is computed when the page is written; a test writes it again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

import pyarrow as pa

import sfumato as sf
from docs.generator.markdown import table as markdown
from docs.papers.data import CATEGORIES
from docs.papers.results import HERE
from sfumato import samples
from sfumato.attacks import Homogeneity, Similarity
from sfumato.hierarchy import HierarchyBuilder, Intervals, Masking, Taxonomy
from sfumato.hierarchy.labels import respell
from sfumato.models import (
    AverageRisk,
    CategoryShare,
    DistinctLDiversity,
    EnhancedPAlphaSensitiveKAnonymity,
    EntropyLDiversity,
    KAnonymity,
    PAlphaSensitiveKAnonymity,
    ProbabilisticLDiversity,
    PSensitiveKAnonymity,
    TCloseness,
)
from sfumato.partition import Mondrian, TopDown
from sfumato.recode.lattice import JudgedLattice, Sublattice
from sfumato.releases.release import DecoupledRelease
from sfumato.study.trace import Trace
from sfumato.tasks.hierarchies import ValueTrees

TEMPLATE = HERE / "examples.template"

Row: TypeAlias = tuple[str, ...]

KNOWN, SECRET = "quasi-identifier", "sensitive"


def page() -> str:
    """Run every example, and fill the words of the template with what came out."""
    words = TEMPLATE.read_text(encoding="utf-8")
    return words.format(**{name: make() for name, make in PARTS.items()})


@dataclass(frozen=True)
class Beside:
    """A printed table beside ours: which rows, and how many of each."""

    columns: Row
    printed: Counter[Row]
    ours: Counter[Row]

    @property
    def same(self) -> bool:
        """Tell whether ours is the printed one."""
        return self.printed == self.ours

    def __str__(self) -> str:
        rows = []
        for row in dict.fromkeys([*self.printed, *self.ours]):
            there, here = self.printed[row], self.ours[row]
            mark = "" if there == here else " ✗"
            rows.append([*map(_cell, row), str(there), f"{here}{mark}"])
        return markdown([*self.columns, "printed", "ours"], rows)


def beside(printed: Iterable[Row], ours: pa.Table) -> Beside:
    """Put printed rows beside those of a table."""
    return Beside(tuple(ours.column_names), Counter(printed), Counter(rows_of(ours)))


def rows_of(table: pa.Table) -> list[Row]:
    """Give the rows of a table."""
    return list(zip(*table.to_pydict().values(), strict=True))


def _cell(text: str) -> str:
    return text.replace("*", "\\*").replace("<", "&lt;").replace(">", "&gt;")


def percent(share: float) -> str:
    """Write a share in per cent.

    >>> percent(0.5), percent(2 / 3)
    ('50 %', '66.7 %')
    """
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def _policy(
    hierarchies: Mapping[str, HierarchyBuilder | None],
    secret: Sequence[str],
    *models: Any,  # noqa: ANN401 - any privacy model
    **settings: Any,  # noqa: ANN401 - whatever else a policy has
) -> sf.Policy:
    columns: dict[str, Any] = {
        name: KNOWN if tree is None else {"role": KNOWN, "hierarchy": tree}
        for name, tree in hierarchies.items()
    }
    columns |= dict.fromkeys(secret, SECRET)
    return sf.Policy(columns=columns, models=list(models), other="dropped", **settings)


def _bands(table: pa.Table, label: Callable[[int], str]) -> Taxonomy:
    """Make a tree of the ages of a table, with the labels that are printed."""
    tree: dict[str, list[str]] = {}
    for age in sorted(set(table["age"].to_pylist())):
        tree.setdefault(label(int(age)), []).append(age)
    return Taxonomy(tree)


def _table(columns: Sequence[str], rows: Iterable[Row]) -> pa.Table:
    return pa.table(
        [pa.array(cells, pa.string()) for cells in zip(*rows, strict=True)], names=list(columns)
    )


def _believed(
    release: object,
    person: Mapping[str, str],
    about: str,
    value: str,
    **options: Any,  # noqa: ANN401 - what `sf.explain` takes
) -> tuple[float, float]:
    """Give how surely a value is believed before and after a release, by one who knows a person."""
    belief = sf.explain(release, person, column=about, **options).belief(about)
    at = belief.values.index(value)
    return belief.prior[at], belief.posterior[at]


def _found(verdict: Any, name: str) -> Mapping[str, Any]:  # noqa: ANN401 - an assessment
    """Give what a check of a verdict measured."""
    return next(dict(check.found) for check in verdict.checks if check.name == name)


# The articles (A, B).

CENSUS = ("age", "gender", "zipcode")
CENSUS_SECRET = ("government", "marital_status", "salary")


def census(seed: int | None = 0) -> sf.Release:
    """Anonymise Table I."""
    policy = _policy(
        dict.fromkeys(CENSUS),
        CENSUS_SECRET,
        KAnonymity(5),
        *(DistinctLDiversity(name, 2) for name in CENSUS_SECRET),
    )
    method = Mondrian(exact_bounds=True)
    return sf.anonymize(samples.table("census-raw"), policy, method=method, seed=seed)


@cache
def answers() -> tuple[str, str]:
    """Ask whether Table II may be published, and what comes of it by Break-Merge."""
    # Nothing that is drawn with a seed may.
    release = census(None)
    return sf.verify(release).answer, sf.verify(sf.decouple(release, "break-merge")).answer


def table_ii() -> Beside:
    """Put Table II beside what comes of Table I; ranges are written as we write them."""
    printed = [
        tuple(respell(cell.strip("[]")) for cell in row) for row in rows_of(samples.table("census"))
    ]
    return beside(printed, census().table)


def _census_beliefs() -> str:
    """Write what is believed of two people, in one piece and after breaking."""
    release = census()
    broken = sf.decouple(release, "break-merge", seed=0)
    cases = (
        ("F", "State-gov", (("marital_status", "Never-Married"), ("salary", "<=50K"))),
        ("M", "Private", (("marital_status", "Married"), ("salary", ">50K"))),
    )
    said = {("F", "marital_status"): "1/2", ("F", "salary"): "1/2"}
    rows = []
    for gender, work, values in cases:
        knows = {"is": {"government": work}}
        for column, value in values:
            before = _believed(release, {"gender": gender}, column, value, knows=knows)[1]
            after = _believed(broken, {"gender": gender}, column, value, knows=knows)[1]
            rows.append(
                [
                    f"{gender}, {work}",
                    _cell(f"{column} = {value}"),
                    "100 %",
                    percent(before) + ("" if before == 1 else " ✗"),
                    said.get((gender, column), ""),
                    percent(after) + (" ✗" if (gender, column) in said else ""),
                ]
            )
    heads = ["known", "believed", "printed", "in Table II", "printed after breaking", "ours"]
    return markdown(heads, rows)


LAWS = (
    "Property 1: knowing the group = knowing the value · knowing both",
    "Corollary 1: knowing both tells at least as much as the group",
    "Property 2: at least 1/|G|³",
    "Lemma 1: at least 1/(c · |G|²)",
)


def laws() -> list[tuple[int, int]]:
    """Count in how many cases each law of A holds: every group, known value and guess."""
    table = samples.table("census")
    exposure = sf.breach(table, quasi_identifiers=CENSUS, sensitive=CENSUS_SECRET)
    rows = table.to_pylist()
    held = [0] * len(LAWS)
    cases = 0
    for who in {tuple(row[name] for name in CENSUS) for row in rows}:
        labels = dict(zip(CENSUS, who, strict=True))
        group = [row for row in rows if tuple(row[name] for name in CENSUS) == who]
        for column in CENSUS_SECRET:
            for value, people in Counter(row[column] for row in group).items():
                person = exposure.person(labels, {column: value})
                for guess in person.likeliest(100):
                    both, alone = guess.probability, person.group_only(guess)
                    size = len(group)
                    laws_of = (
                        alone == both * person.known_share,
                        both >= alone,
                        alone >= Fraction(1, size**3),
                        both >= Fraction(1, people * size**2),
                    )
                    held = [n + holds for n, holds in zip(held, laws_of, strict=True)]
                    cases += 1
    return [(n, cases) for n in held]


def _laws() -> str:
    rows = [
        [_cell(law), f"{held} of {cases}"] for law, (held, cases) in zip(LAWS, laws(), strict=True)
    ]
    return markdown(["after breaking", "holds in"], rows)


# The slicing paper (C).

PATIENTS_13 = [
    *[("476**", "2*", "Heart Disease")] * 3,
    ("4790*", "≥40", "Flu"),
    ("4790*", "≥40", "Heart Disease"),
    ("4790*", "≥40", "Cancer"),
    ("476**", "3*", "Heart Disease"),
    *[("476**", "3*", "Cancer")] * 2,
]
"""Table 1.3."""


@cache
def patients() -> tuple[sf.Policy, sf.Release]:
    """Anonymise Table 1.2."""
    table = samples.table("patients")
    policy = _policy(
        {
            "zipcode": Masking(),
            "age": _bands(table, lambda age: "≥40" if age >= 40 else f"{age // 10}*"),
        },
        ["disease"],
        KAnonymity(3),
    )
    return policy, sf.anonymize(table, policy, method="mondrian", seed=0)


def table_13() -> Beside:
    """Put Table 1.3 beside what comes of Table 1.2."""
    return beside(PATIENTS_13, patients()[1].table)


def _example_131() -> str:
    policy, release = patients()
    bob = {"age": "27", "zipcode": "47678"}
    carl = {"age": "36", "zipcode": "47673"}
    heart, cancer = "Heart Disease", "Cancer"
    without = {"not": heart}
    rows = [
        ["Bob, 27, 47678", "", heart, "must have it", bob, {}],
        ["Carl, of the last group", "", cancer, "", carl, {}],
        ["Carl, of the last group", f"not {heart}", cancer, "most likely", carl, without],
    ]
    told = []
    for who, known, value, printed, person, knows in rows:
        options = {"policy": policy, "knows": knows}
        before, after = _believed(release, person, "disease", value, **options)  # type: ignore[arg-type]
        told.append([who, known, value, printed, percent(before), percent(after)])
    return markdown(["who", "known besides", "believed", "printed", "before", "after"], told)  # type: ignore[arg-type]


WORK = Taxonomy(
    {
        "Workclass": {
            "Government": ["Federal-gov", "Local-gov", "State-gov"],
            "Private sector": ["Private"],
            "Unemployed": ["Never-worked", "Without-pay"],
        }
    }
)
"""Figure 1.1 as far as the text names it, and one branch more."""


WORKERS = [
    *(("State-gov", "Local-gov", "Federal-gov", "Private") * 3),
    "Without-pay",
    "Without-pay",
    "Never-worked",
]
"""People of whom only those without pay are too few."""

LABELS = {
    "State-gov": "State-gov",
    "Local-gov": "Local-gov",
    "Federal-gov": "Federal-gov",
    "Without-pay": "Unemployed",
    "Never-worked": "Unemployed",
}
"""What C says regional recoding may make of them."""


def regional() -> dict[str, str]:
    """Recode them regionally, 3-anonymously, and give the label of each value."""
    policy = _policy({"work": WORK}, [], KAnonymity(3))
    table = _table(("work",), [(work,) for work in WORKERS])
    labels = {label for (label,) in rows_of(sf.anonymize(table, policy, method="regional").table)}
    above = {work: group for group, below in WORK.tree["Workclass"].items() for work in below}
    return {work: work if work in labels else above[work] for work in dict.fromkeys(WORKERS)}


def _regional() -> str:
    rows = [[work, LABELS.get(work, ""), label] for work, label in regional().items()]
    return markdown(["value", "in print", "ours"], rows)


def _work() -> ValueTrees:
    """Build the tree for people who have every value of it."""
    table = _table(("work",), [(work,) for work in WORKERS])
    return sf.tools.hierarchies(table, _policy({"work": WORK}, [], KAnonymity(2)))


def local_recoding() -> list[Row]:
    """Recode six people so that State-gov gets three labels."""
    rows = [("Private", "flu"), ("Local-gov", "flu"), ("State-gov", "flu")]
    rows += [("State-gov", "gout")] * 3
    policy = _policy({"work": WORK}, ["ill"], KAnonymity(2), DistinctLDiversity("ill", 2))
    found = sf.anonymize(_table(("work", "ill"), rows), policy, method=TopDown(), seed=0)
    return sorted(rows_of(found.table))


def _local_recoding() -> str:
    counted = Counter(label for label, _ in local_recoding())
    given = {"Workclass": "Private, State-gov", "Government": "Local-gov, State-gov"}
    rows = [
        [label, given.get(label, "State-gov, State-gov"), str(n)] for label, n in counted.items()
    ]
    return markdown(["label", "of", "people"], rows)


BUCKETS_15 = (
    {"Ovarian Cancer": 2, "Prostate Cancer": 1},
    {"Flu": 1, "Heart Disease": 2},
    {"Heart Disease": 1, "Flu": 2},
)
"""Table 1.5(b): the diseases of each group. Rows 1 to 3, 4 to 6 and 7 to 9 of Table 1.4 are the
groups of Table 1.5(a)."""


@cache
def buckets() -> dict[str, DecoupledRelease]:
    """Publish Table 1.4 in buckets: the printed ones, and those that Mondrian makes."""
    table = samples.table("bucketization")
    printed = table.append_column("group", pa.array([1, 1, 1, 2, 2, 2, 3, 3, 3]))
    known = {"quasi_identifiers": ["zipcode", "age", "sex"], "sensitive": ["disease"]}
    given = {"method": "bucketization", "column": "group"}
    made = {"method": "bucketization", "partition": "mondrian"}
    return {
        "given": sf.decouple(printed, given, **known, seed=0),
        "made": sf.decouple(table, made, **known, seed=0),
    }


def contents(release: DecoupledRelease) -> list[tuple[list[Row], dict[str, int]]]:
    """Give who is in each bucket and which diseases it has, by the first person."""
    qi, counted = (table.to_pylist() for table in release.tables.values())
    found = []
    for label in {row["bucket"] for row in qi}:
        people = sorted(
            (row["zipcode"], row["age"], row["sex"]) for row in qi if row["bucket"] == label
        )
        ills = {row["disease"]: row["count"] for row in counted if row["bucket"] == label}
        found.append((people, ills))
    return sorted(found, key=lambda each: each[0])


def table_15() -> Beside:
    """Put Table 1.5(b) beside ours; groups are told apart by the people that 1.5(a) has in them."""
    rows = [tuple(row.values())[:3] for row in samples.table("bucketization").to_pylist()]
    groups = {
        tuple(sorted(rows[3 * at : 3 * at + 3])): str(at + 1) for at in range(len(BUCKETS_15))
    }
    printed = {
        (str(at), ill): n for at, ills in enumerate(BUCKETS_15, 1) for ill, n in ills.items()
    }
    ours = {
        (groups.get(tuple(people), "?"), ill): n
        for people, ills in contents(buckets()["given"])
        for ill, n in ills.items()
    }
    return Beside(("group", "disease"), Counter(printed), Counter(ours))


def _made_buckets() -> str:
    rows = [
        [
            ", ".join(f"{age} {sex}" for _, age, sex in people),
            ", ".join(f"{ill} {n}" for ill, n in sorted(ills.items())),
        ]
        for people, ills in contents(buckets()["made"])
    ]
    return markdown(["people (age, sex)", "diseases"], rows)


# The thesis (D).


def _linked() -> str:
    """Link Table 1.2 with Table 1.3."""
    known = ("zipcode", "age", "gender", "nationality")
    told = samples.table("hospital").drop_columns(["name"])
    verdict = sf.verify(
        told,
        quasi_identifiers=known,
        sensitive=["condition"],
        outside=samples.table("driving-record"),
        attacks=["linking"],
    )
    [outcome] = [one for one in verdict.attacks if one.settings.get("view") == "journalist"]
    rajesh = {"zipcode": "24078", "age": "26", "nationality": "Indian"}
    before, after = _believed(
        told, rajesh, "condition", "HIV", quasi_identifiers=known, sensitive=["condition"]
    )
    rows = [
        ["rows that are linked with a name", "1 (Rajesh)", str(outcome.people)],
        ["Rajesh has HIV", "certain", f"{percent(after)}, {percent(before)} before"],
    ]
    return markdown(["", "printed", "ours"], rows)


WARD_22 = [("240**", "<40", "*", ill) for ill in ("HIV", "Fever", "Indigestion", "Hepatitis")]
"""Table 2.2."""


def table_22() -> Beside:
    """Put Table 2.2 beside what comes of Table 2.1."""
    table = samples.table("ward")
    policy = _policy(
        {"zipcode": Masking(), "age": _bands(table, lambda age: "<40"), "nationality": None},  # noqa: ARG005
        ["condition"],
        KAnonymity(4),
    )
    return beside(WARD_22, sf.anonymize(table, policy, seed=0).table)


TABLE_23 = _table(
    ("race", "marital_status", "age"),
    [
        *[("Asian", "Been married", "[45-50]")] * 3,
        *[("Black", "Never married", "[20-25]")] * 2,
        *[("White", "Been married", "[45-50]")] * 3,
    ],
)
"""The thesis's "3-anonymized data", sorted."""


def smallest_class() -> int:
    """Find out how many people the smallest class of Table 2.3 has."""
    return sf.inspect(TABLE_23, quasi_identifiers=TABLE_23.column_names).classes.smallest


def _counted_23() -> str:
    counted = Counter(rows_of(TABLE_23))
    rows = [[*row, "3", f"{n}{'' if n == 3 else ' ✗'}"] for row, n in counted.items()]
    return markdown([*TABLE_23.column_names, "printed count", "ours"], rows)


VECTOR = ("race", "marital_status", "age")
TABLE_24 = _table(
    VECTOR, [("Asian", "Married", "47"), ("Black", "Single", "21"), ("Asian", "Married", "49")]
)
"""Table 2.4."""

TABLE_25 = [*[("Asian", "Been married", "45 to 50")] * 2, ("Black", "Never married", "20 to 25")]
"""Table 2.5, with ranges as we write them."""


def vector() -> tuple[tuple[int, ...], pa.Table]:
    """Generalise Table 2.4 by the vector [0, 1, 1], and give the levels that were taken."""
    trees: dict[str, Any] = {
        "race": {"role": KNOWN, "levels": [0, 0]},
        "marital_status": {
            "role": KNOWN,
            "levels": [1, 1],
            "hierarchy": MARITAL,
        },
        "age": {"role": KNOWN, "levels": [1, 1], "hierarchy": Intervals(widths=(5,))},
    }
    release = sf.anonymize(TABLE_24, sf.Policy(columns=trees, models=[AverageRisk(0.67)]), seed=0)
    return tuple(release.levels[name] for name in VECTOR), release.table


def _vector_table() -> str:
    levels, table = vector()
    shown = beside(
        [(*row[:2], row[2].replace("50", "49").replace("25", "24")) for row in TABLE_25], table
    )
    return f"Levels taken: {list(levels)}.\n\n{shown}"


MARITAL = Taxonomy({"Been married": ["Divorced", "Married", "Widow"], "Never married": ["Single"]})
TREES_2 = {
    "race": Taxonomy(["Asian", "Black", "White"]),
    "marital_status": MARITAL,
    "age": Intervals(widths=(5,)),
    "gender": Taxonomy({"Gender": ["Female", "Male"]}),
}
"""Figures 2.1 to 2.7, as far as tables and text say."""


@cache
def trees() -> ValueTrees:
    """Build the trees of chapter 2 for people who have every value."""
    rows = [
        ("Asian", "Married", "47", "Female"),
        ("Black", "Single", "21", "Male"),
        ("White", "Divorced", "49", "Female"),
        ("White", "Widow", "23", "Male"),
    ]
    return sf.tools.hierarchies(_table(tuple(TREES_2), rows), _policy(TREES_2, [], KAnonymity(2)))


def _trees() -> str:
    named = {
        "race": ("2.3, 2.4", "Asian, Black, White"),
        "marital_status": ("2.1, 2.2", "Been married, Never married"),
        "age": ("2.5", "[20-25], [45-50]"),
        "gender": ("2.6, 2.7", "Gender"),
    }
    rows = []
    for tree in trees():
        figure, printed = named[tree.column]
        levels = "; ".join(_cell(", ".join(labels)) for labels in tree.labels[1:])
        rows.append([figure, tree.column, printed, str(tree.height + 1), levels])
    return markdown(["figures", "column", "named in print", "levels", "above the values"], rows)


@cache
def figure_28() -> JudgedLattice:
    """Judge the lattice of race and marital status, of Table 2.4 without the ages."""
    two = {"race": None, "marital_status": MARITAL}
    return sf.tools.lattice(TABLE_24, _policy(two, [], KAnonymity(2), suppression=0.4))


def levels_28() -> dict[int, list[tuple[int, ...]]]:
    """Give the vectors of each level of the lattice."""
    found: dict[int, list[tuple[int, ...]]] = {}
    for each in figure_28():
        found.setdefault(sum(each.node), []).append(each.node)
    return found


def _levels_28() -> str:
    printed = {0: "[0, 0]", 1: "[0, 1], [1, 0]", 2: "", 3: "[1, 2]"}
    rows = [
        [str(level), printed[level], ", ".join(str(list(node)) for node in nodes)]
        for level, nodes in sorted(levels_28().items())
    ]
    return markdown(["lattice level", "named in print", "ours"], rows)


HOMOGENEITY_32 = [
    *[("240**", "3*", "*", "Viral Infection")] * 4,
    *[("240**", "< 30", "*", "Hepatitis")] * 2,
    *[("240**", "< 30", "*", "Headache")] * 2,
    *[("2596*", "> 40", "*", "Heart Disease")] * 2,
    *[("2596*", "> 40", "*", "Cancer")] * 2,
]
"""Table 3.2."""


@cache
def hospital() -> tuple[sf.Policy, sf.Release]:
    """Anonymise Table 3.1."""
    table = samples.table("homogeneity")

    def label(age: int) -> str:
        return "< 30" if age < 30 else "3*" if age < 40 else "> 40"

    policy = _policy(
        {"zipcode": Masking(), "age": _bands(table, label), "nationality": None},
        ["condition"],
        KAnonymity(4),
    )
    return policy, sf.anonymize(table, policy, method="mondrian", seed=0)


def table_32() -> Beside:
    """Put Table 3.2 beside what comes of Table 3.1."""
    return beside(HOMOGENEITY_32, hospital()[1].table)


def _neighbours() -> str:
    policy, release = hospital()
    david = {"zipcode": "24064", "age": "39", "nationality": "Chinese"}
    liza = {"zipcode": "25961", "age": "41", "nationality": "Japanese"}
    cases: list[tuple[str, str, str, str, dict[str, str], dict[str, Any]]] = [
        ("David, 39, 24064", "", "Viral Infection", "is a patient of it", david, {}),
        ("Liza, 41, 25961", "", "Cancer", "not clear", liza, {}),
        (
            "Liza, 41, 25961",
            "not Heart Disease",
            "Cancer",
            "near certain",
            liza,
            {"not": "Heart Disease"},
        ),
    ]
    rows = []
    for who, known, value, printed, person, knows in cases:
        before, after = _believed(release, person, "condition", value, policy=policy, knows=knows)
        rows.append([who, known, value, printed, percent(before), percent(after)])
    return markdown(["who", "known besides", "believed", "printed", "before", "after"], rows)


def _betrayed() -> str:
    [finding] = sf.tools.attack(
        hospital()[1].table, ["zipcode", "age", "nationality"], [Homogeneity("condition")]
    )
    return f"{finding.rows} of {int(finding.class_rows.sum())}"


def students(failed: int, passed: int) -> pa.Table:
    """Make 2 000 exams, of which 1 in 100 was failed; so many of them in a class of their own."""
    rest = ["fail"] * (20 - failed) + ["pass"] * (1980 - passed)
    results = ["fail"] * failed + ["pass"] * passed + rest
    where = ["the class"] * (failed + passed) + ["all others"] * len(rest)
    return pa.table({"group": where, "exam": results})


def _skewness() -> str:
    cases = [("as many passed as failed", students(20, 20), "1 % → 50 %")]
    # 49 failures need 4 900 exams if they are 1 in 100.
    more = pa.table(
        {
            "group": ["the class"] * 50 + ["all others"] * 4850,
            "exam": ["pass"] + ["fail"] * 49 + ["pass"] * 4850,
        }
    )
    cases.append(("1 passed, 49 failed", more, "1 % → 98 %"))
    rows = []
    for what, table, printed in cases:
        verdict = sf.verify(table, quasi_identifiers=["group"], sensitive=["exam"])
        [outcome] = [one for one in verdict.attacks if one.attack == "skewness"]
        worst = outcome.worst[0]
        rows.append(
            [
                what,
                printed,
                f"{percent(round(worst.prior, 4))} → {percent(worst.posterior)}",
                str(worst.level),
                verdict.answer,
            ]
        )
    heads = ["class", "printed", "ours", "harm", "may it be published?"]
    return markdown(heads, rows)


TABLE_33 = _table(
    ("zipcode", "age", "nationality", "disease"),
    [("240**", "< 30", "*", ill) for ill in (*["HIV"] * 8, "Cancer", "Hepatitis")],
)
"""Table 3.3, sorted."""


def _diversities() -> str:
    known = TABLE_33.column_names[:3]
    found = sf.inspect(TABLE_33, quasi_identifiers=known, sensitive=["disease"]).sensitive[0]
    policy = _policy(dict.fromkeys(known), ["disease"], ProbabilisticLDiversity("disease", 2))
    least = _found(sf.verify(TABLE_33, policy, attacks=False), "probabilistic-l-diversity")
    rows = [
        ["distinct l-diversity", "3", str(found.distinct_l)],
        ["HIV is right with", "80 %", percent(found.largest_share)],
        ["probabilistic l-diversity", "", f"{least['l']:g}"],
        ["entropy l-diversity", "", f"{found.entropy_l:.3f}"],
        *(
            [f"recursive (c,{l})-diversity", "", f"for c above {c:g}"]
            for l, c in found.recursive_c.items()
        ),
    ]
    return markdown(["", "printed", "ours"], rows)


SIMILARITY_35 = [
    ("786**", "2*", "60000", "Gastric malignancy"),
    ("786**", "2*", "80000", "Stomach inflammation"),
    ("786**", "2*", "70000", "Gastric ulcer"),
    ("789**", ">50", "40000", "HIV"),
    ("789**", ">50", "100000", "Indigestion"),
    ("789**", ">50", "90000", "Fever"),
    ("786**", "3*", "80000", "Headache"),
    ("786**", "3*", "70000", "Flu"),
    ("786**", "3*", "110000", "Stomach cancer"),
]
"""Table 3.5, numbers without commas."""

STOMACH = Taxonomy(
    {
        "stomach": [
            "Gastric malignancy",
            "Gastric ulcer",
            "Indigestion",
            "Stomach cancer",
            "Stomach inflammation",
        ],
        "other": ["Fever", "Flu", "HIV", "Headache"],
    }
)


@cache
def clinic() -> tuple[sf.Policy, sf.Release]:
    """Anonymise Table 3.4."""
    table = samples.table("similarity")
    policy = _policy(
        {
            "zipcode": Masking(),
            "age": _bands(table, lambda age: ">50" if age > 50 else f"{age // 10}*"),
        },
        ["salary", "condition"],
        KAnonymity(3),
        EntropyLDiversity("condition", 3),
        EntropyLDiversity("salary", 3),
    )
    return policy, sf.anonymize(table, policy, seed=0)


def table_35() -> Beside:
    """Put Table 3.5 beside what comes of Table 3.4."""
    return beside(SIMILARITY_35, clinic()[1].table)


def jan() -> list[Any]:
    """Attack Table 3.5 by what is alike: salaries as `sf.verify` tries it, illnesses by a tree."""
    _, release = clinic()
    verdict = sf.verify(release, attacks=["similarity"])
    policy = sf.Policy(
        columns={
            "zipcode": KNOWN,
            "age": KNOWN,
            "salary": SECRET,
            "condition": {"role": SECRET, "hierarchy": STOMACH},
        },
        models=[KAnonymity(3)],
    )
    organs = sf.verify(release.table, policy, attacks=[Similarity("condition", level=1)])
    return [*verdict.attacks, *organs.attacks]


def _jan() -> str:
    printed = {"salary": "in the range 60,000 to 80,000", "condition": "some stomach disease"}
    rows = []
    for outcome in jan():
        case = next(one for one in outcome.worst if one.who["age"] == "2*")
        rows.append(
            [
                printed[outcome.column],
                case.believed,
                percent(case.prior),
                percent(case.posterior),
                str(case.people),
            ]
        )
    return markdown(["printed of Jan, 29, 78678", "ours", "before", "after", "people"], rows)


HEALTH_38 = [
    *[("253**", "<30", "Europe", ill) for ill in ("Flu", "Indigestion", "Flu", "Indigestion")],
    *[("240**", ">40", "Asia", ill) for ill in ("Hepatitis", "Obesity", "Flu", "Flu")],
    *[("2530*", "3*", "America", ill) for ill in ("HIV", "Cancer", "Cancer", "HIV")],
]
"""Table 3.8."""

CONTINENTS = Taxonomy(
    {
        "Europe": ["Denmark", "France", "Germany"],
        "Asia": ["China", "Japan", "Pakistan"],
        "America": ["Canada", "USA"],
    }
)
ILL = "condition"
HEALTH = ("zipcode", "age", "country")


def _secret_trees(table: pa.Table, label: Callable[[int], str]) -> dict[str, HierarchyBuilder]:
    return {"zipcode": Masking(), "age": _bands(table, label), "country": CONTINENTS}


@cache
def health() -> sf.Release:
    """Anonymise Table 3.6."""
    table = samples.table("health")

    def label(age: int) -> str:
        return "<30" if age < 30 else "3*" if age < 40 else ">40"

    policy = _policy(_secret_trees(table, label), [ILL], PSensitiveKAnonymity(ILL, p=2, k=4))
    return sf.anonymize(table, policy, seed=0)


def table_38() -> Beside:
    """Put Table 3.8 beside what comes of Table 3.6."""
    return beside(HEALTH_38, health().table)


def _judged(table: pa.Table, *models: Any) -> list[tuple[str, bool, Mapping[str, Any]]]:  # noqa: ANN401
    """Hold a table to models, one after the other: which, whether it holds, and what is found."""
    judged = []
    for model in models:
        policy = _policy(dict.fromkeys(HEALTH), [ILL], model)
        verdict = sf.verify(table, policy, attacks=False)
        judged.append((model.name, verdict.holds, _found(verdict, model.name)))
    return judged


PRINTED_38 = _table((*HEALTH, ILL), HEALTH_38)


def _held_38() -> str:
    models = (
        PSensitiveKAnonymity(ILL, p=2, k=4),
        EnhancedPAlphaSensitiveKAnonymity(ILL, p=2, alpha=1, k=4, categories=CATEGORIES),
    )
    rows = []
    for what, table in (("printed", PRINTED_38), ("ours", health().table)):
        [finding] = sf.tools.attack(table, HEALTH, [Similarity(ILL, categories=CATEGORIES)])
        (_, plain, _), (_, enhanced, _) = _judged(table, *models)
        rows.append(
            [
                what,
                _holds(plain),
                _holds(enhanced),
                f"{finding.rows} of {int(finding.class_rows.sum())}",
            ]
        )
    heads = ["table", "2-sensitive 4-anonymous", "enhanced (2,1)-sensitive", "exposed by category"]
    return markdown(heads, rows)


def _holds(yes: bool) -> str:  # noqa: FBT001
    return "yes" if yes else "no"


MIXED_310 = [
    *[("2****", "<50", "*", ill) for ill in ("HIV", "Cancer", "HIV", "Flu")],
    *[("253**", "<40", "America", ill) for ill in ("Hepatitis", "Phthisis", "Asthma", "Obesity")],
]
"""Table 3.10: its two whole groups."""

PRINTED_310 = _table((*HEALTH, ILL), MIXED_310)


def table_310() -> list[tuple[str, bool, Mapping[str, Any]]]:
    """Hold Table 3.10 to the model that it is said to keep, and to stricter ones."""
    options: dict[str, Any] = {"alpha": 1, "k": 4, "categories": CATEGORIES}
    return _judged(
        PRINTED_310,
        PAlphaSensitiveKAnonymity(ILL, p=3, **options),
        EnhancedPAlphaSensitiveKAnonymity(ILL, p=2, **options),
        EnhancedPAlphaSensitiveKAnonymity(ILL, p=3, **options),
        CategoryShare(ILL, share=0.5, categories=CATEGORIES),
    )


def most_secret() -> Any:  # noqa: ANN401 - an outcome
    """Attack Table 3.10 by its categories."""
    policy = _policy(dict.fromkeys(HEALTH), [ILL], KAnonymity(4))
    attack = Similarity(ILL, categories=CATEGORIES)
    [outcome] = sf.verify(PRINTED_310, policy, attacks=[attack]).attacks
    return outcome


def _held_310() -> str:
    asked = (
        "(3,1)-sensitive 4-anonymity",
        "enhanced (2,1)-sensitive 4-anonymity",
        "enhanced (3,1)-sensitive 4-anonymity",
        "no category with more than half of a class",
    )
    printed = ("yes", "", "", "")
    rows = [
        [what, said, _holds(holds), ", ".join(f"{k} = {v:g}" for k, v in found.items())]
        for what, said, (_, holds, found) in zip(asked, printed, table_310(), strict=True)
    ]
    worst = most_secret().worst[0]
    rows.append(
        [
            "first group: most secret",
            "75 %",
            percent(worst.posterior),
            f"{most_secret().people} of 8 people at risk",
        ]
    )
    return markdown(["", "printed", "ours", "measured"], rows)


def mixed() -> sf.Release:
    """Anonymise the eleven rows of Table 3.9 so that they are (3,1)-sensitive 4-anonymous."""
    table = samples.table("health-mixed")
    model = PAlphaSensitiveKAnonymity(ILL, p=3, alpha=1, k=4, categories=CATEGORIES)
    trees = _secret_trees(table, lambda age: "<40" if age < 40 else "<50")
    return sf.anonymize(table, _policy(trees, [ILL], model), method="mondrian", seed=0)


def _mixed_39() -> str:
    counted = Counter(row[:-1] for row in rows_of(mixed().table))
    ills: dict[Row, Counter[str]] = {}
    for row in rows_of(mixed().table):
        ills.setdefault(row[:-1], Counter())[row[-1]] += 1
    rows = [
        [*map(_cell, row), str(n), ", ".join(f"{ill} {m}" for ill, m in sorted(ills[row].items()))]
        for row, n in sorted(counted.items())
    ]
    return markdown([*HEALTH, "people", "conditions"], rows)


def weights() -> list[float]:
    """Weigh each condition of the thesis's example alone, and all of them together."""
    example = ("HIV", "Hepatitis", "Obesity", "Indigestion")
    model = PAlphaSensitiveKAnonymity(ILL, p=2, alpha=0.1, k=2, categories=CATEGORIES)
    found = []
    for ills in (*(((one,) * 2) for one in example), example):
        table = _table((*HEALTH, ILL), [("*", "*", "*", ill) for ill in ills])
        [(_, _, measured)] = _judged(table, model)
        found.append(measured["alpha"] / (2 if len(set(ills)) == 1 else 1))
    return found


def _weighed() -> str:
    names = ("HIV", "Hepatitis", "Obesity", "Indigestion", "all four")
    printed = ("0", "1/3", "2/3", "1", "2")
    rows = [
        [name, said, f"{weight:.3g}"]
        for name, said, weight in zip(names, printed, weights(), strict=True)
    ]
    return markdown(["", "printed weight", "ours"], rows)


def distances() -> list[tuple[str, str, float]]:
    """Measure how far two conditions are apart, by how far classes of them are from the whole."""
    found = []
    for one, other in (("HIV", "Indigestion"), ("Hepatitis", "Obesity")):
        rows = [("1", "*", "*", one), ("2", "*", "*", other)]
        model = TCloseness(ILL, t=0.5, distance="category", categories=CATEGORIES)
        [(_, _, measured)] = _judged(_table((*HEALTH, ILL), rows), model)
        found.append((one, other, 2 * measured["t"]))
    return found


def _distances() -> str:
    rows = [
        [f"{one} and {other}", printed, f"{far:.3g}", f"{far / 2:.3g}"]
        for (one, other, far), printed in zip(distances(), ("1", "1/3"), strict=True)
    ]
    return markdown(["", "printed", "ours", "t of the two classes"], rows)


LETTERS = {"zipcode": "Z", "marital_status": "M", "gender": "G"}

MARKED: dict[str, set[tuple[int, ...]]] = {
    "Z": {(0,), (1,), (2,)},
    "M": {(1,), (2,)},
    "G": {(0,), (1,)},
    "ZM": {(0, 2), (1, 2), (2, 2), (1, 1), (2, 1)},
    "ZG": {(0, 1), (1, 1), (2, 1), (1, 0), (2, 0)},
    "MG": {(1, 0), (1, 1), (2, 0), (2, 1)},
    "ZMG": {
        *((z, m, g) for z in (1, 2) for m in (1, 2) for g in (0, 1)),
        (0, 2, 1),
    },
}
"""Which nodes the text about Figure 4.1 marks as true, for each set of columns."""


RULED_OUT = {"Z": 0, "M": 0, "G": 0, "ZM": 3, "ZG": 0, "MG": 2, "ZMG": 9}
"""How many nodes the text leaves out of each hierarchy, because a smaller one has them as false."""


@cache
def incognito(rows: int) -> JudgedLattice:
    """Judge all nodes of Table 4.3, where so many of its rows may be suppressed."""
    policy = sf.Policy.load(samples.policy_path("incognito"))
    return sf.tools.lattice(
        samples.table("incognito"), replace(policy, suppression=rows / 10), subsets=True
    )


def subsets() -> dict[str, Sublattice]:
    """Give the lattice of each set of columns, by their letters."""
    return {"".join(LETTERS[column] for column in one.columns): one for one in incognito(3).subsets}


def _incognito() -> str:
    rows = []
    for name, one in subsets().items():
        marks = (
            (len(MARKED[name]), len(one.passing), set(one.passing) == MARKED[name]),
            (RULED_OUT[name], int((~one.looked_at).sum()), None),
        )
        cells = [str(len(name)), name]
        for printed, ours, alike in marks:
            good = printed == ours if alike is None else alike
            cells += [str(printed), f"{ours}{'' if good else ' ✗'}"]
        rows.append([*cells, ", ".join(_node(name, node) for node in one.minimal)])
    heads = ["iteration", "columns", "marked true", "ours", "left out before", "ours", "minimal"]
    return markdown(heads, rows)


def _node(letters: str, node: Iterable[int]) -> str:
    return "".join(f"{letter}{level}" for letter, level in zip(letters, node, strict=True))


def _limits() -> str:
    rows = [
        [str(limit), ", ".join(_node("ZMG", node) for node in incognito(limit).minimal)]
        for limit in range(4)
    ]
    return markdown(["rows that may be suppressed", "minimal nodes"], rows)


TOP_DOWN_44 = [("73456", "HIV"), ("73456", "Indigestion"), ("7345*", "Flu"), ("7345*", "Cancer")]
"""Table 4.4(c)."""


def table_44(seed: int = 2) -> Beside:
    """Put Table 4.4(c) beside what comes of 4.4(b); which of two rows goes up is drawn by lot."""
    return beside(TOP_DOWN_44, sf.anonymize(*_projected(), seed=seed).table)


def _projected() -> tuple[pa.Table, sf.Policy]:
    """Give Table 4.4(b), and what is asked of it."""
    model = EnhancedPAlphaSensitiveKAnonymity(ILL, p=2, alpha=1, k=2, categories=CATEGORIES)
    policy = _policy({"zipcode": Masking()}, [ILL], model, method="top-down")
    return samples.table("top-down").select(["zipcode", ILL]), policy


@cache
def figure_42() -> Trace:
    """Trace how Table 4.4 is recoded, with the seed of the table on the page."""
    return sf.tools.trace(*_projected(), seed=2)


def _steps() -> str:
    rows = [
        [part, _cell(step.sentence)] for part, step in zip("bcdef", figure_42().steps, strict=True)
    ]
    rest = [
        ", ".join(f"{each.labels[0]} ({each.rows} rows)" for each in figure_42().classes),
    ]
    return markdown(["Figure 4.2", "ours"], [*rows, ["g, h", _cell(rest[0])]])


BEST = {
    "4.3, most rows specialised": [("a", age) for age in ("20", "30", "40")]
    + [("b", age) for age in ("20", "30", "50")],
    "4.4, then fewest branches": [(code, age) for code in "abc" for age in ("20", "30")],
}
"""Six rows each, made for this page, since the drawings are lost. Of the first, all can be
specialised by zip code, and four by age, where two ages occur once. Of the second all can by
either; by zip code that makes three branches, by age two."""


def best(rows: Iterable[Row]) -> set[Row]:
    """Recode rows of zip codes and ages top-down, 2-anonymously, and give the classes."""
    policy = _policy(dict.fromkeys(("zipcode", "age")), [], KAnonymity(2))
    found = sf.anonymize(_table(("zipcode", "age"), rows), policy, method=TopDown(), seed=0)
    return set(rows_of(found.table))


def _best() -> str:
    chosen = ("Zipcode", "Age")
    rows = []
    for (figure, given), printed in zip(BEST.items(), chosen, strict=True):
        classes = best(given)
        ours = "Zipcode" if all(age == "*" for _, age in classes) else "Age"
        shown = ", ".join(_cell(f"({code}, {age})") for code, age in sorted(classes))
        rows.append([figure, printed, ours, shown])
    return markdown(["figure", "chosen in print", "chosen here", "classes (zip code, age)"], rows)


SEEDS = range(10)


@cache
def lots() -> tuple[int, set[frozenset[Row]]]:
    """Count how often the printed table is drawn, and give all that are."""
    drawn = [table_44(seed) for seed in SEEDS]
    return sum(one.same for one in drawn), {frozenset(one.ours) for one in drawn}


def _lots() -> str:
    return f"{lots()[0]} of {len(SEEDS)} runs with different seeds"


def plots() -> dict[str, str]:
    """Draw the lattices: file names and SVG."""
    return {
        "examples-figure-1-1.svg": _work()["work"].svg(),
        "examples-figure-2-2.svg": trees()["marital_status"].svg(),
        "examples-figure-2-5.svg": trees()["age"].svg(),
        "examples-figure-2-8.svg": figure_28().svg(),
        "examples-figure-4-1.svg": incognito(3).svg(),
        "examples-figure-4-2.svg": figure_42().svg(),
    }


PARTS: dict[str, Callable[[], str]] = {
    "table_ii": lambda: str(table_ii()),
    "census_beliefs": _census_beliefs,
    "laws": _laws,
    "table_13": lambda: str(table_13()),
    "example_131": _example_131,
    "regional": _regional,
    "local_recoding": _local_recoding,
    "table_15": lambda: str(table_15()),
    "made_buckets": _made_buckets,
    "linked": _linked,
    "table_22": lambda: str(table_22()),
    "table_23": _counted_23,
    "smallest_class": lambda: str(smallest_class()),
    "vector": _vector_table,
    "trees": _trees,
    "levels_28": _levels_28,
    "table_32": lambda: str(table_32()),
    "neighbours": _neighbours,
    "betrayed": _betrayed,
    "skewness": _skewness,
    "diversities": _diversities,
    "table_35": lambda: str(table_35()),
    "jan": _jan,
    "table_38": lambda: str(table_38()),
    "held_38": _held_38,
    "held_310": _held_310,
    "mixed_39": _mixed_39,
    "weighed": _weighed,
    "distances": _distances,
    "incognito": _incognito,
    "limits": _limits,
    "lots": _lots,
    "best": _best,
    "steps": _steps,
    "census_answer": lambda: answers()[0],
    "broken_answer": lambda: answers()[1],
    "table_44": lambda: str(table_44()),
}
"""What stands in the template, and what makes it."""
