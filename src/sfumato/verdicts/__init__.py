"""The answer whether a release may be published, in the forms that people and machines read.

One format is one file with one function from an assessment to a text; `FORMATS` finds them by name.
"""

from collections.abc import Callable

from sfumato.errors import UnknownNameError
from sfumato.tasks.verify import Assessment
from sfumato.verdicts import formats

__all__ = ["FORMATS", "written"]

FORMATS = ("text", "json", "markdown", "junit", "sarif")
"""What an answer can be written as."""


def written(assessment: Assessment, form: str, *, subject: str = "release") -> str:
    """Write an assessment in one of the forms.

    Args:
        assessment: What was found.
        form: One of `FORMATS`.
        subject: What it was found of, as it is to be called: a path that the reader knows.

    Example:
        >>> from sfumato.verifier import Check, Verdict
        >>> held = Assessment(Verdict((Check("rows", "holds", 4, 4),)))
        >>> print(written(held, "markdown", subject="release").splitlines()[0])
        # May `release` be published? Yes
    """
    if form not in FORMATS:
        raise UnknownNameError("format", form, FORMATS)
    write: Callable[[Assessment, str], str] = getattr(formats, f"write_{form}")
    return write(assessment, subject)
