"""What a release of a ledger consists of, wherever it is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from sqlite3 import Connection
from typing import Any, Protocol

import numpy as np

from sfumato._version import __version__
from sfumato.broken import Broken
from sfumato.decouplings import Parts, publish
from sfumato.errors import VerificationError
from sfumato.ledger.meta import Settings
from sfumato.ledger.pending import Staged
from sfumato.schema import Role
from sfumato.tasks.manifest import FORMAT, class_sizes, versions
from sfumato.verifier import Verdict


@dataclass(frozen=True, eq=False)
class Increment:
    """The tables of one release of a ledger."""

    broken: Broken
    """What they hold."""

    settings: Settings
    """What the ledger was started with."""

    sequence: int
    everything: bool
    """Whether they hold everybody, and not only the newcomers."""

    rng: np.random.Generator
    """The order of the rows."""

    reproducible: bool
    """Whether that comes from a seed."""

    @cached_property
    def parts(self) -> Parts:
        """The tables, as they are published."""
        return publish(self.broken, self.rng)

    @property
    def raw(self) -> tuple[str, ...]:
        """The columns whose values are published as they were given."""
        names, levels = self.settings.quasi_identifiers, self.settings.levels
        if self.settings.policy:
            names = tuple(name for name, level in zip(names, levels, strict=True) if level == 0)
        return (*names, *self.settings.sensitive)

    @property
    def owner(self) -> str:
        """What tells the ledger's unfinished work from that of others."""
        return owner_of(self.settings)

    def manifest(self, files: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Describe the release: everything in it may be public."""
        roles = dict.fromkeys(self.settings.quasi_identifiers, Role.QUASI_IDENTIFIER)
        roles |= dict.fromkeys(self.settings.sensitive, Role.SENSITIVE)
        smallest = int(self.broken.sizes.min())
        return {
            "format": FORMAT,
            "sfumato": __version__,
            "kind": "break-merge",
            "increment": {
                "sequence": self.sequence,
                "tables": "all" if self.everything else "newcomers",
            },
            "columns": [{"name": name, "role": role.value} for name, role in roles.items()],
            "rows": {"published": self.broken.total, "suppressed": 0, "suppression": "remove"},
            "missing": "own-value",
            "models": [{"model": "k-anonymity", "k": smallest, "measured": {"k": smallest}}],
            "classes": class_sizes(self.broken.sizes),
            "hierarchies": {},
            "left_out": {"columns": [], "models": []},
            "reproducible": self.reproducible,
            "versions": versions(),
            "group": self.parts.group,
            "count": self.parts.count,
            "files": list(files),
        }


class IncrementOutput(Protocol):
    """Where a release of a ledger is written: under another name first, until it is recorded."""

    @property
    def folder(self) -> Path | None:
        """The folder, if it is one."""

    @property
    def place(self) -> str | None:
        """The address of the first table, if it is in a database; no password is in it."""

    def stage(self, increment: Increment, db: Connection) -> Staged:
        """Write it, let the verifier read it again, and say what it is called until later."""

    def drop(self, staged: Staged) -> None:
        """Remove what was staged and is not to be published."""

    def finish(self, db: Connection) -> list[str]:
        """Give everything that waits its name; say what is in the way."""


def owner_of(settings: Settings) -> str:
    """Tell a ledger from others without telling its secret."""
    return sha256(settings.salt.encode()).hexdigest()[:12]


def require(verdict: Verdict) -> Verdict:
    """Refuse tables that are not as promised."""
    if not verdict.holds:
        raise VerificationError(
            "the increment was not published, because the verifier does not find in its tables "
            f"what was promised. This is a fault of Sfumato; please report it.\n{verdict}"
        )
    return verdict
