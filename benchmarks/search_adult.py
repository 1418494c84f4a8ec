"""The search alone, on counts that are there already: Adult, eight quasi-identifiers, k = 5."""

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from benchmarks.bench import Bench
from benchmarks.measure import cpu
from benchmarks.results import Figure
from benchmarks.workloads import adult, adult_policy
from sfumato.counts import FrequencySet
from sfumato.policy import Policy
from sfumato.recode.deciding import make_checker
from sfumato.search import BestFirst, Exhaustive, Found, Incognito, Search
from sfumato.tables import open_table

# Checks, seconds warm, seconds cold that ARX takes, and what we want to stay within.
_CASES = {
    0.0: ("ARX 142", "ARX 0.05 warm, 0.27 cold", 142, 0.05),
    0.05: ("ARX 844", "ARX 0.90 warm, 1.5 cold", 250, 0.15),
}


def run(bench: Bench) -> Iterator[Figure]:
    for limit, (their_checks, their_seconds, checks, seconds) in _CASES.items():
        policy = adult_policy(k=5, limit=limit)
        counts = open_table(adult()).count(policy.quasi_identifiers)
        found = _search(BestFirst(), policy, counts)
        work = partial(_search, BestFirst(), policy, counts)
        timing = cpu(work, repeats=bench.repeats)
        at = f"limit {limit:.0%}"
        yield Figure(f"checks, {at}", found.checks, target=checks, others=their_checks)
        yield Figure.of(f"search, {at}", timing, target=seconds, others=their_seconds)
        # A ratio within one run, to compare machines with.
        names = list(policy.quasi_identifiers)
        one = cpu(partial(_group_by, adult(), names), repeats=bench.repeats)
        yield Figure(f"search / one group-by with pyarrow, {at}", timing.least / one.least, "×")
        yield Figure(f"loss, {at}", round(found.loss, 9))
        yield Figure(f"levels, {at}", " ".join(map(str, found.node or ())))
        yield Figure(f"proven optimal, {at}", found.proven)
        yield Figure(f"checks of incognito, {at}", _search(Incognito(), policy, counts).checks)
        if not bench.quick:
            every = _search(Exhaustive(), policy, counts)
            yield Figure(f"checks of exhaustive, {at}", every.checks)
            yield Figure(f"same loss as exhaustive, {at}", abs(every.loss - found.loss) < 1e-12)


def _group_by(table: pa.Table, names: list[str]) -> pa.Table:
    return table.group_by(names).aggregate([([], "count_all")])


def _search(search: Search, policy: Policy, counts: FrequencySet) -> Found:
    *_, found = search.run(make_checker(policy, counts))
    return found
