"""Several policies side by side: what each costs and leaves at risk, and the front of the best."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.attacks.adversary.trial import AT_RISK, RISKS, Trial
from sfumato.comparison.trial import ASKED, Binding, loss_words
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, UnknownNameError
from sfumato.files import write_file
from sfumato.losses import NormalizedLoss
from sfumato.showing.charts import Spot, scatter_svg
from sfumato.showing.content import Cell, Content, ContentTable, Sentence, Share, Showable, plain_of

TITLES = ("gone", "suppressed", "at risk", "belief", "gain", "highest 1/n", "mean 1/n", "seconds")
"""What the columns after the loss are called."""

_SAME = 12
"""Decimals: two figures that differ only beyond them differ by rounding."""


@dataclass(frozen=True)
class Comparison(Showable):
    """Several policies on one table: what each loses, what each leaves at risk, and the front.

    A policy is on the front if no other one has less risk without more loss, or less loss without
    more risk. Which of the front to take is the publisher's choice.

    Example:
        >>> from sfumato.policy import Policy
        >>> columns = {"age": "quasi-identifier"}
        >>> policy = Policy(columns=columns, models=[{"model": "k-anonymity", "k": 2}])
        >>> figures = [("fine", 0.1, 0.5), ("coarse", 0.4, 0.1), ("worse", 0.5, 0.2)]
        >>> found = Comparison(tuple(
        ...     Trial(policy, name, losses={"normalized-loss": loss}, risks={"prosecutor": risk})
        ...     for name, loss, risk in figures), rows=9, risk="prosecutor")
        >>> [point.name for point in found.front], found["coarse"].loss
        (['fine', 'coarse'], 0.4)
    """

    points: tuple[Trial, ...]
    rows: int
    """How many rows the table has."""

    risk: str = AT_RISK
    """The risk that the front is about; see `by`."""

    loss: str = NormalizedLoss.name
    """The loss that the front is about."""

    threshold: float = 0.75
    """Probability from which a person is at risk."""

    seed: int = 0
    warnings: tuple[str, ...] = ()
    """Why some figures should not be compared, if they should not."""

    bindings: tuple[Binding, ...] = ()
    """For policies that come out the same, which of their promises keep them so."""

    def __getitem__(self, name: str) -> Trial:
        for point in self.points:
            if point.name == name:
                return point
        raise UnknownNameError("policy", name, self.names, where="the comparison")

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the policies, in their order."""
        return tuple(point.name for point in self.points)

    @property
    def placed(self) -> tuple[Trial, ...]:
        """The policies that have a loss and a risk."""
        return tuple(
            point
            for point in self.points
            if point.possible and self.loss in point.losses and self.risk in point.risks
        )

    def place(self, point: Trial) -> tuple[float, float]:
        """Return the loss and the risk of a policy."""
        return point.losses[self.loss], point.risks[self.risk]

    @property
    def front(self) -> tuple[Trial, ...]:
        """The policies that no other one beats, the smallest loss first."""
        placed = self.placed
        best = find_front([self.place(point) for point in placed])
        return tuple(sorted((placed[i] for i in best), key=self.place))

    def by(self, risk: str | None = None, *, loss: str | None = None) -> "Comparison":
        """Return the same policies compared by another risk or another loss.

        Args:
            risk: at-risk (the share of people at risk), belief (the strongest about a sensitive
                value), gain (by how much the release strengthened one at most), prosecutor (the
                highest chance to find a person's row), mean (the mean of those chances).
            loss: One of the losses that were measured.

        >>> Comparison((), 0).by("mean").risk
        'mean'
        """
        measured = dict.fromkeys(name for p in self.points if p.possible for name in p.losses)
        if loss is not None and loss not in measured:
            raise UnknownNameError("loss", loss, measured, where="the comparison")
        risk = self.risk if risk is None else require_risk(risk)
        return replace(self, risk=risk, loss=self.loss if loss is None else loss)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        front = [point.name for point in self.front]
        return {
            **plain_of(self, "rows risk loss threshold seed warnings"),
            "bindings": [
                {"names": list(b.names), "loss": b.loss, "without": dict(b.without)}
                for b in self.bindings
            ],
            "front": front,
            "points": [{**point.to_dict(), "front": point.name in front} for point in self.points],
        }

    def content(self) -> Content:
        """Return the figures of all policies; those on the front have a star."""
        front = {point.name for point in self.front}
        rows = [
            [
                point.name,
                f"{number}{'*' if point.name in front else ''}"
                + ("" if point.possible else " not possible"),
                *_figures(point, self.loss),
            ]
            for number, point in enumerate(self.points, 1)
        ]
        lost = _SHORT.get(self.loss, "loss")
        table = ContentTable.of("", ["policy", "", lost, *TITLES], rows, most=None)
        return Content(self.headline, (table, *map(Sentence, self.notes)))

    def drawings(self) -> tuple[str, ...]:
        return (self.svg(),)

    @property
    def headline(self) -> str:
        """A sentence or two about what was compared."""
        n = len(self.points)
        return (
            f"{n} polic{'y' if n == 1 else 'ies'} on {self.rows} rows. "
            f"*: no other one has less loss and no more {RISKS[self.risk]}, or the reverse."
        )

    @property
    def notes(self) -> list[str]:
        """Why some policies are not possible, which promises bind, and what to beware of."""
        failed = [f"{p.name} is not possible: {p.reason}" for p in self.points if not p.possible]
        absent = [
            f"{point.name} is not on the drawing: it has no {loss_words(self.loss)}"
            for point in self.points
            if point.possible and self.loss not in point.losses
        ]
        bound = map(str, self.bindings)
        return [*failed, *absent, *bound, *(f"Beware: {text}" for text in self.warnings)]

    def svg(self) -> str:
        """Draw risk against loss, with the front."""
        return self.draw(linked=False)

    def draw(self, *, linked: bool, marked: Mapping[str, str] | None = None) -> str:
        """Draw it, if so with links to the places of a page where more is said.

        Args:
            linked: Whether marks are links.
            marked: Policies that have a ring, each with why.
        """
        rings, lost = marked or {}, loss_words(self.loss)
        front = {point.name for point in self.front}
        numbers = {name: str(i) for i, name in enumerate(self.names, 1)}
        spots = [
            Spot(
                *self.place(point),
                numbers[point.name],
                point.summary(self.loss, lost),
                on_front=point.name in front,
                link=f"policy-{numbers[point.name]}" if linked else None,
                marked=rings.get(point.name, ""),
            )
            for point in self.placed
        ]
        words = RISKS[self.risk]
        title = f"{words[0].upper()}{words[1:]} and {lost}"
        return scatter_svg(spots, x_axis=lost, y_axis=words, title=title)

    def html(self) -> str:
        """Return a page of its own: the drawing, the figures and the policies to copy."""
        from sfumato.showing.pages import comparison_page

        front, lost = {point.name for point in self.front}, loss_words(self.loss)
        policies = [
            (
                f"{number}. {point.name}" + (": on the front" if point.name in front else ""),
                point.summary(self.loss, lost)
                if point.possible
                else f"Not possible: {point.reason}",
                point.policy.to_yaml(),
            )
            for number, point in enumerate(self.points, 1)
        ]
        return comparison_page(self.content(), self.draw(linked=True), self.threshold, policies)

    def csv(self) -> str:
        """Write the figures as CSV, a line per policy."""
        dicts = self.to_dict()["points"]
        flat = [{**each, **each["losses"], **each["risks"], **_gone_text(each)} for each in dicts]
        losses = dict.fromkeys(name for each in dicts for name in each["losses"])
        names = [*_IN_CSV[0], *losses, *_IN_CSV[1]]
        text = io.StringIO()
        writer = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(flat)
        return text.getvalue()

    def save(self, path: str | PathLike[str]) -> Path:
        """Write a page (.html), a drawing (.svg) or the figures (.csv, .json).

        A file of the same name is replaced.
        """
        target = Path(path)
        writers: dict[str, Callable[[], str]] = {
            ".html": self.html,
            ".svg": self.svg,
            ".csv": self.csv,
            ".json": lambda: json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n",
        }
        if target.suffix.lower() not in writers:
            expected = f"a file that ends in {', '.join(writers)}"
            raise ParameterError("path", target.name, expected)
        text = writers[target.suffix.lower()]()
        write_file(target, text, private="the comparison")
        return target

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.points)} policies, {len(self.front)} on the front>"


_SHORT = {name: name.replace("-", " ") for name in ASKED}
"""What losses that are measured with questions are called above a column."""

_IN_CSV = (
    ("name", "front", "possible", "method", "decouple", "loss_name", "loss"),
    ("gone", "columns_left", "published", "suppressed", "classes",
     "smallest_class", "people_at_risk", *RISKS, "prior",
     "seconds", "reason"),
)  # fmt: skip
"""What stands in a line before the losses, and after them."""


def _gone_text(point: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is gone of the table as numbers for a line of CSV."""
    found = point["gone"] or {}
    return {"gone": found.get("share"), "columns_left": found.get("left")}


def find_front(places: Sequence[tuple[float, float]]) -> list[int]:
    """Find the places that no other one is below in one respect and not above in the other.

    Those at the same place stand or fall together.

    >>> find_front([(0.1, 0.5), (0.4, 0.1), (0.5, 0.2), (0.1, 0.5)])
    [0, 1, 3]
    """
    rounded = [(round(x, _SAME), round(y, _SAME)) for x, y in places]
    lowest = float("inf")
    best = set()
    for place in sorted(set(rounded)):
        if place[1] < lowest:
            best.add(place)
            lowest = place[1]
    return [i for i, place in enumerate(rounded) if place in best]


def require_risk(risk: str) -> str:
    """Return the risk if there is such a one; else the error says the nearest."""
    if risk not in RISKS:
        raise UnknownNameError("risk", str(risk), RISKS)
    return risk


def _figures(point: Trial, loss: str) -> list[Cell]:
    seconds = round(point.seconds, 2)
    if not point.possible:
        return [None, *[""] * (len(TITLES) - 1), seconds]
    lost = round(point.losses[loss], 4) if loss in point.losses else ""
    shares = [Share(point.risks[name]) if name in point.risks else "" for name in RISKS]
    gone = "" if point.gone is None else Share(point.gone.share)
    return [lost, gone, point.suppressed, *shares, seconds]
