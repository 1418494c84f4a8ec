"""Lessons of searches: what one policy taught that holds for stricter ones on the same table."""

from collections.abc import Hashable, Sequence

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.models.base import PrivacyModel
from sfumato.typing import BoolArray, FloatArray, IntArray, Node

_MOST = 24
"""Searches that are remembered; the oldest go first."""

_MOST_CLASSES = 2**16
"""Classes of a node whose sizes are kept."""

_MOST_SIZES = 2**22
"""Sizes that are kept of all nodes together."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a search that came to its end knows of a lattice."""

    asked: Hashable
    """All that was asked apart from the models: loss, limit, levels."""

    models: tuple[PrivacyModel, ...]
    best: Node | None
    hopeless: BoolArray
    """Which nodes are not valid."""

    floors: FloatArray
    """What the loss of each node is not below, if it is valid."""


class Lessons:
    """What was learned of one table, for searches to come.

    A policy that promises more suppresses no fewer rows at any node. So what is not valid for a
    policy is not valid for a stricter one, and no node loses less.

    The sizes of the classes of a node are the same whatever is promised. They are kept, too: for
    another k they say at once which rows are lost.
    """

    def __init__(self) -> None:
        self._learned: list[Lesson] = []
        self._sizes: dict[Node, IntArray] = {}
        self._kept = 0

    def note(self, node: Node, rows: IntArray) -> None:
        """Keep how large the classes of a node are, unless there are too many."""
        if node in self._sizes or len(rows) > _MOST_CLASSES:
            return
        if self._kept + len(rows) > _MOST_SIZES:
            self._sizes, self._kept = {}, 0
        # Without those that only a population has.
        self._sizes[node] = rows if rows.all() else rows[rows > 0]
        self._kept += len(rows)

    def sizes(self) -> list[tuple[Node, IntArray]]:
        """Return the sizes of classes of all nodes that were noted, the coarsest nodes first."""
        return sorted(self._sizes.items(), key=lambda noted: -sum(noted[0]))

    def add(self, lesson: Lesson) -> None:
        """Remember a search."""
        self._learned = [*self._learned[1 - _MOST :], lesson]

    def latest(self, asked: Hashable, models: Sequence[PrivacyModel]) -> Lesson | None:
        """Return what the latest search for just these models taught; None if there was none."""
        for lesson in reversed(self._learned):
            if lesson.asked == asked and lesson.models == tuple(models):
                return lesson
        return None

    def clear(self) -> None:
        """Forget what was searched."""
        self._learned = []

    def of(
        self, asked: Hashable, models: Sequence[PrivacyModel]
    ) -> tuple[BoolArray | None, FloatArray | None]:
        """Return which nodes are known not to be valid, and floors; None if nothing is known."""
        hopeless: BoolArray | None = None
        floors: FloatArray | None = None
        for lesson in self._learned:
            if lesson.asked == asked and _all_imply(models, lesson.models):
                hopeless = lesson.hopeless if hopeless is None else hopeless | lesson.hopeless
                floors = lesson.floors if floors is None else np.maximum(floors, lesson.floors)
        return hopeless, floors

    def good_nodes(self, asked: Hashable) -> list[Node]:
        """Return nodes that were best for policies like this one, the latest first."""
        found = [each.best for each in self._learned if each.asked == asked and each.best]
        return [*dict.fromkeys(reversed(found))][:2]


def _all_imply(models: Sequence[PrivacyModel], others: Sequence[PrivacyModel]) -> bool:
    return all(any(model.implies(other) for model in models) for other in others)
