"""Claims: what a release says chance did to its columns, held against what it publishes."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from sfumato.attacks.claim_fit import ClaimFit
from sfumato.attacks.nearly_exact import NearlyExact
from sfumato.attacks.perturbed import look_at
from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.errors import SfumatoError
from sfumato.perturbations import Perturbation
from sfumato.releases.manifest import ColumnRecord
from sfumato.releases.opening import Published, PublishedTable
from sfumato.showing.content import plain_of


@dataclass(frozen=True)
class ChanceClaim:
    """What is said about one column: that chance has changed its values, and how.

    A claim softens what attacks find, so someone must answer for it. One that the reader's policy
    makes too is theirs. One that only the manifest makes is an assumption: the column is attacked
    as if it were exact as well. One that does not fit what is published is believed by no one.

    Example:
        >>> claim = ChanceClaim("ill", None, "pram", confirmed=False, why="keep must be below 1")
        >>> claim.believed, str(claim)
        (False, 'pram of ill is not believed: keep must be below 1')
    """

    column: str
    member: Perturbation | None
    """What chance did; None if what is said makes no sense."""

    kind: str
    """What it is called."""

    confirmed: bool
    """Whether the reader's policy says the same. Else only the manifest does."""

    tested: bool = False
    """Whether what is published was held against it."""

    probability: float = 1.0
    """How likely something as odd as what is published is under the claim, at most."""

    why: str = ""
    """What does not fit, in words."""

    @property
    def fits(self) -> bool:
        """Whether published values can be what chance made of some true ones."""
        return self.member is not None and not self.why

    @property
    def believed(self) -> bool:
        """Whether attacks go by it."""
        return self.fits

    @property
    def open(self) -> bool:
        """Whether it is believed, and no one but the manifest says so."""
        return self.believed and not self.confirmed

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "column": self.column,
            "kind": self.kind,
            "settings": {} if self.member is None else self.member.params(),
            **plain_of(self, "confirmed fits tested probability why"),
        }

    def __str__(self) -> str:
        named = f"{self.kind} of {self.column}"
        return f"{named} is not believed: {self.why}" if self.why else named


def chance_claims(release: Published) -> tuple[ChanceClaim, ...]:
    """Return what a release says chance did to its columns, each held against what it publishes.

    Where there is a policy, what it does not say is no claim: the manifest would set the bar that
    it is judged by.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.releases.opening import open_release
        >>> chance_claims(open_release(pa.table({"age": [30]}), quasi_identifiers=["age"]))
        ()
    """
    manifest = release.manifest
    if manifest is None:
        return ()
    if release not in _HELD:
        rows = _ClaimedRows(release)
        said = [record for record in manifest.columns if record.perturbed]
        claims = [_claim_of(record, release, rows) for record in said]
        _HELD[release] = tuple(claim for claim in claims if claim is not None)
    return _HELD[release]


_HELD: "WeakKeyDictionary[Published, tuple[ChanceClaim, ...]]" = WeakKeyDictionary()
"""What was found of each release that is still in use: several ask for it, and it takes time."""


def randomised_columns(release: Published) -> dict[str, Perturbation]:
    """Return the published columns whose values chance has changed, and how, as far as believed."""
    claims = chance_claims(release)
    return {c.column: c.member for c in claims if c.believed and c.member is not None}


def hidden_columns(release: Published) -> tuple[str, ...]:
    """Return the columns of which chance hides what is true, and not nearly nothing of it.

    Where a claim is open, this is what is believed without anyone who answers for it.
    """
    if not isinstance(release, PublishedTable):
        return tuple(randomised_columns(release))
    data = release.data
    there = data.names if isinstance(data, FrequencySet) else release.table.columns
    found = {n: m for n, m in randomised_columns(release).items() if n in there}
    [counts] = release.counts(tuple(found)).tables if found else [None]
    return tuple(
        name
        for name, member in found.items()
        if counts is not None and NearlyExact.read(look_at(counts, name), member) is None
    )


def _claim_of(record: ColumnRecord, release: Published, rows: "_ClaimedRows") -> ChanceClaim | None:
    """Return what a manifest claims of a column; None if it is nothing that counts."""
    stated: Mapping[str, tuple[Perturbation, ...]] = {}
    if release.policy is not None:
        stated = release.policy.perturbations
    name, confirmed = record.name, release.policy is not None
    try:
        chain = record.perturbations
    except SfumatoError as fault:
        if confirmed:
            return None
        return ChanceClaim(name, None, _kind(record), confirmed, why=str(fault))
    drawn = [member for member in chain if member.random]
    if not drawn or (confirmed and stated.get(name, ()) != chain):
        return None
    member = drawn[-1]
    if len(drawn) > 1:
        # No policy can ask for it: what both together do is not known.
        why = "chance is said to have changed it more than once"
        return ChanceClaim(name, member, member.name, confirmed, why=why)
    fit = rows.hold(name, member)
    if fit is None:
        return ChanceClaim(name, member, member.name, confirmed)
    why = "" if fit.believable else fit.why
    claim = ChanceClaim(name, member, member.name, confirmed, tested=True, why=why)
    return replace(claim, probability=fit.probability)


def _kind(record: ColumnRecord) -> str:
    """Return what a claim calls itself that makes no sense."""
    return ", then ".join(str(each.get("kind"))[:40] for each in record.perturbed or ())


@dataclass(frozen=True, eq=False)
class _ClaimedRows:
    """The published rows of a release, read once some claim is held against them."""

    release: Published

    @cached_property
    def _columns(self) -> tuple[str, ...]:
        """The columns that can be held against a claim: one value per row, as it stands."""
        release = self.release
        if not isinstance(release, PublishedTable) or release.manifest is None:
            return ()
        data = release.data
        there = data.names if isinstance(data, FrequencySet) else release.table.columns
        said = [record.name for record in release.manifest.columns if record.perturbed]
        others = {*release.quasi_identifiers, *release.sets, *release.generalised}
        return tuple(name for name in said if name in there and name not in others)

    @cached_property
    def _counts(self) -> FrequencySet:
        release = self.release
        assert isinstance(release, PublishedTable)  # noqa: S101 - it has columns then
        [counts] = release.counts((*release.quasi_identifiers, *self._columns)).tables
        return release.without_starred(counts)

    def hold(self, name: str, member: Perturbation) -> ClaimFit | None:
        """Compare a claim against the rows; None if nothing can be said."""
        if name not in self._columns:
            return None
        known = self._counts.project((*self.release.quasi_identifiers, name))
        known = known.without(known.codes_of(name) == known.column(name).missing).compact()
        seen = look_at(known, name)
        if self.release.counts_people:
            # What a person has again becomes the same again: rows are not drawn one by one.
            wrong = member.numeric and not member.rearranges
            numbers = not wrong or bool(np.isfinite(seen.numbers).all())
            return None if numbers else ClaimFit(0.0, ClaimFit.NO_NUMBERS)
        classes = known.group_by(self.release.quasi_identifiers).of_item
        codes = known.codes_of(name).astype(np.int64)
        return ClaimFit.test(classes, codes, known.rows, seen, member)
