"""Every model and every loss on Adult, with the counts made: CPU time as a number of group-bys.

Where ARX was measured its time stands beside, in group-bys of the same run (11 ms). Every
other model is asked for together with k = 5, for `occupation` and seven quasi-identifiers. The
hierarchical distance of t-closeness goes by the hierarchy of `occupation`.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from benchmarks.bench import Bench
from benchmarks.measure import cpu
from benchmarks.results import Figure
from benchmarks.workloads import adult, adult_folder, adult_policy
from sfumato.counts import FrequencySet
from sfumato.errors import SfumatoError
from sfumato.hierarchy import CsvHierarchy
from sfumato.losses import LOSSES
from sfumato.models import (
    MODELS,
    DistinctLDiversity,
    KAnonymity,
    PrivacyModel,
    RecursiveCLDiversity,
    TCloseness,
)
from sfumato.policy import Policy
from sfumato.recode.deciding import Maker, checker_of, counted_columns, make_checker, prepare
from sfumato.recode.workshop import Workshop
from sfumato.search import BestFirst, Found
from sfumato.tables import open_table

_COLUMN = "occupation"
_GROUP_BY = 0.011
"""Seconds of a group-by where ARX's seconds were measured."""

_ARX = {
    "normalized-loss, limit 0%": 0.041,
    "normalized-loss, limit 5%": 0.69,
    "discernibility, limit 0%": 0.056,
    "discernibility, limit 5%": 0.74,
    "average-class-size, limit 5%": 0.82,
    "t-closeness t=0.2 distance=equal, limit 5%": 0.70,
    "recursive-cl-diversity c=3 l=3, limit 5%": 0.47,
    "distinct-l-diversity l=4, limit 5%": 0.33,
}
_MEASURED: list[PrivacyModel] = [
    TCloseness(_COLUMN, 0.2),
    RecursiveCLDiversity(_COLUMN, c=3, l=3),
    DistinctLDiversity(_COLUMN, 4),
]


def run(bench: Bench) -> Iterator[Figure]:
    table = adult()
    names = list(adult_policy(k=5, limit=0).quasi_identifiers)
    grouped = cpu(
        lambda: table.group_by(names).aggregate([([], "count_all")]), repeats=bench.repeats
    )
    yield Figure.of("one group-by with pyarrow", grouped, "CPU s")
    counted: dict[tuple[str, ...], FrequencySet] = {}
    for name, policy in _policies():
        columns = counted_columns(policy)
        if columns not in counted:
            counted[columns] = open_table(table).count(columns)
        try:
            found = _search(policy, counted[columns])
        except SfumatoError as error:
            yield Figure(name, f"refused: {str(error)[:60]}")
            continue
        timing = cpu(partial(_search, policy, counted[columns]), repeats=bench.few)
        ours = timing.least / grouped.least
        target, others = None, ""
        if name in _ARX:
            theirs = _ARX[name] / _GROUP_BY
            target, others = theirs / (3 if "limit 0%" in name else 5), f"ARX {theirs:.1f}"
        yield Figure(name, ours, "group-bys", target=target, others=others)
        yield Figure(f"{name}: checks", found.checks)
        yield Figure(f"{name}: proven optimal", found.proven)
    for loss in ("normalized-loss", "discernibility"):
        yield from _many(loss, counted[tuple(names)], bench)


_KS = (2, 3, 4, 5, 6, 8, 10, 15, 20, 50)


def _many(loss: str, counts: FrequencySet, bench: Bench) -> Iterator[Figure]:
    """Ten values of k, one after the other, as times of one alone (the mean of the ten)."""
    policies = [adult_policy(k=k, limit=0.05, loss=LOSSES[loss].example()) for k in _KS]

    def search(make: Callable[[], Maker]) -> None:
        maker = make()
        for policy in policies:
            [*BestFirst().run(checker_of(policy, prepare(policy, counts, maker=maker)))]

    alone = cpu(lambda: search(Maker), repeats=bench.few)
    shared = cpu(lambda: search(Workshop), repeats=bench.few)
    ratio = len(_KS) * shared.least / alone.least
    yield Figure(f"{loss}, limit 5%, ten values of k", ratio, "times one", target=3.0)


def _policies() -> Iterator[tuple[str, Policy]]:
    for loss in LOSSES:
        for limit in (0.0, 0.05):
            policy = adult_policy(k=5, limit=limit, loss=LOSSES[loss].example())
            yield f"{loss}, limit {limit:.0%}", policy
    others = [kind.example() for kind in MODELS.values()]
    for model in [*_MEASURED, *filter(_can_be_asked, others)]:
        if hasattr(model, "column"):
            model = replace(model, column=_COLUMN)  # type: ignore[type-var]  # noqa: PLW2901
        shown = " ".join(
            f"{key}={value}"
            for key, value in model.params().items()
            if key != "column" and not isinstance(value, tuple)
        )
        yield f"{model.name} {shown}, limit 5%", _with_model(model)
    tree = TCloseness(_COLUMN, 0.2, distance="hierarchical")
    file = adult_folder() / f"adult_hierarchy_{_COLUMN}.csv"
    role = {"role": "sensitive", "hierarchy": CsvHierarchy(str(file))}
    yield f"{tree.name} t=0.2 distance=hierarchical, limit 5%", _with_model(tree, role)


def _can_be_asked(model: PrivacyModel) -> bool:
    """Return whether a model is one of words in a column, and not k-anonymity itself."""
    named = getattr(model, "categories", None) or getattr(model, "protected", None)
    return not (
        model.needs_population
        or model.needs_numbers
        or model.needs_hierarchy
        or model.protects_sets
        or named
        or isinstance(model, KAnonymity)
    )


def _with_model(model: PrivacyModel, role: object = "sensitive") -> Policy:
    policy = adult_policy(k=5, limit=0.05)
    columns = {**policy.columns, _COLUMN: role}
    return policy.replace(columns=columns, models=[KAnonymity(5), model])


def _search(policy: Policy, counts: FrequencySet) -> Found:
    *_, found = BestFirst().run(make_checker(policy, counts))
    return found
