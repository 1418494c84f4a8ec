"""Variables of statistical programs: a column with its label, and labels of its values."""

from collections.abc import Mapping
from dataclasses import field

from sfumato.dataclasses import dataclass


@dataclass(frozen=True)
class Variable:
    """What the dictionary of a file says about a column, apart from its name and its cells.

    Example:
        >>> sex = Variable(label="Sex", labels={"1": "male", "2": "female"}, category=True)
        >>> sex.code_of("male"), sex.code_of("*")
        ('1', None)
    """

    label: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    """The label of each code, which is written as text; codes of missing values included."""

    category: bool = False
    """Whether the labels are the cells, because every value has one; else the values are."""

    text: bool = False
    """Whether codes are text; else they are numbers, or letters for kinds of missing."""

    format: str | None = None
    """How the program that wrote the file shows the values, as in DATE11 or %td."""

    measure: str | None = None
    width: int | None = None
    """The bytes that the file keeps for a text."""

    mixed: bool = False
    """Whether cells of several types were made text."""

    def code_of(self, label: str) -> str | None:
        """Return the code that has a label; None if none has."""
        return next((code for code, each in self.labels.items() if each == label), None)


@dataclass(frozen=True)
class LabelledValue:
    """A value that occurs in a release, with its label."""

    code: str
    label: str
    missing: bool = False


@dataclass(frozen=True)
class PublishedVariable:
    """What a release tells about a column: nothing but what its rows show and its name says."""

    column: str
    label: str | None = None
    values: tuple[LabelledValue, ...] = ()

    def __bool__(self) -> bool:
        return self.label is not None or bool(self.values)
