"""The material of a report: a release, and everything that several sections need."""

import datetime as dt
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path

from sfumato.attacks import Target
from sfumato.attacks.adversary.target import target_of
from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, ParameterError, PolicyError
from sfumato.policy import GivenPolicy, Policy, RiskLevels, policy_of
from sfumato.recode.gone import DataGone
from sfumato.releases.manifest import MANIFEST, Manifest, SearchRecord, SyntheticRecord
from sfumato.releases.opening import (
    Published,
    UnreadableRelease,
    count_columns,
    open_release,
)
from sfumato.releases.release import DecoupledRelease, Release, public_name
from sfumato.tasks.assessment import Assessment
from sfumato.tasks.utility import utility
from sfumato.tasks.verify import verify
from sfumato.usefulness import Utility
from sfumato.verifier import Verdict


@dataclass(frozen=True, eq=False)
class Dossier:
    """A release, and everything else known of it; each fact is computed when it is needed."""

    release: Published

    data: object = None
    """The original table."""

    policy: Policy | None = None
    ledger: Path | None = None
    public: bool = False
    population: object = None
    """All people the data was drawn from."""

    outside: object = None
    """A list of people that others have."""

    earlier: object = None
    """Releases of the same people before this one."""

    date: dt.date | None = None
    """The day of the report; None in a public one, which is the same whenever it is made."""

    search: SearchRecord | None = None
    """How levels were found, with what only the publisher may know, if it was just made."""

    loss: float | None = None
    """The loss that was kept small, likewise."""

    @property
    def has_list(self) -> bool:
        """Whether people could be linked with a list that others may have."""
        named = None if self.policy is None else self.policy.population
        return any(each is not None for each in (self.outside, self.population, named))

    @property
    def owner(self) -> str | None:
        """The one who answers for the release, if that is stated."""
        return self._statement("owner")

    @property
    def purpose(self) -> str | None:
        """The use that the release is for, if that is stated."""
        return self._statement("purpose")

    def _statement(self, name: str) -> str | None:
        for source in (self.policy, self.manifest):
            said: str | None = getattr(source, name, None)
            if said is not None:
                return said
        return None

    @property
    def folder(self) -> Path | None:
        """The folder of the release; None if it is not in one."""
        return self.release.folder

    @cached_property
    def manifest(self) -> Manifest | None:
        """The manifest of the release; None if it cannot be read."""
        try:
            return self.release.manifest
        except InputError:
            # The verdict reports what is wrong with it.
            return None

    @property
    def kind(self) -> str | None:
        """The kind of decoupling; None if the table is in one piece."""
        return None if self.manifest is None else self.manifest.kind

    @property
    def drawn(self) -> SyntheticRecord | None:
        """The promise of rows that a mechanism drew; None if they are judged as people's."""
        if self.manifest is None or not self.assessment.beliefs:
            return None
        return self.manifest.drawn

    def with_role(self, role: str) -> tuple[str, ...]:
        """Return the names of the published columns of a role."""
        return () if self.manifest is None else self.manifest.with_role(role)

    @cached_property
    def levels(self) -> RiskLevels:
        """The risk levels of the publisher."""
        try:
            return self.release.risk_levels
        except (InputError, PolicyError):
            return RiskLevels()

    @property
    def gone(self) -> DataGone | None:
        """The loss over all columns, for the publisher; None if that is not known any more."""
        given = self.release.given
        return given.gone if isinstance(given, Release) and not self.public else None

    @cached_property
    def assessment(self) -> Assessment:
        """The answer whether it may be published."""
        given = self.release.given
        # A report for all readers knows what they know: the maker's policy is not among it.
        own = given.policy if isinstance(given, Release) and not self.public else None
        found = verify(
            self.release,
            own if self.policy is None else self.policy,
            data=self.data,
            population=self.population,
            outside=self.outside,
            earlier=self.earlier,
        )
        return replace(found, verdict=self._without_paths(found.verdict))

    def _without_paths(self, verdict: Verdict) -> Verdict:
        """Return a verdict without the path of the folder, which only concerns the publisher."""
        if self.folder is None or not self.public:
            return verdict
        return Verdict(
            tuple(
                replace(check, detail=self.without_path(check.detail)) for check in verdict.checks
            )
        )

    def without_path(self, text: str) -> str:
        """Return a text without the path of the folder."""
        if self.folder is None:
            return text
        for place in map(str, (self.folder.resolve(), self.folder.absolute(), self.folder)):
            text = text.replace(f"{place}{os.sep}", "").replace(f"'{place}'", "the release")
            if os.sep in place:
                # The name of a folder may be any word of the text; a path is not.
                text = text.replace(place, "the release")
        return text

    @cached_property
    def target(self) -> Target:
        """The release as an adversary sees it: groups and what is in them."""
        return target_of(self.release)

    @cached_property
    def original(self) -> FrequencySet | None:
        """The original over the published columns; None if it was not dossier."""
        if self.data is None:
            return None
        return count_columns(
            self.data, (*self.with_role("quasi-identifier"), *self.with_role("sensitive"))
        )

    @cached_property
    def utility(self) -> Utility:
        """The distance of answers from the release to those from the original."""
        return utility(self.data, self.release, policy=self.policy)


def open_dossier(  # noqa: PLR0913 - all but one have a default and are named
    release: object,
    *,
    data: object = None,
    policy: GivenPolicy | None = None,
    ledger: str | PathLike[str] | None = None,
    people_file: object = None,
    population: object = None,
    outside: object = None,
    earlier: object = None,
    date: dt.date | None = None,
    public: bool = False,
) -> Dossier:
    """Open a release for a report, and check everything given with it."""
    if public:
        given = {"data": data, "policy": policy, "ledger": ledger, "people_file": people_file}
        beside = {"population": population, "outside": outside, "earlier": earlier, "date": date}
        _require_nothing_private({**given, **beside})
    policy = policy_of(policy)
    search, loss = None, None
    if isinstance(release, Release):
        search = release.manifest.known_search
        loss = release.manifest.known_losses.get(str(release.manifest.loss))
    if isinstance(release, Release):
        # Nor may a public report tell what only the publisher can count.
        people_file = release.people if people_file is None and not public else people_file
        release = replace(release, people=None)
    found = _open(release, policy, people_file)
    return Dossier(
        found,
        data,
        policy,
        None if ledger is None else Path(ledger),
        public,
        population,
        outside,
        earlier,
        None if public else date or dt.date.today(),
        None if public else search,
        None if public else loss,
    )


def _require_nothing_private(asked: Mapping[str, object]) -> None:
    for name, value in asked.items():
        if value is not None:
            raise ParameterError(
                name,
                _describe(value),
                "left out with public=True (--public)",
                why="a public report says only what every reader can compute from the release",
            )


def _describe(value: object) -> str:
    return str(value) if isinstance(value, str | PathLike) else f"a {type(value).__name__}"


def _open(release: object, policy: Policy | None, people_file: object) -> Published:
    """Open a release; refuse a plain table."""
    if isinstance(release, Release | DecoupledRelease) and release.folder is not None:
        # What lies in the folder is what others get, whatever the object remembers.
        release = release.folder
    found = open_release(release, policy, people_file=people_file)
    if isinstance(found, UnreadableRelease) or found.manifest is not None:
        return found
    if isinstance(release, str | PathLike):
        raise InputError(
            f"there is no {MANIFEST} in {public_name(release)!r}. Give the folder of a release; "
            "of a plain table, sfumato verify says what it gives away."
        )
    raise ParameterError("release", _describe(release), "a release, or the folder of one")
