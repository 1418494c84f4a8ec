"""A search of a table as the beginning of one of the rows that it publishes."""

from dataclasses import replace

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.losses.base import Attribute, CellLossFunction
from sfumato.models.base import PrivacyModel
from sfumato.search.base import Checker, Found
from sfumato.search.lessons import Lesson
from sfumato.text import text_or_none


@dataclass(frozen=True, eq=False)
class WiderSearch:
    """A search of a table that came to its end, for a search of the rows that it publishes.

    Let no row of the published ones be suppressed at a node, and all models be such that what
    holds for a class holds for a larger one. Then the node is valid for the whole table, too: only
    rows that are not published can be in a class that breaks a promise. And it loses no more there:
    each row that was not published costs as much as a suppressed row now, and at most that there.
    So what is not valid for the whole table is not valid for its part, no node of the part loses
    less, and the best node of the whole table is one of the best of the part.
    """

    lesson: Lesson
    asked: object
    own_reference: bool
    limit: int
    loss: CellLossFunction
    attributes: tuple[Attribute, ...]

    @classmethod
    def of(cls, checker: Checker, found: Found) -> "WiderSearch | None":
        """Return what was learned; None if it says nothing of a part of the rows.

        Args:
            checker: What was searched.
            found: What was found in the end.
        """
        loss = checker.loss
        if (
            checker.lesson_key is None
            or not found.proven
            or not checker.all_absorbing
            or checker.grouping.person is not None
            or not isinstance(loss, CellLossFunction)
            or not loss.charges_suppressed_cells_alike
        ):
            return None
        lesson = checker.grouping.lessons.latest(checker.lesson_key, checker.models)
        if lesson is None or lesson.best is None:
            return None
        return cls(
            lesson, checker.asked, checker.own_reference, checker.limit, loss, checker.attributes
        )

    def teach(self, checker: Checker) -> bool:
        """Add what is known to what the search of a part begins with; return whether it holds.

        Args:
            checker: The part, of which nothing may be suppressed.
        """
        key, lattice = checker.lesson_key, checker.lattice
        if (
            key is None
            or checker.limit
            or (checker.asked, checker.own_reference) != (self.asked, self.own_reference)
            or not _same_models(checker.models, self.lesson.models)
            or lattice.size != len(self.lesson.hopeless)
            or not all(map(self._is_part, range(len(self.attributes)), checker.attributes))
        ):
            return False
        checker.grouping.lessons.add(replace(self.lesson, asked=key))
        return True

    def _is_part(self, i: int, part: Attribute) -> bool:
        """Return whether values have the same labels, and cells cost the same."""
        whole = self.attributes[i]
        one, other = whole.ladder, part.ladder
        rows = [int(each.frequency.sum()) + each.lost for each in (whole, part)]
        if one.height != other.height or rows[0] != rows[1]:
            return False
        at = {text_or_none(value): code for code, value in enumerate(one.values)}
        places = [at.get(text_or_none(value), -1) for value in other.values]
        if -1 in places:
            return False
        for level in range(one.height + 1):
            names, known = one.labels[level], other.labels[level]
            mine, theirs = one.codes[level][places].tolist(), other.codes[level].tolist()
            if [names[code] for code in mine] != [known[code] for code in theirs]:
                return False
        costs, kept = self.loss.costs_of(whole), self.loss.costs_of(part)
        return np.array_equal(costs[:, places], kept)


def _same_models(one: tuple[PrivacyModel, ...], other: tuple[PrivacyModel, ...]) -> bool:
    return len(one) == len(other) and all(a == b for a, b in zip(one, other, strict=True))
