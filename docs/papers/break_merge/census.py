"""The ten-row table: what its columns tell of each other, before and after decoupling."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import sfumato as sf
from docs.papers.break_merge import printed
from docs.papers.break_merge.printed import CONDITIONALS, QUASI_IDENTIFIERS, SENSITIVE
from docs.papers.results import Record
from sfumato import samples
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.leaks import Breach, Exposure, ExposureChange, Findings
from sfumato.networks import conditional_table

AS_PRINTED = "weka-ics as printed"
SETTINGS: dict[str, dict[str, Any]] = {
    "ic": {"learner": "ic"},
    "weka-ics": {"learner": "weka-ics"},
    AS_PRINTED: {
        "learner": {"learner": "weka-ics", "most_given": 0},
        "order": ["age", "zipcode", "gender"],
    },
}
"""How the networks are learned: as by default, as Weka does by default, and as was printed."""

PRIORS = (0.0, 0.5)
"""Plain shares, and what the sources' tool adds to every cell."""

TABLE_VII = 1.0
"""What is added to every cell of the one printed table that is not of shares."""

CLOSE = 0.001
"""Printed entries are rounded, or cut off, to three digits."""


@cache
def findings(way: str, prior: float) -> Findings:
    """Detect as the sources do: three networks, rules above one half, however few rows."""
    return sf.detect(
        samples.table("census"),
        quasi_identifiers=QUASI_IDENTIFIERS,
        sensitive=SENSITIVE,
        **SETTINGS[way],
        prior=prior,
        support=1,
    )


def networks() -> list[Record]:
    """Give the parents of every column in every network, printed and learned."""
    return [
        {
            "network": name,
            "column": column,
            "printed": _listed(printed.PARENTS[name].get(column)),
            **{way: list(findings(way, 0.0).networks[name].parents[column]) for way in SETTINGS},
        }
        for name, network in findings("ic", 0.0).networks.items()
        for column in network.columns
    ]


def _listed(parents: tuple[str, ...] | None) -> list[str] | None:
    return None if parents is None else list(parents)


def learned_tables() -> list[Record]:
    """Give every conditional table of every way to learn, with and without a prior."""
    return [
        {"learner": way, "network": name, **table.to_dict()}
        for way in SETTINGS
        for prior in PRIORS
        for name, tables in findings(way, prior).tables.items()
        for table in tables.values()
    ]


def entries() -> list[Record]:
    """Set every printed entry beside what the rows say, as shares and with the prior."""
    counts = findings("ic", 0.0).counts
    found = []
    for table in CONDITIONALS:
        shares, smoothed = (
            conditional_table(counts, table.child, table.parents, prior=prior) for prior in PRIORS
        )
        for given, probabilities in table.rows.items():
            asked = dict(zip(table.parents, given, strict=True))
            for value, probability in zip(table.values, probabilities, strict=True):
                found.append(
                    {
                        "table": table.name,
                        "given": list(given),
                        "value": value,
                        "printed": probability,
                        "rows": shares.row(asked).support,
                        "share": round(shares.row(asked)[value], 6),
                        "prior": round(smoothed.row(asked)[value], 6),
                    }
                )
    return found


def decoded() -> list[Record]:
    """Read Table VII as its numbers want to be read, and say which entries then come out.

    Its headings "Married" and "Never-Married" change places, 1 is added to every cell, and
    whoever is separated is not counted, because that value is not among the headings.
    """
    people = samples.table("census").to_pylist()
    heads = ("Never-Married", "Married", "Divorced", "Widowed")
    [table] = [one for one in CONDITIONALS if one.name == printed.SWAPPED]
    found = []
    for (work,), probabilities in table.rows.items():
        seen = [one["marital_status"] for one in people if one["government"] == work]
        seen = [one for one in seen if one in heads]
        for head, probability in zip(heads, probabilities, strict=True):
            share = Fraction(seen.count(head) + 1, len(seen) + len(heads))
            found.append(
                {"given": work, "value": head, "printed": probability, "decoded": str(share)}
            )
    return found


def verdicts() -> list[Record]:
    """Say of every printed rule whether it holds, and how surely it tells the most."""
    counts = findings("ic", 0.0).counts
    return [
        {
            "known": list(known),
            "told": told,
            "printed": holds,
            "shares": _holds(known, told, 0.0),
            "prior": _holds(known, told, TABLE_VII),
            "letter": (known, told) in to_the_letter(findings(AS_PRINTED, 0.0)),
            "strongest": str(_surest(counts, known, told)),
        }
        for (known, told), holds in printed.VERDICTS.items()
    ]


def _holds(known: tuple[str, ...], told: str, prior: float) -> bool:
    """Tell what the findings say, in whatever network has the rule."""
    [rule] = [
        rule
        for rule in findings(AS_PRINTED, prior).rules
        if {column.name for column in rule.known} == {*known} and rule.told.name == told
    ]
    return rule.holds


def to_the_letter(found: Findings, alpha: float = 0.5) -> set[tuple[tuple[str, ...], str]]:
    """Run Algorithm 1 to the letter on each of three networks, with one counter in each run.

    Steps 8 to 18: for each parent the whole table of the child is looked at, the counter goes up
    at each entry above alpha, and at each entry, whatever it is, either the joint rule is added
    or all single rules met so far.
    """
    rules: set[tuple[tuple[str, ...], str]] = set()
    for name, network in found.networks.items():
        single: set[tuple[tuple[str, ...], str]] = set()
        count = 0
        for child in network.columns:
            parents = tuple(c for c in printed.COLUMNS if c in network.parents[child])
            entries = found.tables[name][child].dense().ravel().tolist()
            if len(parents) == 1 and max(entries) > alpha:
                rules.add((parents, child))
            for parent in parents if len(parents) > 1 else ():
                for entry in entries:
                    if entry > alpha:
                        single.add(((parent,), child))
                        count += 1
                    rules |= {(parents, child)} if count == len(parents) else single
    return rules


def _surest(counts: FrequencySet, known: tuple[str, ...], told: str) -> Fraction:
    table = conditional_table(counts, told, known)
    shares = zip(table.count.tolist(), table.support[table.combination].tolist(), strict=True)
    return max(Fraction(rows, support) for rows, support in shares)


def labels() -> Record:
    """Run the first half of Algorithm 2 to the letter: each row is compared with the next one."""
    people = [tuple(row.values())[:3] for row in samples.table("census").to_pylist()]
    group, given = 1, []
    for row, following in zip(people, [*people[1:], None], strict=True):
        given.append(group)
        if row != following:
            group += 1
    return {"labels": given, "counter": group}


@cache
def exposure() -> Exposure:
    """Break the table, and keep it at hand to compare with."""
    return sf.breach(
        samples.table("census"), quasi_identifiers=QUASI_IDENTIFIERS, sensitive=SENSITIVE
    )


def quasi_identifier_table() -> list[Record]:
    """Give Table 4: one row per person, with the number of the group."""
    grouped = exposure().grouped
    names = [column.name for column in grouped.quasi_identifiers]
    return [
        {**dict(zip(names, labels, strict=True)), "group": number, "people": int(size)}
        for number, (labels, size) in enumerate(
            zip(_groups(grouped), grouped.sizes, strict=True), 1
        )
    ]


def sensitive_tables(
    grouped: GroupedTables, tables: Mapping[tuple[str, str], tuple[dict[str, int], ...]]
) -> list[Record]:
    """Set printed sensitive tables beside those of a decoupled table, value by value."""
    return [
        {
            "table": number,
            "column": column,
            "group": group,
            "value": value,
            "printed": counts.get(value, 0),
            "ours": ours.get(value, 0),
        }
        for (number, column), both in tables.items()
        for group, (counts, ours) in enumerate(zip(both, _counts(grouped, column), strict=True), 1)
        for value in dict.fromkeys([*counts, *ours])
    ]


def _groups(grouped: GroupedTables) -> list[tuple[object, ...]]:
    return [
        tuple(c.values[code] for c, code in zip(grouped.quasi_identifiers, codes, strict=True))
        for codes in grouped.labels.T.tolist()
    ]


def _counts(grouped: GroupedTables, column: str) -> Iterator[dict[str, int]]:
    table = grouped.table(column)
    for group in range(len(grouped)):
        mine = table.group == group
        values = [str(table.column.values[code]) for code in table.value[mine].tolist()]
        yield dict(zip(values, table.rows[mine].tolist(), strict=True))


def guesses() -> list[Record]:
    """Give Table 8, and the same for group 2: each guess before and after breaking."""
    person = exposure().person
    state = person(_named(printed.FIRST), {"government": "State-gov"})
    private = person(_named(printed.SECOND), {"government": "Private"})
    wanted, percent = printed.PRIVATE
    second: dict[tuple[str, str], int | None] = {
        (marital, pay): None
        for marital in ("Married", "Divorced", "Never-Married")
        for pay in ("<=50K", ">50K")
    }
    second[wanted] = percent
    return [
        *(_guess(1, "State-gov", state, pair, n) for pair, n in printed.LIKELIHOODS.items()),
        *(_guess(2, "Private", private, pair, n) for pair, n in second.items()),
    ]


def _named(group: tuple[str, ...]) -> dict[str, str]:
    return dict(zip(QUASI_IDENTIFIERS, group, strict=True))


def _guess(
    group: int, known: str, breach: Breach, pair: tuple[str, str], percent: int | None
) -> Record:
    guess = breach.combination(dict(zip(("marital_status", "salary"), pair, strict=True)))
    return {
        "group": group,
        "known": known,
        "marital_status": pair[0],
        "salary": pair[1],
        "printed": percent,
        "counts": list(guess.rows),
        "size": guess.size,
        "before": str(breach.before(guess)),
        "after": str(guess.probability),
        "group_only": str(breach.group_only(guess)),
    }


def changes(exposed: Exposure) -> list[Record]:
    """Give, for each adversary, how likely people's own values are before and after."""
    compared = exposed.comparison
    return [] if compared is None else [_change(one) for one in compared.changes]


def _change(change: ExposureChange) -> Record:
    return {
        "known": change.known,
        "told": list(change.told),
        **{
            f"{what}_{when}": value
            for when, spread in (("before", change.before), ("after", change.after))
            for what, value in (
                ("worst", str(spread.worst)),
                ("mean", round(spread.mean, 6)),
                ("people", dict(spread.people)),
            )
        },
        "raised": change.raised,
        "lowered": change.lowered,
    }
