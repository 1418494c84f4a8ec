"""How well a classifier that learnt from a release does."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from sfumato.checks import require_int, require_text
from sfumato.counts import Column, FrequencySet, group
from sfumato.errors import MissingExtraError, ParameterError
from sfumato.text import text_of
from sfumato.typing import IntArray
from sfumato.usefulness.estimator import Estimator


@dataclass(frozen=True)
class Accuracy:
    """How often a column is told right from the others.

    Example:
        >>> print(Accuracy("ill", baseline=0.5, before=0.9, after=0.75))
        decision tree for ill: right in 75.0% of rows; 90.0% if learnt from the original, 50.0% by
        guessing the most frequent value
    """

    target: str
    baseline: float
    """By always guessing the most frequent value."""

    before: float
    """After learning from the original."""

    after: float
    """After learning from the release."""

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain values that JSON can hold."""
        return {
            "target": self.target,
            "baseline": self.baseline,
            "before": self.before,
            "after": self.after,
        }

    def __str__(self) -> str:
        return (
            f"decision tree for {self.target}: right in {self.after:.1%} of rows; "
            f"{self.before:.1%} if learnt from the original, {self.baseline:.1%} by guessing the "
            "most frequent value"
        )


@dataclass(frozen=True, eq=False)
class Classification:
    """A decision tree that learns to tell one column from all others.

    It learns from rows drawn as the release leaves them possible, and is asked about rows of
    the original, or better about rows that were never published. Needs scikit-learn.

    Args:
        target: The column that is told.
        test: A table of people to ask about; None takes the original. People whose rows were
            learnt from are told a little better than others, before and after alike.
        leaf: Fewest rows that the tree bases an answer on.

    Example:
        >>> from sfumato.usefulness import Original
        >>> rows = [(age, "gout" if age > 39 else "flu") for age in range(20, 60)]
        >>> table = FrequencySet.from_rows(["age", "ill"], rows)
        >>> tree = Classification("ill", leaf=5)
        >>> tree.accuracy(Original(table), table, rng=np.random.default_rng(1))
        1.0
    """

    target: str
    test: object = None
    leaf: int = 20

    def __post_init__(self) -> None:
        require_text("target", self.target)
        require_int("leaf", self.leaf, at_least=1)

    def accuracy(
        self, estimator: Estimator, test: FrequencySet, *, rng: np.random.Generator
    ) -> float:
        """Learn from a release, and give the share of the rows of a table that are told right.

        Args:
            estimator: What is learnt from.
            test: The people asked about.
            rng: Where the rows that are learnt from come from.
        """
        told = estimator.column(self.target)
        known = [column for column in estimator.columns if column is not told]
        if not known:
            raise ParameterError("target", self.target, "one of at least two columns")
        names = [column.name for column in estimator.columns]
        cells, rows = _distinct(estimator.possible(rng), estimator.columns)
        tree = _tree(min(self.leaf / max(int(rows.sum()), 1), 0.5))
        at = [names.index(column.name) for column in known]
        tree.fit(cells[at].T, cells[names.index(told.name)], sample_weight=rows)
        asked = np.array([_codes(test, column) for column in known])
        right = tree.predict(asked.T) == _codes(test, told)
        return float(test.rows[right].sum() / max(test.total, 1))

    def baseline(self, test: FrequencySet) -> float:
        """Give the share of the most frequent value."""
        return float(test.value_counts(self.target).max(initial=0) / max(test.total, 1))


def _distinct(cells: IntArray, columns: tuple[Column, ...]) -> tuple[IntArray, IntArray]:
    """Count equal rows, so that a tree does not depend on the order they are drawn in."""
    groups = group(list(cells), [len(column.values) for column in columns])
    return cells[:, groups.first], np.bincount(groups.of_item)


def _codes(table: FrequencySet, column: Column) -> IntArray:
    """Write a column in the codes of the original; -1 is what the original does not have."""
    code = {None if v is None else text_of(v): i for i, v in enumerate(column.values)}
    values = table.column(column.name).values
    found = [code.get(None if v is None else text_of(v), -1) for v in values]
    return np.array(found, dtype=np.int64)[table.codes_of(column.name)]


def _tree(share: float) -> Any:  # noqa: ANN401 - a class of a library that may not be there
    try:
        trees = import_module("sklearn.tree")
    except ImportError:
        raise MissingExtraError("scikit-learn", "ml") from None
    # Columns are shuffled before each split even if all are looked at: a fixed seed breaks ties.
    return trees.DecisionTreeClassifier(min_weight_fraction_leaf=share, random_state=0)
