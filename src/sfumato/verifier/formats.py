"""Formats of plug-ins, read again: the verifier takes nothing from the code that wrote them."""

from abc import ABC, abstractmethod
from functools import cache
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from sfumato.registry import find_installed


class VerifiedFormat(ABC):
    """Reads files of a format that a plug-in adds.

    A plug-in registers its class as an entry point of the group `sfumato.verifier.formats`, beside
    the one in `sfumato.formats` that writes such files. The two should have as little in common as
    can be: a mistake in one is found by the other.
    """

    name: ClassVar[str]
    """The format, as a manifest calls it."""

    endings: ClassVar[tuple[str, ...]]
    """What names of such files end in."""

    @abstractmethod
    def read(self, path: Path) -> pa.Table:
        """Read a file."""

    @abstractmethod
    def find_hidden(self, path: Path) -> list[str]:
        """Return in words what a file holds that no cell of its rows does, one text each."""


@cache
def plugins() -> dict[str, VerifiedFormat]:
    """Return the formats of plug-ins by name."""
    found = [point.load()() for point in find_installed("sfumato.verifier.formats")]
    return {each.name: each for each in found}
