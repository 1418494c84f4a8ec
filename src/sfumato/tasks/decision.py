"""What was decided: how to recode, and what is known of the release before it is written."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.classes import EquivalenceClasses, SensitiveColumn
from sfumato.recoding import Recoding
from sfumato.typing import IntArray


@dataclass(frozen=True, eq=False)
class Decision:
    """A recoding that keeps the promises, and everything a manifest says about it."""

    recoding: Recoding
    left: EquivalenceClasses
    """The published classes, as the models judge them."""

    sizes: IntArray
    """How many rows each published class has of its own."""

    suppressed: int
    """Rows that are not published, whatever the reason."""

    columns: Mapping[str, Mapping[str, Any]]
    """What to say of each quasi-identifier: how far it was generalised."""

    losses: Mapping[str, float]
    method: Mapping[str, Any]
    sensitive: Mapping[str, SensitiveColumn]
    search: Mapping[str, Any] | None = None
    """What the search did, if the method is one."""
