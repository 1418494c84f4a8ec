"""A placeholder, to be replaced whole: a table whose counts stay in memory."""

from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.policy import Policy
from sfumato.typing import Progress


@dataclass(frozen=True)
class Glance:
    """What a status bar shows."""

    at_risk: int = 0
    people: int = 0
    loss: float = 0.0
    hidden: float = 0.0
    suppressed: int = 0
    smallest: int = 0
    verdict: str = "not asked"


class LiveTable:
    """A table whose counts stay in memory."""

    rows = 0

    def __init__(self, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)

    @classmethod
    def open(
        cls,
        data: object,
        policy: Policy | None,  # noqa: ARG003
        *,
        progress: Progress | None = None,  # noqa: ARG003
    ) -> "LiveTable":
        """Open a table."""
        from sfumato.tables import open_table

        return cls(open_table(data).columns)

    def look(self, policy: Policy, *, progress: Progress | None = None) -> Glance:
        """Return the figures of a policy."""
        return Glance()

    def column_facts(self, name: str, policy: Policy) -> object:
        """Return what is known of a column."""
        return None
