"""The policy's models, asked about single groups as they would be published."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from sfumato.classes import (
    MISSING,
    EquivalenceClasses,
    SensitiveColumn,
    ValueCounts,
    merge_counts,
    reference_of,
)
from sfumato.errors import PolicyError
from sfumato.ledger.limit import Tally
from sfumato.ledger.records import GroupState
from sfumato.models.base import PrivacyModel, TableModel
from sfumato.policy import Policy
from sfumato.text import in_order
from sfumato.typing import Value


def refuse_models(policy: Policy) -> None:
    """Refuse models that no group can be asked about by itself."""
    for model in policy.models:
        if isinstance(model, TableModel) or model.needs_population:
            raise PolicyError(
                f"a ledger cannot keep {model}: it judges all groups together, or compares them "
                "with a population, and an increment is decided group by group. Start the ledger "
                "with a policy without it, for example with k-anonymity."
            )


class Promises:
    """Which models of a policy a group breaks.

    Models that compare a group with the whole table compare it with the first release: that
    distribution is public, and does not move with every increment.

    Args:
        policy: What every group must keep.
        sensitive: The sensitive columns in the order of the ledger.
        reference: For each column, how many rows of the first release have each value.
    """

    def __init__(
        self,
        policy: Policy,
        sensitive: tuple[str, ...],
        reference: Mapping[int, Mapping[str, int]],
    ) -> None:
        self._policy = policy
        self._sensitive = sensitive
        self._reference = reference

    def broken_by(self, state: GroupState, tally: Tally) -> str:
        """Name the models that a group with these counts breaks; empty if it keeps all."""
        named = {column for model in self._policy.models for column in model.columns}
        counts = {
            name: self._counts(i, state, tally)
            for i, name in enumerate(self._sensitive)
            if name in named
        }
        classes = EquivalenceClasses(np.array([tally.size], dtype=np.int64), counts)
        return ", ".join(str(model) for model in self._policy.models if _breaks(model, classes))

    def _counts(self, column: int, state: GroupState, tally: Tally) -> ValueCounts:
        whole = self._reference.get(column, {})
        texts = [json.loads(key) for key in {**whole, **state.codes[column]}]
        known = [value for value in in_order(texts) if value is not None]
        code = {value: i for i, value in enumerate(known)} | {None: MISSING}
        described = self._described(self._sensitive[column], tuple(known))
        reference = reference_of(
            np.array([code[json.loads(key)] for key in whole], dtype=np.int64),
            np.array(list(whole.values()), dtype=np.int64),
            len(known),
        )
        here = [
            (code[json.loads(key)], int(tally.counts[column][i]))
            for key, i in state.codes[column].items()
            if tally.counts[column][i] > 0
        ]
        value, rows = np.array(sorted(here), dtype=np.int64).reshape(-1, 2).T
        group = np.zeros(len(rows), dtype=np.int64)
        return merge_counts(ValueCounts(described, group, value, rows, reference), group)

    def _described(self, name: str, known: tuple[Value, ...]) -> SensitiveColumn:
        rule = self._policy.columns.get(name)
        builder = None if rule is None else rule.hierarchy
        if builder is None or not known:
            return SensitiveColumn(name, known)
        return SensitiveColumn(name, known, builder.build(name, known).bind(name, known))


def _breaks(model: PrivacyModel, classes: EquivalenceClasses) -> bool:
    return not bool(model.passes(classes)[0])


def first_distribution(db: sqlite3.Connection) -> dict[int, dict[str, int]]:
    """Read how many rows of the first release have each value of each sensitive column."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for column, value, rows in db.execute(
        "SELECT v.column, v.value, SUM(c.rows) FROM changes c JOIN sensitive_values v ON "
        "v.id = c.value_id WHERE c.sequence = 1 GROUP BY v.id"
    ):
        found[column][value] = rows
    return found
