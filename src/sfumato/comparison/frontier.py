"""What several policies cost and leave at risk, and which of them no other one beats."""

import csv
import io
import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.comparison.trial import AT_RISK, QUERY_ERROR, RISKS, Point, loss_words
from sfumato.drawing.charts import Spot, scatter_svg
from sfumato.drawing.svg import escape
from sfumato.errors import ParameterError, UnknownNameError
from sfumato.html import save_text
from sfumato.losses import NormalizedLoss
from sfumato.text import percent
from sfumato.usefulness.measure import tabulated

TITLES = ("suppressed", "at risk", "belief", "gain", "highest 1/n", "mean 1/n", "seconds")
"""What the columns after the loss are called."""

_SAME = 12
"""Decimals: two figures that differ only beyond them differ by rounding."""


@dataclass(frozen=True)
class Comparison:
    """Several policies on one table: what each loses, what each leaves at risk, and the front.

    A policy is on the front if no other one has less risk without more loss, or less loss without
    more risk. Which of the front to take is the publisher's choice.

    Example:
        >>> from sfumato.policy import Policy
        >>> from sfumato.comparison.trial import Measured
        >>> columns = {"age": "quasi-identifier"}
        >>> policy = Policy(columns=columns, models=[{"model": "k-anonymity", "k": 2}])
        >>> figures = [("fine", 0.1, 0.5), ("coarse", 0.4, 0.1), ("worse", 0.5, 0.2)]
        >>> found = Comparison(tuple(
        ...     Point(name, policy, Measured(
        ...         {"normalized-loss": loss}, 9, 0, 3, 2, {"prosecutor": risk}))
        ...     for name, loss, risk in figures), rows=9, risk="prosecutor")
        >>> [point.name for point in found.front], found["coarse"].loss
        (['fine', 'coarse'], 0.4)
    """

    points: tuple[Point, ...]
    rows: int
    """How many rows the table has."""

    risk: str = AT_RISK
    """The risk that the front is about; see `by`."""

    loss: str = NormalizedLoss.name
    """The loss that the front is about."""

    threshold: float = 0.75
    """From which belief on somebody is at risk."""

    seed: int = 0
    warnings: tuple[str, ...] = ()
    """Why some figures should not be compared, if they should not."""

    def __getitem__(self, name: str) -> Point:
        for point in self.points:
            if point.name == name:
                return point
        raise UnknownNameError("policy", name, self.names, where="the comparison")

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def names(self) -> tuple[str, ...]:
        """What the policies are called, in their order."""
        return tuple(point.name for point in self.points)

    @property
    def placed(self) -> tuple[Point, ...]:
        """The policies that have a loss and a risk."""
        return tuple(
            point
            for point in self.points
            if point.possible and self.loss in point.losses and self.risk in point.risks
        )

    def place(self, point: Point) -> tuple[float, float]:
        """Give the loss and the risk of a policy."""
        return point.losses[self.loss], point.risks[self.risk]

    @property
    def front(self) -> tuple[Point, ...]:
        """The policies that no other one beats, the smallest loss first."""
        placed = self.placed
        best = undominated([self.place(point) for point in placed])
        return tuple(sorted((placed[i] for i in best), key=self.place))

    def by(self, risk: str | None = None, *, loss: str | None = None) -> "Comparison":
        """Look at the same policies with another risk or another loss in mind.

        Args:
            risk: at-risk (the share of people at risk), belief (the strongest about a sensitive
                value), gain (by how much the release strengthened one at most), prosecutor (the
                highest chance to find somebody's row), mean (the mean of those chances).
            loss: One of the losses that were measured.

        >>> Comparison((), 0).by("mean").risk
        'mean'
        """
        measured = dict.fromkeys(name for p in self.points if p.possible for name in p.losses)
        if loss is not None and loss not in measured:
            raise UnknownNameError("loss", loss, measured, where="the comparison")
        risk = self.risk if risk is None else checked_risk(risk)
        return replace(self, risk=risk, loss=self.loss if loss is None else loss)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        front = [point.name for point in self.front]
        return {
            "rows": self.rows,
            "risk": self.risk,
            "loss": self.loss,
            "threshold": self.threshold,
            "seed": self.seed,
            "warnings": list(self.warnings),
            "front": front,
            "points": [{**point.to_dict(), "front": point.name in front} for point in self.points],
        }

    @property
    def cells(self) -> list[list[str]]:
        """The figures as text: the titles, and a line per policy."""
        front = {point.name for point in self.front}
        lines = [
            [
                point.name,
                f"{number}{'*' if point.name in front else ' '}",
                *_figures(point, self.loss),
            ]
            for number, point in enumerate(self.points, 1)
        ]
        lost = "query error" if self.loss == QUERY_ERROR else "loss"
        return [["policy", "", lost, *TITLES], *lines]

    @property
    def headline(self) -> str:
        """What was compared, in a sentence or two."""
        n = len(self.points)
        return (
            f"{n} polic{'y' if n == 1 else 'ies'} on {self.rows} rows. "
            f"*: no other one has less loss and no more {RISKS[self.risk]}, or the reverse."
        )

    @property
    def notes(self) -> list[str]:
        """Why some policies are not possible, and what to beware of."""
        failed = [f"{p.name} is not possible: {p.reason}" for p in self.points if not p.possible]
        absent = [
            f"{point.name} is not on the drawing: it has no {loss_words(self.loss)}"
            for point in self.points
            if point.possible and self.loss not in point.losses
        ]
        return [*failed, *absent, *(f"Beware: {text}" for text in self.warnings)]

    def svg(self) -> str:
        """Draw risk against loss, with the front."""
        return self.drawn(linked=False)

    def drawn(self, *, linked: bool) -> str:
        """Draw it, if so with links to the places of a page where more is said."""
        front = {point.name for point in self.front}
        numbers = {name: str(i) for i, name in enumerate(self.names, 1)}
        spots = [
            Spot(
                *self.place(point),
                numbers[point.name],
                point.told(self.loss),
                on_front=point.name in front,
                link=f"policy-{numbers[point.name]}" if linked else None,
            )
            for point in self.placed
        ]
        words, lost = RISKS[self.risk], loss_words(self.loss)
        title = f"{words[0].upper()}{words[1:]} and {lost}"
        return scatter_svg(spots, x_axis=lost, y_axis=words, title=title)

    def html(self) -> str:
        """Write a page of its own: the drawing, the figures and the policies to copy."""
        return page_of(self)

    def csv(self) -> str:
        """Write the figures as CSV, a line per policy."""
        dicts = self.to_dict()["points"]
        flat = [{**each, **each["losses"], **each["risks"]} for each in dicts]
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
        return save_text(target, text)

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.points)} policies, {len(self.front)} on the front>"

    def __str__(self) -> str:
        return "\n".join([self.headline, tabulated(self.cells), *self.notes])

    def _repr_html_(self) -> str:

        return fragment_of(self)


_IN_CSV = (
    ("name", "front", "possible", "method", "decouple", "loss_name", "loss"),
    ("published", "suppressed", "classes", "smallest_class", "people_at_risk", *RISKS, "prior",
     "seconds", "reason"),
)  # fmt: skip
"""What stands in a line before the losses, and after them."""


def undominated(places: Sequence[tuple[float, float]]) -> list[int]:
    """Find the places that no other one is below in one respect and not above in the other.

    Those at the same place stand or fall together.

    >>> undominated([(0.1, 0.5), (0.4, 0.1), (0.5, 0.2), (0.1, 0.5)])
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


def checked_risk(risk: str) -> str:
    """Refuse a risk that there is not, with the nearest name."""
    if risk not in RISKS:
        raise UnknownNameError("risk", str(risk), RISKS)
    return risk


def _figures(point: Point, loss: str) -> list[str]:
    seconds = f"{point.seconds:.2f}"
    if point.measured is None:
        return ["not possible", *[""] * (len(TITLES) - 1), seconds]
    found = point.measured
    lost = f"{found.losses[loss]:.4f}" if loss in found.losses else ""
    shares = [percent(found.risks[name]) if name in found.risks else "" for name in RISKS]
    return [lost, str(found.suppressed), *shares, seconds]


# A comparison as a page: a drawing to look around in, the figures, and the policies to copy.
#
# The page is one file. It asks nobody for anything: what it may run and how it may look is fixed
# by hashes. Without its script it is a drawing whose marks are links, and a table.


_STYLE = """
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #222; background: #fff;
  font-family: system-ui, sans-serif; line-height: 1.45; }
svg { max-width: 100%; height: auto; }
svg a { cursor: pointer; }
svg a:focus { outline: 3px solid #b35900; outline-offset: 3px; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem .25rem 0; text-align: right; vertical-align: top; }
thead th { border-bottom: 1px solid #5f6368; }
tbody th { font-weight: inherit; }
.name { text-align: left; }
.scroll { overflow-x: auto; }
details { border-top: 1px solid #d9dde1; padding: .4rem 0; }
details:target { border-left: 4px solid #b35900; padding-left: .6rem; }
summary { cursor: pointer; }
pre { background: #f4f5f6; padding: .8rem; overflow-x: auto; }
.told { position: absolute; z-index: 1; max-width: 24rem; padding: .4rem .6rem; color: #fff;
  background: #222; border-radius: .3rem; font-size: .85rem; pointer-events: none; }
"""

_SCRIPT = """
(function () {
  "use strict";
  var told = document.createElement("div");
  told.className = "told";
  told.setAttribute("role", "status");
  told.hidden = true;
  document.body.appendChild(told);
  function hide() { told.hidden = true; }
  function reveal(mark) {
    var at = mark.getBoundingClientRect();
    told.textContent = mark.getAttribute("aria-label");
    told.style.left = Math.max(8, at.left + window.scrollX) + "px";
    told.style.top = at.bottom + window.scrollY + 8 + "px";
    told.hidden = false;
  }
  function open() {
    var found = location.hash && document.getElementById(location.hash.slice(1));
    if (!found || found.tagName !== "DETAILS") { return; }
    found.open = true;
    found.querySelector("summary").focus();
  }
  document.querySelectorAll("svg a").forEach(function (mark) {
    var title = mark.querySelector("title");
    if (title) { title.remove(); }
    mark.addEventListener("mouseenter", function () { reveal(mark); });
    mark.addEventListener("focus", function () { reveal(mark); });
    mark.addEventListener("mouseleave", hide);
    mark.addEventListener("blur", hide);
    mark.addEventListener("click", function () { hide(); window.setTimeout(open, 0); });
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape") { hide(); }
  });
  document.querySelectorAll("details pre").forEach(function (policy) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy the policy";
    button.addEventListener("click", function () {
      var range = document.createRange();
      range.selectNodeContents(policy);
      window.getSelection().removeAllRanges();
      window.getSelection().addRange(range);
      function say(done) { button.textContent = done ? "Copied" : "Press Ctrl+C to copy"; }
      if (!navigator.clipboard) { say(document.execCommand("copy")); return; }
      navigator.clipboard.writeText(policy.textContent).then(
        function () { say(true); }, function () { say(false); });
    });
    policy.parentNode.insertBefore(button, policy);
  });
  window.addEventListener("hashchange", open);
  open();
}());
"""


def page_of(comparison: "Comparison") -> str:
    """Write a page that needs nothing but itself."""
    policies = "\n".join(
        _details(number, point, comparison) for number, point in enumerate(comparison, 1)
    )
    allowed = (
        f"default-src 'none'; style-src '{_hash(_STYLE)}'; script-src '{_hash(_SCRIPT)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    title = f"{len(comparison)} polic{'y' if len(comparison) == 1 else 'ies'} compared"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{allowed}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{escape(title)}</h1>
<p>{escape(comparison.headline)} Somebody is at risk if a belief about them reaches
{comparison.threshold:.0%} and the release at least halved the doubt.</p>
{_notes(comparison)}
<figure>{comparison.drawn(linked=True)}</figure>
<h2>Figures</h2>
<div class="scroll">{_table(comparison, linked=True)}</div>
<h2>Policies</h2>
{policies}
<script>{_SCRIPT}</script>
</body>
</html>
"""


def fragment_of(comparison: "Comparison") -> str:
    """Write the drawing and the figures for a notebook."""
    drawing, table = comparison.svg(), _table(comparison, linked=False)
    return (
        f"<div><p><strong>{escape(comparison.headline)}</strong></p>{drawing}{table}"
        f"{_notes(comparison)}</div>"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _notes(comparison: "Comparison") -> str:
    return "".join(f"<p>{escape(note)}</p>" for note in comparison.notes)


def _table(comparison: "Comparison", *, linked: bool) -> str:
    titles, *lines = comparison.cells
    head = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles[1:])
    rows = []
    for number, (name, *figures) in enumerate(lines, 1):
        shown = escape(name)
        link = f'<a href="#policy-{number}">{shown}</a>' if linked else shown
        cells = "".join(f"<td>{escape(each.strip())}</td>" for each in figures)
        rows.append(f'<tr><th scope="row" class="name">{link}</th>{cells}</tr>')
    return (
        f'<table><thead><tr><th scope="col" class="name">policy</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _details(number: int, point: "Point", comparison: "Comparison") -> str:
    front = point.name in {each.name for each in comparison.front}
    heading = f"{number}. {point.name}" + (": on the front" if front else "")
    told = point.told(comparison.loss) if point.possible else f"Not possible: {point.reason}"
    return (
        f'<details id="policy-{number}"><summary>{escape(heading)}</summary>'
        f"<p>{escape(told)}</p><pre>{escape(point.policy.to_yaml())}</pre></details>"
    )
