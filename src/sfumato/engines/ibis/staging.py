"""Tables that are finished and verified before they get their names.

A ledger and a database cannot commit together. So the tables are there first, under names that
nobody looks for; then the ledger knows of them; and only then do they get their names. Whatever
interrupts this, the ledger never forgets what was published, and the rest can be made up for.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex
from typing import TYPE_CHECKING

from sfumato.engines.ibis.address import Name, name_of, written
from sfumato.engines.ibis.appearing import appear, sweep, unpublished
from sfumato.engines.ibis.releases import (
    Unfinished,
    evidence_of,
    final_names,
    manifest_of,
    read_manifest,
)
from sfumato.errors import OutputError, SfumatoError

if TYPE_CHECKING:
    from sfumato.engines.ibis.database import Database


@dataclass(frozen=True)
class Staging:
    """Where a ledger's tables wait for their names. All names are given as they are written."""

    database: "Database"
    owner: str
    """Which ledger it is: letters and digits that are in the names of its waiting tables."""

    def require_unused(self, names: Sequence[str]) -> None:
        """Refuse names that tables have already, be it of a release or of its manifest."""
        for name in map(name_of, names):
            if self.database.exists(name):
                raise OutputError(
                    f"there is a table {written(name)} already, and what a ledger published is "
                    "never replaced. Choose another name."
                )

    @contextmanager
    def staged(
        self, name: str, others: Sequence[str], *, signed: bool, keep: Sequence[str]
    ) -> Iterator[Unfinished]:
        """Let tables and their manifest be there after the block, under other names, or none.

        Args:
            name: What the first table is to be called.
            others: What the further ones are to be called.
            signed: Whether their evidence is among them.
            keep: First tables that wait still; whatever else was staged before is removed.
        """
        first, further = name_of(name), [name_of(other) for other in others]
        every = [*further, *([evidence_of(first)] if signed else [])]
        self.require_unused([written(each) for each in (first, manifest_of(first), *every)])
        final_names(self.database, first, every, force=False)
        if self.database.in_transaction:
            raise OutputError(
                f"cannot publish into {name}: the connection is in a transaction, and what a "
                "ledger records is not undone with it. Commit it first, or give another connection."
            )
        self._sweep(first, [name_of(each)[-1] for each in keep])
        base = (*first[:-1], f"{self._prefix}{token_hex(8)}")
        waiting = [(*base[:-1], f"{base[-1]}_{i}") for i in range(1, len(others) + 1)]
        evidence = evidence_of(base) if signed else None
        with self.database.work(), unpublished(name):
            try:
                yield Unfinished(self.database, manifest_of(base), base, tuple(waiting), evidence)
            except BaseException:
                self._drop([manifest_of(base), evidence_of(base), base, *waiting])
                raise

    def settle(self, staged: Sequence[str], final: Sequence[str], told: str) -> str:
        """Give tables their names, if they have not got them; say what is in the way.

        Args:
            staged: What they were staged as, the first table first; without the manifest.
            final: What they are to be called.
            told: The hash of their manifest.
        """
        try:
            before, after = map(_with_manifest, (staged, final))
            self.database.require_free(after[0], force=True)
            sweep(self.database, after[0])
            waits = [self.database.exists(name) for name in before]
            there = [self.database.exists(name) for name in after]
            text = read_manifest(self.database, before[1] if waits[0] else after[1])
            complete = all(one or other for one, other in zip(waits, there, strict=True))
            if not complete or text is None or manifest_hash(text) != told:
                return (
                    f"{staged[0]} is not in this database, or was changed. Publish rows of the "
                    "database it is in; if it is gone, write it again from the ledger."
                )
            if any(waits):
                self.require_unused([written(name) for name in after])
                with self.database.work():
                    appear(self.database, [], before, after)
        except SfumatoError as error:
            return str(error)
        return ""

    def drop(self, staged: Sequence[str]) -> None:
        """Remove tables that were staged and are not to be published."""
        first = name_of(staged[0])
        self._drop([manifest_of(first), *map(name_of, staged)])

    def _sweep(self, near: Name, keep: Sequence[str]) -> None:
        """Remove what an interrupted publish left; tables that begin with `keep` stay."""
        with suppress(SfumatoError):
            found = self.database.tables_like(near[:-1], self._prefix)
            left = [name for name in found if not name.startswith(tuple(keep))]
            self._drop([(*near[:-1], name) for name in left])

    def _drop(self, names: Sequence[Name]) -> None:
        for name in names:
            # What cannot be reached any more is removed by the next sweep.
            with suppress(SfumatoError):
                self.database.ask(f"DROP TABLE IF EXISTS {self.database.quoted(name)}")

    @property
    def _prefix(self) -> str:
        return f"sfumato_{self.owner}_"


def manifest_hash(text: str) -> str:
    """Tell manifests apart.

    >>> manifest_hash("{}") == manifest_hash("{ }")
    False
    """
    return sha256(text.encode()).hexdigest()


def _with_manifest(names: Sequence[str]) -> list[Name]:
    """Name the manifest first: nobody shall meet a release without one."""
    found = [name_of(name) for name in names]
    return [manifest_of(found[0]), *found]
