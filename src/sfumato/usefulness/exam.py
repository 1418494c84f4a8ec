"""The same questions for every release of a table."""

from collections.abc import Sequence

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.usefulness.associations import Associations, strengths
from sfumato.usefulness.classification import Accuracy, Classification
from sfumato.usefulness.estimator import Estimator
from sfumato.usefulness.original import Original
from sfumato.usefulness.query_errors import QueryErrors
from sfumato.usefulness.results import Utility
from sfumato.usefulness.workload import Workload


class Exam:
    """Knows the right answers and marks those of releases.

    Args:
        counts: The original table.
        quasi_identifiers: The columns that others may know.
        sensitive: The sensitive columns.
        workload: What queries are asked.
        seed: Where they come from.
        learning: What a classifier learns, and the people it is asked about; None leaves it out.

    Example:
        >>> rows = [(31, "flu"), (32, "flu"), (38, "gout"), (39, "gout")]
        >>> table = FrequencySet.from_rows(["age", "ill"], rows)
        >>> exam = Exam(table, ["age"], ["ill"], Workload(100), seed=1)
        >>> exam.of(Original(table)).queries.mean
        0.0
    """

    def __init__(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        workload: Workload,
        seed: int,
        learning: tuple[Classification, FrequencySet] | None = None,
    ) -> None:
        self._names = (*quasi_identifiers, *sensitive)
        self._seed = seed
        self._rows = counts.total
        self._truth = Original(counts)
        rng = np.random.default_rng(seed)
        self._queries = workload.draw(counts, quasi_identifiers, sensitive, rng=rng)
        self._answers = self._truth.counts(self._queries)
        self._strengths = strengths(self._truth, self._names)
        self._learning = learning

    def of(self, release: Estimator) -> Utility:
        """Mark the answers of a release."""
        # What hardly a row answers would drown all else: its error is taken relative to a
        # thousandth of the rows.
        bound = max(1.0, self._rows / 1000)
        return Utility(
            self._rows,
            round(release.total),
            QueryErrors(self._answers, release.counts(self._queries), bound),
            Associations.between(self._strengths, release, self._names),
            self._seed,
            self._accuracy(release),
        )

    def _accuracy(self, release: Estimator) -> Accuracy | None:
        if self._learning is None:
            return None
        tree, test = self._learning
        before, after = (
            tree.accuracy(each, test, rng=np.random.default_rng(self._seed))
            for each in (self._truth, release)
        )
        return Accuracy(tree.target, tree.baseline(test), before, after)
