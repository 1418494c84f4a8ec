"""The step Look: before and after, who is left out, and what the release is still good for."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.app.desk import Desk
from sfumato.app.fields import Fields
from sfumato.app.jobs import Job
from sfumato.app.releasing import ReleaseWish, decoupling_of, rows_at_hand
from sfumato.app.steps import ALL, Answer, Context
from sfumato.comparison.before_after import BeforeAfter
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError
from sfumato.releases.release import Release
from sfumato.showing.charts import shares_svg
from sfumato.showing.content import Markup
from sfumato.showing.heatmap import HeatmapWords, heatmap_svg
from sfumato.typing import Progress
from sfumato.usefulness import Utility

step = ALL["look"]

JOB, USE = "release", "utility"

_PAGE = 25
_QUICK = 100_000
"""Up to this many rows it is measured without being asked what the release is good for."""

_PAIRS = 8
_CONDITIONS = 3

ONLY = {"": "all rows", "changed": "changed rows", "left out": "rows left out"}

NUMBERS = {
    "mean-error": "means",
    "variance-error": "variances",
    "quantile-error": "quantiles",
    "pearson-error": "correlations of numbers",
    "regression-error": "regressions",
    "distinguishability": "published and original rows told apart",
}
"""What computing with numbers loses, by the names of the losses."""

TEXTS = (*ONLY.values(), *NUMBERS.values())


@dataclass(frozen=True)
class BeforeAndAfter:
    """A release in memory, and what became of every row."""

    release: Release
    pairs: BeforeAfter


@step.page
def show(desk: Desk, asked: Fields) -> Context:
    """Return the release of the present policy; it is made if there is none yet."""
    job = _made_release(desk)
    job.wait(0.4)
    found: BeforeAndAfter | None = job.result if job.ready else None
    use = desk.jobs.get(USE)
    if found is not None and found.pairs.total <= _QUICK and (use is None or desk.is_old(use)):
        use = _measure(desk, found)
        use.wait(0.2)
    context: dict[str, Any] = {"job": job, "found": found, "use_job": use, "use": None}
    if found is None:
        return context
    decoupling = decoupling_of(desk.require_policy())
    return {
        **context,
        **_page(found, asked),
        "use": None if use is None else _use(desk, use),
        "parted": None if decoupling is None else decoupling.name,
        "shares": {n: found.pairs.changed_share(n) for n in found.pairs.quasi_identifiers},
        "dropped": [n for n in desk.require_policy().columns if not _is_published(found, n)],
        "conditions": range(_CONDITIONS),
        "asked_for": {name: asked.text(name) for name in asked.fields},
    }


def _is_published(found: BeforeAndAfter, name: str) -> bool:
    return name in (*found.pairs.quasi_identifiers, *found.pairs.others)


def _made_release(desk: Desk) -> Job:
    """Return the work that makes the release; begin it if the policy is another one."""
    job = desk.jobs.get(JOB)
    if job is not None and not desk.is_old(job):
        return job
    return start(desk)


@step.action("make")
def make(desk: Desk, asked: Fields) -> Answer:
    """Begin to make the release once more."""
    start(desk)
    return None


def start(desk: Desk) -> Job:
    """Begin to make the release of the present policy in memory."""
    address, policy, seed = desk.require_source().address, desk.task_policy, desk.seed

    def work(report: Progress) -> BeforeAndAfter:
        source = rows_at_hand(address)
        release = ReleaseWish(source, policy, seed=seed).anonymize(None, progress=report)
        report("compare", 0, None)
        return BeforeAndAfter(release, BeforeAfter.of(source, release))

    return desk.start(JOB, work)


# The rows.


@step.part("rows")
def rows(desk: Desk, asked: Fields) -> Context:
    """Return some rows before and after."""
    return _page(_require(desk), asked)


def _require(desk: Desk) -> BeforeAndAfter:
    job = desk.jobs.get(JOB)
    if job is None or not job.ready or desk.is_old(job):
        raise InputError("the policy has changed since. Load the page again")
    found: BeforeAndAfter = job.result
    return found


def _page(found: BeforeAndAfter, asked: Fields) -> Context:
    only, text = asked.text("only", ""), asked.text("text", "").strip()[:200]
    if only not in ONLY:
        only = ""
    pairs = found.pairs
    number = len(pairs.find(only=only, text=text))
    last = max((number - 1) // _PAGE, 0)
    at = min(max(asked.integer("page", 1) - 1, 0), last)
    return {
        "pairs": pairs,
        "lines": pairs.page(at * _PAGE, _PAGE, only=only, text=text),
        "at": at + 1,
        "last": last + 1,
        "first_line": at * _PAGE + 1,
        "number": number,
        "only": only,
        "text": text,
        "choices": ONLY,
    }


# Distributions.


@step.part("column")
def column(desk: Desk, asked: Fields) -> Context:
    """Return how a column is spread before and after."""
    found = _require(desk).pairs.distribution(asked.text("column"))
    series = {"before": found.before, "after": found.after}
    svg = shares_svg(found.labels, series, title=found.column)
    return {"svg": Markup(svg), "distance": found.distance}


# What it is good for.


@step.action("measure")
def measure(desk: Desk, asked: Fields) -> Answer:
    """Begin to measure what the release is still good for."""
    _measure(desk, _require(desk))
    return None


def _measure(desk: Desk, found: BeforeAndAfter) -> Job:
    source, policy = desk.require_source().address, desk.task_policy

    def work(report: Progress) -> Utility:
        from sfumato.tasks.utility import utility

        return utility(source, found.release, policy=policy, progress=report)

    return desk.start(USE, work)


@step.part("use")
def use(desk: Desk, asked: Fields) -> Context:
    """Return what the release is good for, or how far that is measured."""
    job = desk.jobs.get(USE)
    return {"use_job": job, "use": None if job is None else _use(desk, job)}


def _use(desk: Desk, job: Job) -> Mapping[str, Any] | None:
    if not job.ready or desk.is_old(job):
        return None
    found: Utility = job.result
    pairs = found.associations.pairs
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.one, pair.other)))
    drawn = []
    for title, which in (("before", 2), ("after", 3)):
        values = np.full((len(names), len(names)), np.nan)
        for pair in pairs:
            i, j = names.index(pair.one), names.index(pair.other)
            values[i, j] = values[j, i] = pair[which]
        words = HeatmapWords("Table of correlations", "most tied to", "{:.2f}".format)
        drawn.append(Markup(heatmap_svg(names, names, values, title=title, words=words)))
    return {
        "found": found,
        "pairs": sorted(pairs, key=lambda pair: -pair.difference)[:_PAIRS],
        "numbers": {words: found.number_losses.get(name) for name, words in NUMBERS.items()},
        "drawn": drawn if pairs else [],
    }


@step.part("question")
def question(desk: Desk, asked: Fields) -> Context:
    """Return the true answer to a question beside the one that the release gives."""
    from sfumato.releases.preparing import open_prepared
    from sfumato.tasks.estimate import estimate

    release, policy = _require(desk).release, desk.task_policy
    where = _conditions(asked)
    if not where:
        raise InputError("ask for at least one value, as in sex: female, or age: 30-45")
    source = desk.require_source().address
    told = estimate(release, where, original=source, policy=policy)
    true = estimate(open_prepared(source, policy), where)
    return {"told": told, "truth": true, "error": _error(told.estimate, true.estimate)}


def _conditions(asked: Fields) -> dict[str, object]:
    found: dict[str, object] = {}
    for at in range(_CONDITIONS):
        name, value = asked.text(f"column{at}", ""), asked.text(f"value{at}", "").strip()
        if name and value:
            found[name] = value
    return found


def _error(told: float, true: float) -> float | None:
    return abs(told - true) / true if true else None
