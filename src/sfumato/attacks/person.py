"""One person: in which groups of a release somebody may be, and what their tables then say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sfumato.counts import Column
from sfumato.errors import UnknownColumnError
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray
from sfumato.usefulness.entries import apart
from sfumato.usefulness.facet import added


@dataclass(frozen=True, eq=False)
class Piece:
    """One published table, and which of its entries may be the person's."""

    bucket: IntArray
    """The group each entry stands in."""

    people: FloatArray
    """How many people each entry stands for."""

    fits: BoolArray
    """Whether what is known of the person agrees with the entry."""

    values: Mapping[str, tuple[Column, CodeArray]]
    """The sensitive columns it has, with the value of each entry."""


@dataclass(frozen=True, eq=False)
class OnePerson:
    """What somebody believes of a person who is in the data, given the tables of a release.

    The person is as likely one of the people as another, as far as they fit; entries of different
    tables belong together by the group alone, every way to put them together being as likely.
    So a group weighs as much as it has people, times the share of them that fits in each of
    its tables. Sliced tables are judged as their literature does, where groups of all sizes
    weigh the same.

    Args:
        pieces: The tables. One that holds everything has rows; several hold a group's parts.
        n: How many groups there are.
        by_size: Whether a group weighs as much as it has people.
        weights: Per sensitive column and value, how much likelier the person is known to have
            it than anybody is: 0 if the person is known not to.

    Example:
        >>> ill = Column("ill", ("flu", "hiv"))
        >>> codes = np.array([0, 1, 1], dtype=np.int32)
        >>> table = Piece(np.array([0, 0, 1]), np.array([3.0, 1.0, 2.0]),
        ...     np.array([True, True, True]), {"ill": (ill, codes)})
        >>> one = OnePerson((table,), 2)
        >>> one.groups.round(2).tolist(), one.posterior("ill").tolist()
        ([0.67, 0.33], [0.5, 0.5])
        >>> OnePerson((table,), 2, weights={"ill": np.array([0.0, 1.0])}).posterior("ill").tolist()
        [0.0, 1.0]
    """

    pieces: Sequence[Piece]
    n: int
    by_size: bool = True
    weights: Mapping[str, FloatArray] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> FloatArray:
        """How many people each group has."""
        every = [added(p.bucket, p.people, self.n) for p in self.pieces]
        if not all(np.array_equal(each, every[0]) for each in every):
            raise apart()
        sizes: FloatArray = every[0]
        return sizes

    @property
    def groups(self) -> FloatArray:
        """How likely the person is in each group; all 0 if nobody fits."""
        likely = self._base * np.prod(list(self._shares), axis=0)
        total = likely.sum()
        found: FloatArray = likely / total if total else likely
        return found

    def posterior(self, name: str) -> FloatArray:
        """Give how likely the person has each value of a sensitive column, by code.

        All are 0 if nobody fits. A missing value is one of the codes.
        """
        at = self._holder(name)
        piece = self.pieces[at]
        column, codes = piece.values[name]
        others = [share for i, share in enumerate(self._shares) if i != at]
        group = self._base * np.prod([np.ones(self.n), *others], axis=0)
        sizes = np.maximum(self.sizes, 1)
        entries = self._entries[at] * (group / sizes)[piece.bucket]
        likely = added(codes, entries, len(column.values))
        total = likely.sum()
        found: FloatArray = likely / total if total else likely
        return found

    def prior(self, name: str) -> FloatArray:
        """Give the share of everybody that has each value, by code."""
        piece = self.pieces[self._holder(name)]
        column, codes = piece.values[name]
        people = added(codes, piece.people, len(column.values))
        found: FloatArray = people / max(people.sum(), 1)
        return found

    @property
    def _base(self) -> FloatArray:
        return self.sizes if self.by_size else np.ones(self.n)

    @cached_property
    def _entries(self) -> list[FloatArray]:
        """Per table, how much each entry weighs."""
        found = []
        for at, piece in enumerate(self.pieces):
            weight = piece.people * piece.fits
            for name, (_, codes) in piece.values.items():
                if name in self.weights and self._holder(name) == at:
                    weight = weight * self.weights[name][codes]
            found.append(weight)
        return found

    @cached_property
    def _shares(self) -> list[FloatArray]:
        """Per table, the share of each group that fits."""
        sizes = np.maximum(self.sizes, 1)
        return [
            added(piece.bucket, weight, self.n) / sizes
            for piece, weight in zip(self.pieces, self._entries, strict=True)
        ]

    def _holder(self, name: str) -> int:
        """Find the table that has a sensitive column."""
        for at, piece in enumerate(self.pieces):
            if name in piece.values:
                return at
        known = [name for piece in self.pieces for name in piece.values]
        raise UnknownColumnError(name, known, where="the sensitive columns")
