"""A list of people from elsewhere, held against the classes of a release."""

from collections.abc import Mapping
from typing import Self

import numpy as np

from sfumato.attacks.matching import matcher
from sfumato.attacks.target import Target
from sfumato.counts import FrequencySet, group, sums
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import LinkedTables
from sfumato.errors import ParameterError
from sfumato.hierarchy import Ladder
from sfumato.hierarchy.labels import Labels
from sfumato.text import text_of
from sfumato.typing import IntArray


@dataclass(frozen=True, eq=False)
class Outside:
    """The people of a list who fit each class, going by what the list says of them.

    A list may lack some quasi-identifiers. Classes that differ in those only look the same to
    the holder of the list, and are taken as one. Rows of stars fit those only who fit no other
    class, as far as the list has all columns to tell.

    Example:
        >>> release = [("1305*", "2*", "flu"), ("1305*", "2*", "hiv"), ("2407*", "2*", "hiv")]
        >>> counts = FrequencySet.from_rows(["zip", "age", "ill"], release)
        >>> drivers = [("Rajesh", 24078, 26), ("David", 13053, 28), ("Liza", 13053, 41)]
        >>> people = FrequencySet.from_rows(["name", "zip", "age"], drivers)
        >>> found = Outside.of(people, Target.of_table(counts, ("zip", "age"), ("ill",)))
        >>> found.fitting.tolist(), found.rows.tolist(), found.who(1)
        ([1, 1], [2, 1], 'Rajesh, 24078, 26')
    """

    people: FrequencySet
    kinds: FrequencySet
    """The same people, by what they share with the release alone."""

    of_class: IntArray
    """Per class of the release, which of the classes below it is part of."""

    rows: IntArray
    """The number of rows each of them has; where people are counted, of people."""

    fitting: IntArray
    """The number of people of the list who fit each of them."""

    last: IntArray
    """A person who fits: the position among the kinds; -1 if there is none."""

    @classmethod
    def of(
        cls,
        people: FrequencySet,
        target: Target,
        ladders: Mapping[str, Ladder] | None = None,
        levels: Mapping[str, int] | None = None,
    ) -> Self:
        """Join a list with a release on the quasi-identifiers they share.

        Args:
            people: The list, in raw values. Columns that are no quasi-identifiers tell who it is.
            target: The release.
            ladders: The hierarchies that labels come from, for the list's values.
            levels: The level of each column that was published at one level.
        """
        shared = [name for name in target.quasi_identifiers if name in people.names]
        if not shared:
            raise ParameterError(
                "people",
                list(people.names),
                f"a list with some of {list(target.quasi_identifiers)}",
            )
        at = [target.quasi_identifiers.index(name) for name in shared]
        columns = tuple(target.columns[position] for position in at)
        merged = group([target.labels[i] for i in at], [len(column.values) for column in columns])
        counted = target.classes.people
        if counted is None:
            rows = sums(merged.of_item, target.classes.rows, merged.n)
        else:
            rows = counted.roll_up(merged.of_item, merged.n).sizes
        classes = FrequencySet(columns, target.labels[at][:, merged.first], rows)
        kinds = people.project(shared)
        # What a release does not say of a person may be anything.
        labels = Labels(ladders or {}, levels or {}, strict=False, matches_any=True)
        fitting = np.zeros(merged.n, dtype=np.int64)
        last = np.full(merged.n, -1, dtype=np.int64)
        told = np.full(merged.n, len(shared) < len(target.quasi_identifiers), dtype=np.bool_)
        told[merged.of_item[~target.silent]] = True
        for kind, fits in matcher(kinds, LinkedTables((classes,)), labels).pairs(kinds.codes):
            if not told.all():
                # All classes that a person fits come at once.
                elsewhere = np.bincount(kind[told[fits]], minlength=len(kinds)) > 0
                may = told[fits] | ~elsewhere[kind]
                kind, fits = kind[may], fits[may]  # noqa: PLW2901 - those that are left
            fitting += sums(fits, kinds.rows[kind], merged.n)
            last[fits] = kind
        return cls(people, kinds, merged.of_item, rows, fitting, last)

    @property
    def size(self) -> int:
        """The number of people on the list."""
        return self.people.total

    def who(self, merged: int) -> str | None:
        """Return the only person who fits; None if there is none, or several."""
        if self.fitting[merged] != 1:
            return None
        same = np.ones(len(self.people), dtype=np.bool_)
        for column, code in zip(self.kinds.columns, self.kinds.codes, strict=True):
            same &= self.people.codes_of(column.name) == code[self.last[merged]]
        codes = self.people.codes[:, np.flatnonzero(same)[0]].tolist()
        values = [c.values[code] for c, code in zip(self.people.columns, codes, strict=True)]
        return ", ".join("(missing)" if value is None else text_of(value) for value in values)
