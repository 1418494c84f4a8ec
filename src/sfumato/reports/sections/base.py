"""The contract of a section: a question, and how its answer is found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sfumato.content import Part, Section
from sfumato.errors import SfumatoError
from sfumato.reports.dossier import Dossier


class NotHereError(SfumatoError):
    """A section does not apply; the text says why, in one line."""


@dataclass(frozen=True)
class Chapter:
    """A question, how to read the answer, and the function that finds it.

    Example:
        >>> from pathlib import Path
        >>> def nothing(dossier):
        ...     raise NotHereError("there is nothing to say")
        >>> Chapter("x", "Nothing", "Read on.", nothing).of(Dossier(Path("release")))
        'there is nothing to say'
    """

    id: str
    title: str
    how_to_read: str
    parts: Callable[[Dossier], Sequence[Part]]
    """Answers the question, or raises `NotHereError`."""

    def of(self, dossier: Dossier) -> Section | str:
        """Return the section, or the reason why it is not possible."""
        try:
            return Section(self.id, self.title, self.how_to_read, tuple(self.parts(dossier)))
        except NotHereError as error:
            return str(error)
        except SfumatoError as error:
            # Files that are not what they should be; the verdict says so too.
            if dossier.public:
                return "the files of the release do not allow it"
            return f"it could not be computed: {dossier.without_path(str(error))}"


def need_original(dossier: Dossier) -> None:
    """Raise if the original, which only the publisher has, was not given."""
    if dossier.data is None:
        raise NotHereError(
            "it needs the original, which a public report never sees"
            if dossier.public
            else "it needs the original: --data original.csv"
        )
