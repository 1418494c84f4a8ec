"""What an attack is, and what it finds."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

from sfumato.classes import EquivalenceClasses
from sfumato.typing import BoolArray, IntArray


class Attack(ABC):
    """A way to learn a sensitive value from a release without finding the person's row.

    The attacker knows which class a person is in, because the quasi-identifiers say so. A
    member of the family is a frozen dataclass: its fields say what is attacked, its
    docstring what is found and what is not. It sees counts only.
    """

    name: ClassVar[str]
    """What it is called in the registry, in reports and on the command line."""

    column: str
    """The sensitive column it is after."""

    @abstractmethod
    def run(self, classes: EquivalenceClasses) -> "Finding":
        """Attack every class, and say which gave something away."""

    def params(self) -> dict[str, Any]:
        """Give the settings that were made as plain values."""
        settings = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        return {name: _plain(value) for name, value in settings if value is not None}

    @classmethod
    @abstractmethod
    def example(cls) -> Self:
        """Give a small valid instance whose sensitive column is `disease`."""

    def __str__(self) -> str:
        return f"{self.name}({', '.join(_shown(*item) for item in self.params().items())})"


@dataclass(frozen=True, eq=False)
class Finding:
    """What an attack found: which classes are vulnerable, and how many rows are in them.

    Example:
        >>> from sfumato.attacks import Homogeneity
        >>> rows = [("A", "flu"), ("A", "flu"), ("B", "flu"), ("B", "gout")]
        >>> finding = Homogeneity("disease").run(classes_of(rows, column="disease"))
        >>> print(finding)
        homogeneity(disease) exposes 2 of 4 rows, in 1 of 2 classes
        >>> finding.suffers, finding.share, finding.vulnerable.tolist()
        (True, 0.5, [True, False])
    """

    attack: Attack
    vulnerable: BoolArray
    """One verdict per class, in the order of the classes. Read-only."""

    class_rows: IntArray
    """How many rows each class stands for."""

    def __post_init__(self) -> None:
        self.vulnerable.flags.writeable = False

    @property
    def name(self) -> str:
        """The attack's name."""
        return self.attack.name

    @property
    def column(self) -> str:
        """The column that was attacked."""
        return self.attack.column

    @property
    def classes(self) -> int:
        """How many classes are vulnerable."""
        return int(self.vulnerable.sum())

    @property
    def of_classes(self) -> int:
        """How many classes there are."""
        return len(self.vulnerable)

    @property
    def rows(self) -> int:
        """How many rows are in vulnerable classes."""
        return int(self.class_rows[self.vulnerable].sum())

    @property
    def of_rows(self) -> int:
        """How many rows there are."""
        return int(self.class_rows.sum())

    @property
    def share(self) -> float:
        """The share of rows in vulnerable classes; 0 for an empty table."""
        return self.rows / max(self.of_rows, 1)

    @property
    def suffers(self) -> bool:
        """Whether the attack succeeds anywhere: one class is enough."""
        return bool(self.vulnerable.any())

    def to_dict(self) -> dict[str, Any]:
        """Give the attack, its settings and the figures as plain values, ready for JSON."""
        figures = ("suffers", "classes", "of_classes", "rows", "of_rows", "share")
        return {
            "attack": self.name,
            **self.attack.params(),
            **{figure: getattr(self, figure) for figure in figures},
        }

    def __str__(self) -> str:
        if not self.suffers:
            return f"{self.attack} exposes none of {self.of_rows} rows"
        return (
            f"{self.attack} exposes {self.rows} of {self.of_rows} rows, "
            f"in {self.classes} of {self.of_classes} classes"
        )


def _plain(value: object) -> object:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def _shown(name: str, value: object) -> str:
    if name == "column":
        return str(value)
    return f"{len(value)} {name}" if isinstance(value, list) else f"{name}={value}"
