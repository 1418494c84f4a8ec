"""Explore: methods and numbers on the plane of risk and usefulness, and the lattice as a map."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from sfumato.app.desk import Desk
from sfumato.app.fields import Fields
from sfumato.app.jobs import Job
from sfumato.app.showing import difference
from sfumato.app.steps import ALL, Answer, Context
from sfumato.app.wording import Knob, knobs_of, method_words, read_number, show
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, UnknownNameError
from sfumato.policy import FULL_DOMAIN, Policy
from sfumato.text import percent
from sfumato.typing import Node, Progress

if TYPE_CHECKING:
    from sfumato.attacks.adversary.trial import Trial
    from sfumato.comparison.frontier import Comparison
    from sfumato.comparison.levels import LevelMap
    from sfumato.recode.lattice import JudgedLattice

step = ALL["explore"]

RISK_WORDS = {
    "at-risk": "How many people others could learn something about that harms them.",
    "belief": "How sure others could become of a sensitive value, of the person who is worst off.",
    "gain": "How much surer the release makes them, of the person who is worst off.",
    "prosecutor": "The chance to pick a person's row, for the person who is worst off.",
    "mean": "The chance to pick a person's row, on average.",
}
"""What each risk means."""

LOSS_WORDS = {
    "": "how coarse cells become",
    "query-error": "errors of counting queries",
    "table-error": "errors of two- and three-way tables",
    "mean-error": "errors of means",
    "variance-error": "errors of variances",
    "quantile-error": "errors of quantiles",
    "pearson-error": "errors of correlations of numbers",
    "regression-error": "errors of regressions",
    "distinguishability": "how well published and original rows can be told apart",
}
"""What usefulness can be measured by; the first is the loss that costs no time."""

TEXTS = (
    *LOSS_WORDS.values(),
    "People at risk",
    "Strongest belief",
    "Strongest gain in belief",
    "Highest prosecutor risk",
    "Mean prosecutor risk",
    *RISK_WORDS.values(),
)
"""What losses and risks are called on the plane, and what risks mean."""

_TELLING = ("at-risk", "mean", "belief", "gain", "prosecutor")
"""Risks in the order in which they are shown first: the first in which policies differ."""

PRESENT = "as it is"
"""What the present policy is called among those that are tried."""

_MOST = 150
"""Policies that are tried at a time; more are more than one can look at."""

_TRIED = {"k": (3, 10), "l": (2, 3, 4), "t": (0.1, 0.2, 0.3, 0.5), "p": (2, 3)}
"""What is offered to be tried besides the present value."""


@dataclass(frozen=True)
class Exploration:
    """What was tried, and the same policies as the desk writes them."""

    comparison: "Comparison"
    policies: dict[str, Policy]
    vary: dict[str, list[object]]
    """The settings that were varied, as `sf.compare` takes them."""

    loss: str = ""
    """What usefulness was measured by; nothing for the loss that costs no time."""


@step.page
def show_page(desk: Desk, asked: Fields) -> Context:
    """Return the plane with what was tried, and the map of the lattice."""
    policy = desk.require_policy()
    return {
        "policy": policy,
        "methods": method_words(),
        "knobs": _varied_numbers(policy),
        "loss_words": LOSS_WORDS,
        "lost": last_loss(desk),
        "bookmarks": _bookmarks(desk),
        **_plane(desk, asked),
        **_map(desk, asked),
    }


# The plane.


def _varied_numbers(policy: Policy) -> list[dict[str, str]]:
    """Return the numbers of the promises that can be varied, with what is offered for each."""
    found: dict[str, tuple[Knob, set[float]]] = {}
    for model in policy.models:
        for knob in knobs_of(type(model), model):
            value = getattr(model, knob.name)
            if knob.kind != "number" or value is None:
                continue
            found.setdefault(knob.name, (knob, set()))[1].add(value)
    return [
        {
            "name": name,
            "means": knob.means,
            # Only the size of groups is varied unless more is asked for: few numbers make many
            # combinations.
            "text": "; ".join(map(show, sorted({3, 10, *values}))) if name == "k" else "",
            "hint": "; ".join(map(show, sorted({*values, *_TRIED.get(name, ())}))),
        }
        for name, (knob, values) in found.items()
    ]


def _plane(desk: Desk, asked: Fields) -> dict[str, object]:
    from sfumato.attacks.adversary.trial import RISKS

    job = desk.jobs.get("explore")
    query = {key: asked.text(key) for key in _ASKED if key in asked}
    found: Exploration | None = job.result if job is not None and job.ready else None
    if found is None:
        return {"explore": job, "found": None, "query": query}
    comparison = found.comparison
    comparison = comparison.by(_shown_risk(comparison, query.get("risk", "")))
    present = _present(found, desk.require_policy())
    points = list(comparison.points)
    chosen = _number(query.get("point"), points)
    other = _number(query.get("other"), points)
    return {
        "explore": job,
        "found": comparison,
        "query": query,
        "risk_words": RISK_WORDS,
        "svg": comparison.draw(linked=True, marked=dict.fromkeys(present, "the present policy")),
        "present": present,
        "front": {point.name for point in comparison.front},
        "rows": _filter_points(
            _sorted_points(comparison, query.get("sort", "")), comparison, query
        ),
        "limits": {key: query.get(key, "") for key in _LIMITS},
        "total": len(points),
        "only_others": {key: value for key, value in query.items() if key not in _LIMITS},
        "risks": {
            name: words[0].upper() + words[1:]
            for name, words in RISKS.items()
            if any(point.possible and name in point.risks for point in points)
        },
        "chosen": chosen,
        "pair": _pair(desk, found, chosen, other),
        "other": other,
    }


_LIMITS = ("most-risk", "most-loss", "most-left-out")
"""The fields that leave policies out of the table, each with the largest figure that stays."""

_ASKED = ("point", "other", "sort", "risk", *_LIMITS)


def _filter_points(
    rows: "list[tuple[int, Trial]]", comparison: "Comparison", query: dict[str, str]
) -> "list[tuple[int, Trial]]":
    """Return the points that stay below the limits; all of those are possible."""
    limits = [_limit(query.get(key, "")) for key in _LIMITS]
    if limits == [None, None, None]:
        return rows

    def stays(point: "Trial") -> bool:
        if not point.possible:
            return False
        risk, loss = point.risks.get(comparison.risk, 1.0), point.losses.get(comparison.loss, 1.0)
        figures = (100 * risk, 100 * loss, point.suppressed)
        # As precise as they are shown.
        return all(
            most is None or round(figure, 1) <= most
            for figure, most in zip(figures, limits, strict=True)
        )

    return [row for row in rows if stays(row[1])]


def _limit(text: str) -> float | None:
    found = read_number(text.strip().removesuffix("%").strip().replace(",", "."))
    return float(found) if isinstance(found, int | float) else None


_BOOKMARKS, _MOST_BOOKMARKS = "bookmarks", 20


@dataclass(frozen=True)
class Bookmark:
    """A policy that was tried and is kept in sight, with the figures that it had."""

    name: str
    text: str
    figures: str


def _bookmarks(desk: Desk) -> list[Bookmark]:
    """Return what was marked of the table that is open."""
    try:
        kept = json.loads(desk.settings.get(_BOOKMARKS, "{}"))
        here = kept.get("table") == desk.require_source().address
        return [Bookmark(**each) for each in kept["marks"]] if here else []
    except (KeyError, TypeError, ValueError, AttributeError):
        return []


def _keep(desk: Desk, marks: list[Bookmark]) -> None:
    told = {"table": desk.require_source().address, "marks": [asdict(each) for each in marks]}
    desk.settings[_BOOKMARKS] = json.dumps(told)
    desk.save()


@step.action("mark")
def mark(desk: Desk, asked: Fields) -> Answer:
    """Keep a policy that was tried in sight, also when others are tried."""
    job = desk.jobs.get("explore")
    found: Exploration | None = job.result if job is not None and job.ready else None
    name = asked.text("name")
    if found is None or name not in found.policies:
        raise UnknownNameError("policy", name, [] if found is None else [*found.policies])
    point = found.comparison[name]
    figures = point.reason or ""
    if point.possible:
        loss, people = point.loss, point.risks.get("at-risk", 0.0)
        figures = f"{percent(people)} · {percent(loss)} · {point.suppressed} · {point.smallest}"
    text = found.policies[name].to_yaml()
    others = [each for each in _bookmarks(desk) if each.text != text]
    _keep(desk, [*others, Bookmark(name, text, figures)][-_MOST_BOOKMARKS:])
    return None


@step.action("unmark")
def unmark(desk: Desk, asked: Fields) -> Answer:
    """Forget a policy that was kept in sight."""
    at = asked.integer("at")
    _keep(desk, [each for number, each in enumerate(_bookmarks(desk)) if number != at])
    return None


@step.action("return")
def take_marked(desk: Desk, asked: Fields) -> Answer:
    """Make a policy that was kept in sight the present one."""
    marks, at = _bookmarks(desk), asked.integer("at")
    if not 0 <= at < len(marks):
        raise InputError("this bookmark is not there any more. Load the page again")
    desk.change(Policy.from_yaml(marks[at].text), "explore", f"chose {marks[at].name}")
    return None


def _shown_risk(comparison: "Comparison", asked: str) -> str:
    """Return the risk that was asked for; else the first that tells what was tried apart."""
    tried = [point.risks for point in comparison.points if point.possible]
    known = [name for name in _TELLING if any(name in risks for risks in tried)]
    if asked in known:
        return asked
    telling = (name for name in known if len({risks.get(name) for risks in tried}) > 1)
    return next(telling, comparison.risk)


def _present(found: Exploration, policy: Policy) -> list[str]:
    """Return the names under which the present policy was tried."""
    return [name for name, each in found.policies.items() if each == policy]


def _number(text: str | None, points: "Sequence[Trial]") -> int | None:
    """Return the number of a point, from 1 on; None if there is no such."""
    if text is None or not re.fullmatch(r"\d{1,4}", text):
        return None
    return int(text) if 1 <= int(text) <= len(points) else None


def _sorted_points(comparison: "Comparison", by: str) -> "list[tuple[int, Trial]]":
    """Return the points with their numbers, in the order that was asked for."""
    keys: dict[str, Any] = {
        "loss": lambda point: point.losses.get(comparison.loss, 9.0),
        "risk": lambda point: point.risks.get(comparison.risk, 9.0),
        "suppressed": lambda point: point.suppressed,
        "smallest": lambda point: -point.smallest,
        "method": lambda point: point.policy.method.name,
    }
    rows = list(enumerate(comparison.points, 1))
    if by not in keys:
        return rows
    return sorted(rows, key=lambda row: (not row[1].possible, _key(keys[by], row[1])))


def _key(key: Any, point: "Trial") -> Any:  # noqa: ANN401
    return key(point) if point.possible else 0


@dataclass(frozen=True)
class ComparedSide:
    """One of two policies that are looked at side by side."""

    title: str
    point: "Trial | None"
    text: str


def _pair(
    desk: Desk, found: Exploration, chosen: int | None, other: int | None
) -> dict[str, object] | None:
    """Return two candidates side by side; the second is the present policy if none is chosen."""
    if chosen is None:
        return None
    points, policy = found.comparison.points, desk.require_policy()
    present = _present(found, policy)
    first = points[chosen - 1]
    sides = [ComparedSide(first.name, first, found.policies[first.name].to_yaml())]
    if other is not None:
        point = points[other - 1]
        sides.append(ComparedSide(point.name, point, found.policies[point.name].to_yaml()))
    else:
        same = found.comparison[present[0]] if present else None
        sides.append(ComparedSide(PRESENT, same, policy.to_yaml()))
    return {
        "first": sides[0],
        "second": sides[1],
        "is_present": first.name in present,
        "diff": difference(sides[1].text, sides[0].text),
    }


@step.action("try")
def try_policies(desk: Desk, asked: Fields) -> Answer:
    """Try methods and numbers on the table, beside the pages."""
    from sfumato.comparison.variations import name_policies

    policy = desk.require_policy()
    vary, loss = _asked_variations(policy, asked), _asked_loss(asked)
    count = 1
    for values in vary.values():
        count *= len(values)
    if count > _MOST:
        raise InputError(
            f"these are {count} combinations, and at most {_MOST} are tried at a time. Take fewer "
            "methods or fewer numbers"
        )
    named = {} if not vary else name_policies(policy, vary)
    alone = policy not in named.values()
    live, given = desk.require_live(), desk.task_policy

    by = loss or None

    def work(report: Progress) -> Exploration:
        if not alone:
            found = live.explore(given, vary=vary, loss=by, progress=report)
            return Exploration(found, named, vary, loss)
        # The present policy is a point too, so that others can be held against it.
        found = live.explore(given, vary={}, loss=by, progress=report)
        present = replace(found.points[0], name=PRESENT)
        if vary:
            found = live.explore(given, vary=vary, loss=by, progress=report)
            found = replace(found, points=(present, *found.points))
            return Exploration(found, {PRESENT: policy, **named}, vary, loss)
        return Exploration(replace(found, points=(present,)), {PRESENT: policy}, vary, loss)

    desk.start("explore", work)
    return None


def _asked_variations(policy: Policy, asked: Fields) -> dict[str, list[object]]:
    """Return the settings to vary, each with its values."""
    vary: dict[str, list[object]] = {}
    for each in _varied_numbers(policy):
        values = _values(asked.text(f"v-{each['name']}", ""))
        if values:
            vary[each["name"]] = values
    limits = _values(asked.text("v-suppression", ""))
    if limits:
        vary["suppression"] = limits
    if asked.texts("method"):
        vary["method"] = list(asked.texts("method"))
    return vary


def _asked_loss(asked: Fields) -> str:
    """Return what usefulness is measured by."""
    loss = asked.text("loss", "")
    if loss not in LOSS_WORDS:
        raise UnknownNameError("loss", loss, [*filter(None, LOSS_WORDS)])
    return loss


def last_variations(desk: Desk) -> dict[str, list[object]]:
    """Return what was varied last; before that, what is offered to be varied."""
    job = desk.jobs.get("explore")
    if job is not None and job.ready:
        found: Exploration = job.result
        return found.vary
    numbers = {
        each["name"]: _values(each["text"]) for each in _varied_numbers(desk.require_policy())
    }
    return {name: values for name, values in numbers.items() if values} | {
        "method": [*method_words()]
    }


def last_loss(desk: Desk) -> str:
    """Return what usefulness was measured by last; nothing for the loss that costs no time."""
    job = desk.jobs.get("explore")
    found: Exploration | None = job.result if job is not None and job.ready else None
    return "" if found is None else found.loss


def _values(text: str) -> list[object]:
    """Return the values that a field lists.

    >>> _values("2; 3, 5"), _values("0.1 0,2"), _values("0%; 5%")
    ([2, 3, 5], [0.1, 0.2], ['0%', '5%'])
    """
    parts = [each for each in re.split(r"[;\s]+|,(?=\s)|,$", text.strip()) if each]
    return list(dict.fromkeys(read_number(part) for part in parts))


@step.action("take")
def take(desk: Desk, asked: Fields) -> Answer:
    """Make a policy that was tried the present one."""
    job = desk.jobs.get("explore")
    found: Exploration | None = job.result if job is not None and job.ready else None
    name = asked.text("name")
    if found is None or name not in found.policies:
        raise UnknownNameError("policy", name, [] if found is None else [*found.policies])
    desk.change(found.policies[name], "explore", f"chose {name}")
    desk.say("done", f"{name} is the policy now. Undo takes it back.")
    return None


# The lattice.


def _with_free_levels(policy: Policy) -> Policy:
    """Return a policy without levels that are fixed, so that the map shows what else there is."""
    rules = {
        name: rule.replace(levels=None) if _is_fixed(rule.levels) else rule
        for name, rule in policy.columns.items()
    }
    return policy.replace(columns=rules)


def _is_fixed(levels: tuple[int, int] | None) -> bool:
    return levels is not None and levels[0] == levels[1]


def _lattice_key(desk: Desk) -> str:
    source = desk.require_source().address
    text = f"{source}\n{_with_free_levels(desk.require_policy()).to_yaml()}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _map(desk: Desk, asked: Fields) -> dict[str, object]:
    job = desk.jobs.get("lattice")
    lattice = _lattice_of(job)
    policy = desk.require_policy()
    fixed = [name for name, rule in policy.columns.items() if _is_fixed(rule.levels)]
    if lattice is None or job is None:
        return {
            "lattice": None,
            "lattice_job": job,
            "fixed": fixed,
            "around": _levels_of(job),
            "lattice_old": job is None or job.key != _lattice_key(desk),
        }
    node = _asked_node(lattice, policy, asked)
    return {
        "lattice": lattice,
        "lattice_job": job,
        "lattice_old": job.key != _lattice_key(desk),
        "fixed": fixed,
        "node": node,
        "judged": lattice[node],
        "lower": lattice.neighbours(node, -1),
        "higher": lattice.neighbours(node, 1),
        "levels": [
            (column, list(range(low, high + 1)), level)
            for column, low, high, level in zip(
                lattice.columns, lattice.lattice.lowest, lattice.lattice.highest, node, strict=True
            )
        ],
        "minimal": sorted(
            (lattice[each] for each in lattice.minimal),
            key=lambda each: (each.loss if each.loss is not None else 9.0, each.node),
        ),
        "set_now": _fixed_node(lattice, policy),
    }


def _lattice_of(job: Job | None) -> "JudgedLattice | None":
    found = _levels_of(job)
    return None if found is None else found.lattice


def _levels_of(job: Job | None) -> "LevelMap | None":
    found: LevelMap | None = job.result if job is not None and job.ready else None
    return found


def _fixed_node(lattice: "JudgedLattice", policy: Policy) -> Node | None:
    """Return the node that the policy fixes, if it fixes every level."""
    levels = [policy.columns[name].levels for name in lattice.columns if name in policy.columns]
    fixed = [each[0] for each in levels if each is not None and _is_fixed(each)]
    found = tuple(fixed)
    return found if len(fixed) == len(lattice.columns) and found in lattice.lattice else None


def _asked_node(lattice: "JudgedLattice", policy: Policy, asked: Fields) -> Node:
    """Return the node to look at: the one asked for, the one that is set, or the chosen one."""
    text = asked.text("node") if "node" in asked else ",".join(asked.texts("level"))
    if re.fullmatch(r"\d{1,4}(,\d{1,4})*", text):
        node = tuple(map(int, text.split(",")))
        if node in lattice.lattice:
            return node
    return _fixed_node(lattice, policy) or lattice.chosen or lattice.lattice.highest


@step.part("map")
def draw_map(desk: Desk, asked: Fields) -> Context:
    """Return the drawing of the lattice."""
    lattice = _lattice_of(desk.jobs.get("lattice"))
    if lattice is None:
        raise InputError("the lattice was not judged yet")
    return {"svg": lattice.map_svg()}


@step.action("judge")
def judge(desk: Desk, asked: Fields) -> Answer:
    """Judge every node of the lattice, beside the pages."""
    from sfumato.showing.lattice import MOST_CELLS

    live = desk.require_live()
    policy = _with_free_levels(desk.require_policy()).relative_to(desk.folder)

    def work(report: Progress) -> "LevelMap":
        return live.lattice(policy, most=MOST_CELLS, progress=report)

    desk.jobs.start("lattice", work, key=_lattice_key(desk))
    return None


@step.action("levels")
def set_levels(desk: Desk, asked: Fields) -> Answer:
    """Set the levels of a node in the policy."""
    lattice = _lattice_of(desk.jobs.get("lattice"))
    with desk.lock:
        policy = desk.require_policy()
        if lattice is None or any(name not in policy.columns for name in lattice.columns):
            raise InputError("the columns have changed since. Judge the lattice again")
        node = _asked_node(lattice, policy, asked)
        rules = dict(policy.columns)
        for name, level in zip(lattice.columns, node, strict=True):
            rules[name] = rules[name].replace(levels=[level, level])
        changed = policy.replace(columns=rules)
        if policy.method.name != FULL_DOMAIN:
            changed = changed.with_method(FULL_DOMAIN)
        desk.change(changed, "explore", f"levels {', '.join(map(str, node))}")
    return None


@step.action("free")
def free_levels(desk: Desk, asked: Fields) -> Answer:
    """Set that the search chooses the levels again."""
    with desk.lock:
        desk.change(_with_free_levels(desk.require_policy()), "explore", "levels free")
    return None
