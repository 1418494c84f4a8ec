"""More people for a group: the tables, likelihoods and limits of Incremental Break-Merge."""

from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

import sfumato as sf
from docs.papers.break_merge.printed import (
    ADDED,
    ALPHAS,
    COLUMNS,
    FIRST,
    PERMITTED,
    QUASI_IDENTIFIERS,
    SENSITIVE,
    TABLE_14,
    Increment,
)
from docs.papers.results import Record
from sfumato import samples
from sfumato.decouplings.base import GroupedTables
from sfumato.leaks import Exposure, increment_ratio, likelihood, permitted_each
from sfumato.releases.release import DecoupledRelease

PEOPLE = 5
"""How many the groups of the ten-row table have."""

STARTS = {
    "Never-Married, ≤50K": (2, 4),
    "Never-Married, >50K": (2, 1),
    "Married, ≤50K": (1, 4),
    "Married, >50K": (1, 1),
    "two values nobody has": (0, 0),
}
"""Combinations of group 1 that more people may have, and how many have each value now."""

STEPS = (0, 10, 17, 25, 50, 75, 100, 125, 150, 175, 190, 200)
"""How many people are added, as far as Figure 15 goes."""

LIMITS = (0.4, 0.5, 0.6, 0.7)
"""Limits under which the ten rows of Table 10 are offered."""


@cache
def grown() -> GroupedTables:
    """Add the ten rows of Table 10 and break the table again."""
    table = pa.concat_tables([samples.table("census"), _added()])
    return sf.breach(table, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE).grouped


def _added() -> pa.Table:
    columns = zip(*ADDED, strict=True)
    return pa.table({n: list(column) for n, column in zip(COLUMNS, columns, strict=True)})


def table_14() -> list[Record]:
    """Recompute every row of Table 14: likelihoods, the ratio, and the ratio of rounded ones."""
    return [_row(number, one) for number, one in enumerate(TABLE_14, 1)]


def _row(number: int, one: Increment) -> Record:
    old, new = likelihood(one.old, PEOPLE), likelihood(one.new, one.size)
    rounded = Fraction(one.became - one.was, one.was)
    return {
        "row": number,
        "work": one.work,
        "marital_status": one.marital,
        "salary": one.salary,
        "old": list(one.old),
        "new": list(one.new),
        "size": one.size,
        "added": one.size - PEOPLE,
        "printed_was": one.was,
        "printed_became": one.became,
        "printed_ratio": one.ratio,
        "was": str(old),
        "became": str(new),
        "ratio": str(increment_ratio(old, new)),
        "ratio_of_rounded": str(rounded),
    }


FOURTH = ("Local-gov", "Separated")
"""The employer and marital status of group 1 that Table 14 leaves out."""


def figure_14() -> list[Record]:
    """Break the table with more people, and read how likely the fourth combination is then.

    The people are those of the rows of Table 14 whose combination begins with the same counts,
    with its values in place of theirs: whom the figure adds is not printed.
    """
    found = []
    for one in TABLE_14:
        if one.old[0] == 1:
            table = pa.concat_tables([samples.table("census"), _more(one)])
            exposure = sf.breach(table, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE)
            was, became = (_likelihood(each, one.salary) for each in (_before(), exposure))
            found.append(
                {
                    "like": one.work,
                    "salary": one.salary,
                    "new": list(one.new),
                    "size": one.size,
                    "added": one.size - PEOPLE,
                    "was": str(was),
                    "became": str(became),
                    "ratio": str(increment_ratio(was, became)),
                }
            )
    return found


@cache
def _before() -> Exposure:
    table = samples.table("census")
    return sf.breach(table, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE)


def _more(one: Increment) -> pa.Table:
    """Make people who bring the counts of a row of Table 14, for the fourth combination."""
    added = one.size - PEOPLE
    paid = one.new[1] - one.old[1]
    other = {"<=50K": ">50K", ">50K": "<=50K"}[one.salary]
    rows = [
        (
            *FIRST,
            FOURTH[0],
            FOURTH[1] if i < one.new[0] - one.old[0] else "Never-Married",
            one.salary if i < paid else other,
        )
        for i in range(added)
    ]
    columns = zip(*rows, strict=True)
    return pa.table({n: list(column) for n, column in zip(COLUMNS, columns, strict=True)})


def _likelihood(exposure: Exposure, salary: str) -> Fraction:
    group = dict(zip(QUASI_IDENTIFIERS, FIRST, strict=True))
    person = exposure.person(group, {"government": FOURTH[0]})
    wanted = {"marital_status": FOURTH[1], "salary": salary}
    [found] = [each for each in person.combinations() if dict(each.values) == wanted]
    return found.probability


def limits() -> list[Record]:
    """Say how many more people may have each combination, alone, until each limit."""
    counts = np.array(list(STARTS.values())).T
    sizes = np.full(len(STARTS), PEOPLE)
    found = {alpha: permitted_each(counts, sizes, alpha).tolist() for alpha in ALPHAS}
    return [
        {"combination": name, "counts": list(start), "size": PEOPLE, "alpha": alpha, "permitted": n}
        for alpha, numbers in found.items()
        for (name, start), n in zip(STARTS.items(), numbers, strict=True)
    ]


def reachable() -> list[Record]:
    """Look for the printed numbers among all combinations a group of five can hold."""
    found = []
    for factors in (1, 2, 3):
        starts = list(combinations_with_replacement(range(PEOPLE), factors))
        sizes = np.full(len(starts), PEOPLE)
        for alpha, wanted in PERMITTED.items():
            numbers = permitted_each(np.array(starts).T, sizes, alpha)
            at = np.flatnonzero(numbers == wanted).tolist()
            found.append(
                {
                    "columns": factors,
                    "alpha": alpha,
                    "printed": wanted,
                    "most": int(numbers.max()),
                    "starts": [list(starts[i]) for i in at],
                }
            )
    return found


def growth() -> list[Record]:
    """Give each combination's likelihood as more and more people have it."""
    return [
        {
            "combination": name,
            "added": n,
            "likelihood": str(likelihood([count + n for count in start], PEOPLE + n)),
        }
        for name, start in STARTS.items()
        for n in STEPS
    ]


def admissions() -> list[Record]:
    """Offer the ten rows of Table 10: to both readings of Algorithm 3, and to `sf.Ledger`."""
    return [
        {
            "alpha": alpha,
            **{name: appended(alpha, **options) for name, options in READINGS.items()},
            "published": _published(alpha),
        }
        for alpha in LIMITS
    ]


READINGS: dict[str, dict[str, Any]] = {
    "printed": {"reading": "printed"},
    "one_known": {"reading": "one-known", "known": "government"},
}
"""How Algorithm 3 can be read, by the name in the results: word by word; or with the employer
known, as the article's likelihoods have it, and going on after a refusal."""


def appended(alpha: float, **options: Any) -> Record:  # noqa: ANN401 - what `append` takes
    """Append the rows in their order, and count who is admitted by salary."""
    done = sf.tools.append(_decoupled(), _added(), alpha=alpha, **options)
    pays = [row.values[-1] for row in done.admitted]
    return {
        "admitted": {pay: pays.count(pay) for pay in ("<=50K", ">50K")},
        "refused": len(done.refused),
        "not_reached": len(done.not_reached),
        "worst": str(done.worst),
    }


@cache
def _decoupled() -> DecoupledRelease:
    table = samples.table("census")
    return sf.decouple(table, quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE, seed=0)


def _published(alpha: float) -> Record:
    """Publish the rows on a ledger; its first release tells more than alpha already."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "census.ledger"
        ledger = sf.Ledger.start(_decoupled(), path, alpha=alpha, above=True)
        done = ledger.publish(_added(), seed=0)
    return {"admitted": done.admitted, "waiting": done.waiting}
