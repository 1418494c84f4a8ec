"""What helps where a ledger cannot start: the model to add, and the levels that would do."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np

from sfumato.counts import Column, group, sums
from sfumato.decouplings.base import GroupedTables, SensitiveTable
from sfumato.errors import some
from sfumato.hierarchy import Ladder
from sfumato.ledger.records import Harmless, groups_above
from sfumato.ledger.store import Settings
from sfumato.text import STAR, text_or_none

_FINEST = 100
"""The number l of a model is rounded up to a hundredth."""


def find_remedy(
    grouped: GroupedTables,
    settings: Settings,
    harmless: Harmless,
    ladders: Mapping[str, Ladder],
) -> str:
    """Say which models keep groups within the limit, and from which levels on they are.

    Args:
        grouped: The first release.
        settings: What the ledger is to be started with.
        harmless: The values that the policy calls harmless.
        ladders: The hierarchies of quasi-identifiers, as far as they are known.
    """
    guilty = [
        table.column.name
        for i, table in enumerate(grouped.sensitive)
        if any(
            groups_above(
                replace(grouped, sensitive=(table,)),
                settings.limit,
                Harmless(harmless.values[i : i + 1], harmless.folded[i : i + 1]),
            )
        )
    ]
    number = Fraction(ceil(_FINEST / settings.limit), _FINEST)
    text = (
        f"Anonymise the table with the model probabilistic-l-diversity, l: {float(number):g}, for "
        f"{some(guilty, most=20)}, and decouple that release."
    )
    for levels in _coarser(settings, ladders):
        if not any(groups_above(_coarsen(grouped, ladders, levels), settings.limit, harmless)):
            named = ", ".join(f"{name} {level}" for name, level in levels.items())
            return f"{text} Generalised to the levels {named}, these groups would do as well."
    return text


def _coarser(settings: Settings, ladders: Mapping[str, Ladder]) -> Iterator[dict[str, int]]:
    """Yield levels to try: of one column first, then of all."""
    now = {
        name: level
        for name, level in zip(settings.quasi_identifiers, settings.levels, strict=True)
        if level is not None and name in ladders
    }
    for name, level in now.items():
        for higher in range(level + 1, ladders[name].height + 1):
            yield {name: higher}
    for more in range(1, max((ladders[name].height for name in now), default=0) + 1):
        yield {name: min(level + more, ladders[name].height) for name, level in now.items()}


def _coarsen(
    grouped: GroupedTables, ladders: Mapping[str, Ladder], levels: Mapping[str, int]
) -> GroupedTables:
    """Put groups together that have the same labels at other levels."""
    columns, codes = [], []
    for column, code in zip(grouped.quasi_identifiers, grouped.labels, strict=True):
        texts = [text_or_none(value) for value in column.values]
        if column.name in levels:
            above = _labels_above(ladders[column.name], levels[column.name])
            texts = [above.get(text, STAR) for text in texts]
        known = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        columns.append(Column(column.name, tuple(known)))
        codes.append(np.array([known[text] for text in texts], dtype=np.int32)[code])
    merged = group(codes, [len(column.values) for column in columns], n=len(grouped))
    labels = np.array([code[merged.first] for code in codes], dtype=np.int32)
    tables = []
    for table in grouped.sensitive:
        pairs = group(
            [merged.of_item[table.group], table.value], [merged.n, len(table.column.values)]
        )
        tables.append(
            SensitiveTable(
                table.column,
                merged.of_item[table.group][pairs.first],
                table.value[pairs.first],
                sums(pairs.of_item, table.rows, pairs.n),
            )
        )
    sizes = sums(merged.of_item, grouped.sizes, merged.n)
    return GroupedTables(
        tuple(columns), labels.reshape(len(columns), merged.n), sizes, tuple(tables)
    )


def _labels_above(ladder: Ladder, level: int) -> dict[str | None, str | None]:
    """Return for each label of the levels below one the label there."""
    found: dict[str | None, str | None] = {}
    for below in range(level + 1):
        for code, above in zip(
            ladder.codes[below].tolist(), ladder.codes[level].tolist(), strict=True
        ):
            found.setdefault(
                text_or_none(ladder.labels[below][code]), text_or_none(ladder.labels[level][above])
            )
    return found
