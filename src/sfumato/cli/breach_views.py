"""How breaches look: a whole release, one person, and where somebody may be."""

from typing import TYPE_CHECKING

from sfumato.cli.show import bar, cell, table
from sfumato.leaks import ABOVE, UNLIMITED
from sfumato.leaks.combinations import listing, shown
from sfumato.tasks.percent import percent

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from sfumato.leaks import Breach, Combination, Comparison, Exposure, Holding, RiskLevels


def exposure_view(exposure: "Exposure", most: int) -> list["RenderableType"]:
    """What each adversary can guess, the worst cases, and what breaking changed."""
    broken = exposure.broken
    parts: list[RenderableType] = [
        cell(
            f"{broken.total} people in {len(broken)} groups. What can be guessed by joining the "
            "tables again, and how many people are expected at each level of risk:"
        ),
        _views(exposure),
        cell("The surest guesses at one column, and at all that are not known:"),
        _guesses(exposure, most),
    ]
    if exposure.comparison is not None:
        parts += [
            cell("How surely people's own values were told before breaking, and after:"),
            _comparison(exposure.comparison, exposure.alpha),
        ]
    return parts


def _views(exposure: "Exposure") -> "Table":
    above = [] if exposure.alpha is None else [f"above {exposure.alpha:g}"]
    levels = [name for name in exposure.levels.bounds() if name != "low"]
    heads = ("known", "guessed", "up to", "", "level", "on average", *levels, *above)
    total = max(exposure.broken.total, 1)
    rows = []
    for view in exposure.views:
        largest = float(view.largest.max(initial=0.0))
        expected = [percent(min(view.expected[name] / total, 1.0)) for name in levels]
        if view.expected_above is not None:
            expected.append(percent(min(view.expected_above / total, 1.0)))
        rows.append(
            (
                _known(view.known),
                ", ".join(view.told),
                percent(largest),
                bar(largest, 10),
                view.level,
                percent(view.mean),
                *expected,
            )
        )
    return table(heads, rows, right=("up to", *heads[5:]))


def _guesses(exposure: "Exposure", most: int) -> "Table":
    found: list[tuple[str, Combination]] = [("group", one) for one in exposure.columns.values()]
    if len(exposure.views) > 1:
        worst = max(exposure.views[1:], key=lambda view: float(view.largest.max(initial=0.0)))
        found += [(_known(worst.known), one) for one in worst.worst(most)]
    heads = ("known", "in the group", "people", "guess", "how surely", "", "level")
    rows = [
        (
            known,
            listing(one.group) or "everybody",
            one.size,
            listing(one.values),
            *_sure(one, exposure.levels),
        )
        for known, one in found
    ]
    return table(heads, rows, right=("people", "how surely"))


def _comparison(comparison: "Comparison", alpha: float | None) -> "Table":
    above = () if alpha is None else (f"above {alpha:g}, before", "after")
    heads = ("known", "worst before", "worst after", "mean before", "mean after")
    heads = (*heads, "people less sure", "people surer", *above)
    rows = [
        (
            _known(change.known),
            percent(float(change.before.worst)),
            percent(float(change.after.worst)),
            percent(change.before.mean),
            percent(change.after.mean),
            change.lowered,
            change.raised,
            *(() if alpha is None else (change.before.above, change.after.above)),
        )
        for change in comparison.changes
    ]
    return table(heads, rows, right=heads[1:])


def breach_view(breach: "Breach", alpha: float | None, most: int) -> list["RenderableType"]:
    """How likely each guess about a person is: column by column, and all together."""
    known = f", known besides: {listing(breach.knows)}" if breach.knows else ""
    head = f"{listing(breach.group) or 'Everybody'}: {breach.size} people{known}"
    parts: list[RenderableType] = [cell(head)]
    for share in breach.told:
        name = share.column.name
        guesses = [breach.combination({name: value}) for value in share.values[:most]]
        parts.append(_told(breach, name, guesses, alpha))
    if len(breach.told) > 1:
        parts.append(_told(breach, "all together", breach.likeliest(most), alpha))
        if breach.possible > most:
            parts.append(cell(f"… and {breach.possible - most} less likely combinations"))
    return parts


def _told(
    breach: "Breach", title: str, guesses: "list[Combination]", alpha: float | None
) -> "Table":
    before = () if breach.matching is None else ("before breaking",)
    more = () if alpha is None else ("more may come",)
    heads = (title, "how surely", "", "level", *before, *more)
    rows = []
    for guess in guesses:
        single = len(guess.values) == 1
        cells: list[object] = [
            shown(guess.values[0][1]) if single else listing(guess.values),
            *_sure(guess, breach.levels),
        ]
        if before:
            was = breach.before(guess)
            cells.append("" if was is None else percent(float(was)))
        if alpha is not None:
            cells.append(_more(breach.permitted(guess, alpha)))
        rows.append(cells)
    return table(heads, rows, right=("how surely", *before, *more))


def holders_view(found: "list[Holding]", most: int) -> list["RenderableType"]:
    """In which groups somebody may be who has a value."""
    heads = ("group", "people", "with the value", "share", "", "the person is there")
    rows = [
        (
            listing(one.group) or "everybody",
            one.size,
            one.rows,
            percent(float(one.share)),
            bar(float(one.share), 20),
            percent(float(one.belongs)),
        )
        for one in found[:most]
    ]
    named = listing(((found[0].column, found[0].value),)) if found else "nothing"
    parts: list[RenderableType] = [
        cell(f"{named} occurs in {len(found)} groups:"),
        table(heads, rows, right=("people", "with the value", "share", "the person is there")),
    ]
    if len(found) > most:
        parts.append(cell(f"… and {len(found) - most} groups where it is rarer"))
    return parts


def _known(column: str | None) -> str:
    return "group" if column is None else f"group, {column}"


def _sure(guess: "Combination", levels: "RiskLevels") -> tuple[str, str, str]:
    probability = float(guess.probability)
    return percent(probability), bar(probability, 20), levels.of(probability)


def _more(permitted: int) -> str:
    """Write how many more people with a combination a group can take.

    >>> _more(4), _more(ABOVE), _more(UNLIMITED)
    ('4', 'none: above it now', 'any number')
    """
    words = {ABOVE: "none: above it now", UNLIMITED: "any number"}
    return words.get(permitted, str(permitted))
