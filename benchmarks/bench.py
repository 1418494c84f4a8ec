"""What every benchmark is given, and gives."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.results import Figure
from benchmarks.workloads import Files


@dataclass(frozen=True)
class Bench:
    """A run: where its files are, and how thorough it is to be."""

    files: Files
    quick: bool = False
    peers: bool = False

    @property
    def repeats(self) -> int:
        """How often to repeat what takes a moment."""
        return 3 if self.quick else 9

    @property
    def few(self) -> int:
        """How often to repeat what takes a second or more."""
        return 1 if self.quick else 3


Benchmark: TypeAlias = Callable[[Bench], Iterator[Figure]]
