"""How correlations look: a heat map that says the same without colour, and the strongest pairs."""

from typing import TYPE_CHECKING

from sfumato.cli.show import bar, cell, fits, table

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from sfumato.tasks.correlations import CorrelationMap

_MOST_PAIRS = 10
_SHADES = " ░▒▓█"
_GREYS = ("", "black on grey93", "black on grey78", "black on grey62", "white on grey30")
"""The number says it, the shade repeats it, and so does the grey where there are colours."""


def correlations_view(found: "CorrelationMap") -> list["RenderableType"]:
    """A table of all pairs, and a line for each of the strongest."""
    numbers = [str(number) for number in range(1, len(found.names) + 1)]
    rows = [
        (number, name, *(_shaded(value, own=i == j) for j, value in enumerate(row)))
        for i, (number, name, row) in enumerate(
            zip(numbers, found.names, found.strength.tolist(), strict=True)
        )
    ]
    strongest = [
        (f"{one} – {other}", f"{value:.2f}", bar(value, 20))
        for one, other, value in found.pairs[:_MOST_PAIRS]
    ]
    every = table(("", "column", *numbers), rows, right=("", *numbers))
    pairs = table(("strongest pairs", found.measure, ""), strongest, right=(found.measure,))
    # Numbers that are broken over lines are worse than none.
    shown = every if fits(every) else cell("All pairs do not fit here: see --svg or --json.")
    return [cell(str(found).splitlines()[0]), shown, pairs]


def _shaded(value: float, *, own: bool) -> "Text":
    if own:
        return cell("–")
    step = min(int(value * len(_SHADES)), len(_SHADES) - 1)
    return cell(f"{_SHADES[step]}{value:.2f}", _GREYS[step])
