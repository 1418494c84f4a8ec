"""Figures, the file that keeps them, and the table in README.md that shows them."""

import json
import os
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.measure import Timing

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
README = HERE / "README.md"
BEGIN, END = "<!-- results: written by python -m benchmarks -->", "<!-- end of results -->"


@dataclass(frozen=True)
class Figure:
    """One figure of a benchmark.

    `value` is the least of its repeats where there are several, and then `median` stands
    beside it. `target` is the most it should be, `floor` the least. `others` says what other
    tools are known to take for the same; such figures were measured elsewhere, at another
    time.
    """

    what: str
    value: float | bool | str
    unit: str = ""
    median: float | None = None
    target: float | None = None
    floor: float | None = None
    others: str = ""

    @classmethod
    def of(cls, what: str, timing: Timing, unit: str = "CPU s", **more: Any) -> "Figure":
        """Take a timing, in seconds or parts of them."""
        scale = {"CPU s": 1, "CPU ms": 1e3, "CPU µs": 1e6}[unit]
        return cls(what, timing.least * scale, unit, median=timing.median * scale, **more)

    @property
    def met(self) -> bool | None:
        """Whether it is within its target, or not below its floor, if it has one."""
        if self.floor is not None:
            return float(self.value) >= self.floor
        return None if self.target is None else float(self.value) <= self.target

    def cells(self) -> list[str]:
        """Write it as cells of a table."""
        # Measurements are noisy beyond three digits; a loss is exact.
        digits = 3 if self.unit else 9
        shown = f"{_short(self.value, digits)} {self.unit}".strip()
        if self.median is not None:
            shown += f" (median {_short(self.median)})"
        target = ""
        if self.floor is not None:
            target = f"≥ {_short(self.floor, digits)}"
        elif self.target is not None:
            target = f"≤ {_short(self.target)}"
        if self.met is False:
            target += " **missed**"
        return [self.what, shown, target, self.others]


def _short(value: float | str, digits: int = 3) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value == int(value) or abs(value) >= 10**digits:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:,.{digits}g}".replace(",", " ")


def machine() -> dict[str, str | int]:
    """Say what the figures were measured with; nothing that names a machine or a person."""
    facts: dict[str, str | int] = {
        "cores": os.cpu_count() or 0,
        "processor": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
    }
    libraries = ("sfumato", "numpy", "pyarrow", "polars")
    return facts | {name: version(name) for name in libraries}


def load() -> dict[str, Any]:
    """Read what was measured before."""
    if not RESULTS.exists():
        return {"machines": {}, "benchmarks": {}}
    kept: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return kept


def figures_of(results: dict[str, Any], name: str) -> list[Figure]:
    """Give the figures of one benchmark."""
    return [Figure(**figure) for figure in results["benchmarks"].get(name, [])]


def save(measured: dict[str, list[Figure]], order: list[str]) -> None:
    """Replace the figures of some benchmarks, and rewrite the table.

    Figures of other benchmarks stay as they are. What each was measured with stands beside it, for
    figures of two machines or versions cannot be compared.
    """
    before, now = load(), machine()
    merged = before["benchmarks"] | {
        name: [{k: v for k, v in asdict(f).items() if v not in (None, "")} for f in figures]
        for name, figures in measured.items()
    }
    machines = before["machines"] | dict.fromkeys(measured, now)
    names = [name for name in order if name in merged]
    results = {
        "machines": {name: machines[name] for name in names},
        "benchmarks": {name: merged[name] for name in names},
    }
    text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
    RESULTS.write_text(text, encoding="utf-8")
    page = README.read_text(encoding="utf-8")
    README.write_text(with_table(page, results), encoding="utf-8")


def with_table(page: str, results: dict[str, Any]) -> str:
    """Put the tables of these results between the markers of a page."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    parts = []
    for name in results["benchmarks"]:
        facts = ", ".join(f"{key} {value}" for key, value in results["machines"][name].items())
        rows = [figure.cells() for figure in figures_of(results, name)]
        lines = ["| what | figure | target | others |", "|---|---|---|---|"]
        lines += ["| " + " | ".join(cells) + " |" for cells in rows]
        parts.append(f"### {name}\n\nMeasured with: {facts}.\n\n" + "\n".join(lines) + "\n")
    return f"{head}{BEGIN}\n\n" + "\n".join(parts) + f"\n{END}{tail}"
