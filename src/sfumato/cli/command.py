"""What a command is: a function, an example, and the same thing in Python."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sfumato.cli.endings import guarded


@dataclass(frozen=True)
class Command:
    """A function for the command line, and what its help ends with."""

    run: Callable[..., Any]
    epilog: str

    @property
    def name(self) -> str:
        """What users type."""
        return self.run.__name__.replace("_", "-")


def command(*, examples: str, python: str) -> Callable[[Callable[..., None]], Command]:
    """Make a function a command.

    Args:
        examples: Command lines, one per line.
        python: The same thing in Python.
    """

    def make(function: Callable[..., None]) -> Command:
        parts = {"Examples": examples, "In Python": f"import sfumato as sf\n{python}"}
        # A paragraph that starts with a backspace keeps its lines as they are.
        paragraphs = [
            "\b\n" + "\n".join([f"{title}:", *(f"  {line}" for line in text.splitlines())])
            for title, text in parts.items()
        ]
        return Command(guarded(function), "\n\n".join(paragraphs))

    return make
