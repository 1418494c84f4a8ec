"""The ten-row table: what its columns tell of each other, before and after decoupling."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache

import sfumato as sf
from docs.papers.break_merge import printed
from docs.papers.break_merge.printed import CONDITIONALS, QUASI_IDENTIFIERS, SENSITIVE
from docs.papers.results import Record
from sfumato import samples
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.leaks import Breach, Change, Exposure, Findings
from sfumato.networks import conditional_table

LEARNERS = ("ic", "weka-ics")
PRIORS = (0.0, 0.5)
"""Plain shares, and what the sources' tool adds to every cell."""

CLOSE = 0.001
"""Printed entries are rounded, or cut off, to three digits."""


@cache
def findings(learner: str, prior: float) -> Findings:
    """Detect as the sources do: three networks, rules above one half, however few rows."""
    return sf.detect(
        samples.table("census"),
        quasi_identifiers=QUASI_IDENTIFIERS,
        sensitive=SENSITIVE,
        learner=learner,
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
            **{
                learner: list(findings(learner, 0.0).networks[name].parents[column])
                for learner in LEARNERS
            },
        }
        for name, network in findings("ic", 0.0).networks.items()
        for column in network.columns
    ]


def _listed(parents: tuple[str, ...] | None) -> list[str] | None:
    return None if parents is None else list(parents)


def learned_tables() -> list[Record]:
    """Give every conditional table of both learners, with and without a prior."""
    return [
        {"learner": learner, "network": name, **table.to_dict()}
        for learner in LEARNERS
        for prior in PRIORS
        for name, tables in findings(learner, prior).tables.items()
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
    found = []
    for (known, told), holds in printed.VERDICTS.items():
        joint = _surest(counts, known, told)
        each = [_surest(counts, (one,), told) for one in known]
        found.append(
            {
                "known": list(known),
                "told": told,
                "printed": holds,
                "ours": all(share > 0.5 for share in each),
                "strongest": str(joint),
                "learned": list(known) == _parents(told, known),
            }
        )
    return found


def _surest(counts: FrequencySet, known: tuple[str, ...], told: str) -> Fraction:
    table = conditional_table(counts, told, known)
    shares = zip(table.count.tolist(), table.support[table.combination].tolist(), strict=True)
    return max(Fraction(rows, support) for rows, support in shares)


def _parents(told: str, known: tuple[str, ...]) -> list[str] | None:
    """Give the learned parents in the smallest network that has all these columns."""
    for network in findings("ic", 0.0).networks.values():
        if {told, *known} <= set(network.columns):
            return list(network.parents[told])
    return None


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


def _change(change: Change) -> Record:
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
