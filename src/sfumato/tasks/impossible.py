"""Refusing what no release of a table can keep, before any work is done."""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.classes import EquivalenceClasses, SensitiveColumn, classes_from
from sfumato.counts import FrequencySet
from sfumato.errors import InfeasibleError
from sfumato.models import PrivacyModel
from sfumato.models.base import TableModel
from sfumato.release import figures, promise_text


def refuse_impossible(
    models: Sequence[PrivacyModel],
    counts: FrequencySet,
    sensitive: Mapping[str, SensitiveColumn],
    limit: int,
    *,
    matches_any: bool = True,
) -> None:
    """Refuse models that break even if all rows are one class, where that proves something.

    A model that no merging undoes is then broken by every class of every release, and the
    mean risk of a table is lowest there. A model that merged classes keep if their parts do
    is broken by some class of every release that suppresses nothing, unless classes overlap:
    then they are no parts of the whole.

    Args:
        models: What must hold.
        counts: The rows to decide on.
        sensitive: The columns that models look at.
        limit: Most rows that may be suppressed.
        matches_any: Whether missing quasi-identifiers match any, or may: classes overlap.

    >>> from sfumato.models import KAnonymity
    >>> refuse_impossible([KAnonymity(3)], FrequencySet.from_rows(["sex"], [("f",)] * 2), {}, 0)
    Traceback (most recent call last):
    sfumato.errors.InfeasibleError: no release can keep k-anonymity with k=3: even if all 2 rows
    were one class, it would have k=2. Ask for less.
    """
    if limit >= counts.total:
        return
    one: EquivalenceClasses = classes_from(counts, (), sensitive)
    overlap = matches_any and any(c.missing >= 0 for c in counts.columns if c.name not in sensitive)
    for model in models:
        if model.needs_population:
            continue
        part = model if isinstance(model, TableModel) else model.absorbing_part
        never = part is not None and not part.passes(one).all()
        in_parts = limit == 0 and model.merging.closed and not overlap
        if never or (in_parts and not model.passes(one).all()):
            shown = promise_text({"model": model.name, **model.params()})
            measured = {k: _plain(v) for k, v in model.measure(one).items()}
            raise InfeasibleError(
                f"no release can keep {shown}: even if all {counts.total} rows were one class, it "
                f"would have {figures(measured)}. Ask for less."
            )


def _plain(value: float) -> float:
    return value.item() if isinstance(value, np.generic) else value
