"""Making what a policy asks for: a release in one piece, or parted, by the tasks of two commands.

A method whose groups are people with equal quasi-identifiers parts an anonymised table, so
`sf.anonymize` comes first; others make buckets of the table as it is.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from sfumato.decouplings import DECOUPLINGS, Decoupling
from sfumato.evidence import SigningKey
from sfumato.policy import Policy
from sfumato.releases.release import DecoupledRelease, Release
from sfumato.tasks.anonymize import anonymize
from sfumato.tasks.decouple import decouple
from sfumato.typing import Progress

WHOLE = "whole"
"""What the release in one piece is called that a parted one is made of, and that is not kept."""


def decoupling_of(policy: Policy) -> Decoupling | None:
    """Return how a policy parts its release; None if it is published in one piece."""
    return policy.make_decoupling(DECOUPLINGS)


@dataclass(frozen=True)
class Wish:
    """What is to be made, of what."""

    source: str
    """Where the table is, as a task takes it."""

    policy: Policy
    format: str | None = None
    seed: int | None = None
    key: SigningKey | None = None

    def make(
        self,
        output: Path,
        beside: Path,
        *,
        people_file: Path | None = None,
        progress: Progress | None = None,
    ) -> Release | DecoupledRelease:
        """Write the release into a folder, verified.

        Args:
            output: The folder to write.
            beside: A private folder, for the release in one piece that a parted one is made of.
            people_file: Where to keep who has which rows, if people are counted.
            progress: Told how far each stage is.
        """
        decoupling = decoupling_of(self.policy)
        if decoupling is None:
            return self.anonymize(output, people_file=people_file, progress=progress)
        data: object = self.source
        if decoupling.keeps_classes:
            data = beside / WHOLE
            replace(self, key=None).anonymize(data, progress=progress)
        return self.part(data, output, progress=progress)

    def anonymize(
        self,
        output: Path | None,
        *,
        people_file: Path | None = None,
        progress: Progress | None = None,
    ) -> Release:
        """Make the release in one piece; without an output, in memory."""
        return anonymize(
            self.source,
            self.policy,
            output=output,
            format=None if output is None else self.format,
            key=self.key,
            seed=self.seed,
            people_file=people_file,
            progress=progress,
        )

    def part(
        self, data: object, output: Path | None, *, progress: Progress | None = None
    ) -> DecoupledRelease:
        """Part a release, or a table, as the policy says; without an output, in memory."""
        return decouple(
            data,
            policy=self.policy,
            output=output,
            format=None if output is None else self.format,
            key=self.key,
            seed=self.seed,
            progress=progress,
        )
