"""Making what a policy asks for: a release in one piece, or parted, by the tasks of two commands.

A method whose groups are people with equal quasi-identifiers parts an anonymised table, so
`sf.anonymize` comes first; others make buckets of the table as it is.
"""

import json
import os
from dataclasses import asdict, replace
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from sfumato.app.desk import Desk
from sfumato.dataclasses import dataclass
from sfumato.decouplings import DECOUPLINGS, Decoupling
from sfumato.errors import InputError
from sfumato.evidence import SigningKey
from sfumato.policy import Policy
from sfumato.releases.release import DecoupledRelease, Release
from sfumato.tables import DatabaseTable, open_table
from sfumato.tasks.anonymize import anonymize
from sfumato.tasks.decouple import decouple
from sfumato.text import format_integer
from sfumato.typing import Progress

WHOLE = "whole"
"""What the release in one piece is called that a parted one is made of, and that is not kept."""


def decoupling_of(policy: Policy) -> Decoupling | None:
    """Return how a policy parts its release; None if it is published in one piece."""
    return policy.make_decoupling(DECOUPLINGS)


_MOST_FETCHED = 2_000_000
"""Rows of a database that are fetched to make a release in memory."""


def rows_at_hand(source: str) -> object:
    """Return a table that a release in memory can be made of: rows of a database are fetched.

    Args:
        source: Where the table is, as a task takes it.
    """
    table = open_table(source)
    if not isinstance(table, DatabaseTable):
        return source
    rows = table.head(_MOST_FETCHED + 1)
    if len(rows) > _MOST_FETCHED:
        raise InputError(
            f"the table has more than {format_integer(_MOST_FETCHED)} rows, and they are not "
            "brought here from a "
            "database. Publish the release first, and have it judged where it lies."
        )
    return rows


@dataclass(frozen=True)
class ReleaseWish:
    """What is to be made, of what."""

    source: object
    """The table, as a task takes it."""

    policy: Policy
    format: str | None = None
    seed: int | None = None
    key: SigningKey | None = None
    even_so: bool | str = False
    """Why it is published although the answer is *no*; False if nobody insists."""

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
            even_so=self.even_so,
            seed=self.seed,
            people_file=people_file,
            progress=progress,
        )

    def part(
        self, data: object, output: Path | None, *, progress: Progress | None = None
    ) -> DecoupledRelease:
        """Return a release, or a table, in the parts that the policy asks for."""
        return decouple(
            data,
            policy=self.policy,
            output=output,
            format=None if output is None else self.format,
            key=self.key,
            even_so=self.even_so,
            seed=self.seed,
            progress=progress,
        )


# What was chosen of a release on the page Publish, and the commands that make the same.

_CHOICES = "publish"


@dataclass(frozen=True)
class Choices:
    """What was chosen for the next release; of a page, and no part of the policy."""

    name: str = ""
    """The folder; empty for the first that is not taken."""

    format: str = ""
    """The format of its files; empty for that of the input."""

    key: str = ""
    """The file of the private key that signs it; empty for none."""

    public: bool = True
    """Whether a public report lies in it."""

    private: bool = True
    """Whether a report for the publisher lies beside it."""

    people: bool = True
    """Where people are counted: whether a private file says who has which rows."""

    because: str = ""
    """Why it is published although the answer is *no*; for one release."""

    @property
    def signature(self) -> tuple[str, str]:
        """The options that sign it, or insist on it; on a command line and in Python."""
        signed, signing = "", ""
        if self.key:
            signed, signing = f" --key {quote(self.key)}", f", key={self.key!r}"
        if not self.because:
            return signed, signing
        insists = f" --even-so --because {quote(self.because)}"
        return f"{signed}{insists}", f"{signing}, even_so={self.because!r}"

    @classmethod
    def of(cls, desk: Desk) -> "Choices":
        """Return what was chosen, with a name that is free if none was."""
        try:
            given = json.loads(desk.settings.get(_CHOICES, "{}"))
            found = cls(**given)
        except (TypeError, ValueError):
            found = cls()
        return found if found.name else replace(found, name=free_name(desk))

    def save(self, desk: Desk) -> None:
        """Keep them for the next page, and for the next start after a crash."""
        desk.settings[_CHOICES] = json.dumps(asdict(self))
        desk.save()


def free_name(desk: Desk, stem: str = "release") -> str:
    """Return the name of a release that is not there yet: `release`, `release-2` and so on."""
    number = 1
    while True:
        name = stem if number == 1 else f"{stem}-{number}"
        if not os.path.lexists(desk.folder / name):
            return name
        number += 1


def report_name(release: str) -> str:
    """Return what the publisher's own report on a release is called."""
    return f"{release}-report.html"


def people_name(release: str) -> str:
    """Return what the people file of a release is called."""
    return f"{release}-people.parquet"


class CommandLine(NamedTuple):
    """One command, and the Python that does the same."""

    command: str
    python: str


def lines_of(desk: Desk, data: str) -> list[CommandLine]:
    """Return what makes the release that the page Publish makes, step by step.

    Args:
        desk: What is worked on.
        data: How the table is called on a command line.
    """
    choices, policy = Choices.of(desk), desk.require_policy()
    decoupling, file = decoupling_of(policy), desk.policy_file.name
    more, also = "", ""
    if choices.format:
        more, also = f" --format {choices.format}", f", format={choices.format!r}"
    if desk.seed is not None:
        more, also = f"{more} --seed {desk.seed}", f"{also}, seed={desk.seed}"
    signed, signing = choices.signature
    # Who signed the release has said there why.
    sealed, sealing = replace(choices, because="").signature
    name, lines = choices.name, []
    kept, keeping = "", ""
    if policy.counted_person is not None and choices.people and decoupling is None:
        kept = f" --people-file {quote(people_name(name))}"
        keeping = f", people_file={people_name(name)!r}"
    whole = name if decoupling is None else f"{name}-{WHOLE}"
    if decoupling is None or decoupling.keeps_classes:
        own, owning = (signed, signing) if decoupling is None else ("", "")
        lines.append(
            CommandLine(
                f"sfumato anonymize {quote(data)} -p {quote(file)}{more}{own}{kept} "
                f"-o {quote(whole)}",
                f"sf.anonymize({data!r}, {file!r}{also}{owning}{keeping}, output={whole!r})",
            )
        )
        data_of = whole
    else:
        data_of = data
    if decoupling is not None:
        lines.append(
            CommandLine(
                f"sfumato decouple {quote(data_of)} -p {quote(file)}{more}{signed} "
                f"-o {quote(name)}",
                f"sf.decouple({data_of!r}, policy={file!r}{also}{signing}, output={name!r})",
            )
        )
    if choices.public:
        lines.append(
            CommandLine(
                f"sfumato report {quote(name)} --public{sealed} -o {quote(f'{name}/report.html')}",
                f"sf.report({name!r}, public=True).save({f'{name}/report.html'!r}{sealing})",
            )
        )
    if choices.private:
        beside, besides = "", ""
        if kept:
            beside, besides = kept, keeping
        lines.append(
            CommandLine(
                f"sfumato report {quote(name)} --data {quote(data)} -p {quote(file)}{beside} "
                f"-o {quote(report_name(name))}",
                f"sf.report({name!r}, data={data!r}, policy={file!r}{besides})"
                f".save({report_name(name)!r})",
            )
        )
    return lines
