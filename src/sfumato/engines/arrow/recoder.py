"""What a recoding must be able to do for the rows of a batch."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import pyarrow as pa

from sfumato.engines.arrow.labels import Labels
from sfumato.typing import BoolArray, CodeArray


class Recoded(NamedTuple):
    """The rows of a batch after recoding."""

    codes: dict[str, CodeArray]
    """One label code per row for each recoded column; whatever there is in suppressed rows."""

    suppressed: BoolArray | None
    """Which rows are suppressed, None if none can be."""


class Recoder(ABC):
    """Turns rows into label codes, batch after batch."""

    looked_at: tuple[str, ...]
    """The columns it must be given."""

    labels: dict[str, Labels]
    """What the codes of each recoded column mean."""

    suppresses: bool
    """Whether there may be suppressed rows."""

    of_combinations: bool = False
    """Whether rows that are alike become alike, so that one of them can be encoded for all."""

    @abstractmethod
    def encode(self, batch: pa.RecordBatch) -> Recoded:
        """Recode some rows, or refuse rows that the recoding does not know."""

    def finish(self) -> None:
        """Refuse rows that are missing, when all rows were encoded."""
        return
