"""What a section is before there is a release to write about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sfumato.errors import SfumatoError
from sfumato.reports.content import Part, Section
from sfumato.reports.given import Given


class NotHereError(SfumatoError):
    """A section does not apply; the text says why, in one line."""


@dataclass(frozen=True)
class Chapter:
    """A question, how to read the answer, and how to find it.

    Example:
        >>> from pathlib import Path
        >>> def nothing(given):
        ...     raise NotHereError("there is nothing to say")
        >>> Chapter("x", "Nothing", "Read on.", nothing).of(Given(Path("release")))
        'there is nothing to say'
    """

    id: str
    title: str
    how_to_read: str
    parts: Callable[[Given], Sequence[Part]]
    """Answers the question, or raises `NotHereError`."""

    def of(self, given: Given) -> Section | str:
        """Write the section; if it is not possible, say why."""
        try:
            return Section(self.id, self.title, self.how_to_read, tuple(self.parts(given)))
        except NotHereError as error:
            return str(error)
        except SfumatoError as error:
            # Files that are not what they should be; the verdict says so too.
            if given.public:
                return "the files of the release do not allow it"
            return f"it could not be computed: {given.anywhere(str(error))}"


def need_original(given: Given) -> None:
    """Refuse a section that only the publisher can compute."""
    if given.data is None:
        raise NotHereError(
            "it needs the original, which a public report never sees"
            if given.public
            else "it needs the original: --data original.csv"
        )
