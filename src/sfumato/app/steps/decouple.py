"""Decouple: what is parted, what stays together, and what is left to guess then."""

import tempfile
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from sfumato.app.desk import Desk
from sfumato.app.fields import Fields
from sfumato.app.jobs import Job
from sfumato.app.releasing import WHOLE, ReleaseWish, decoupling_of
from sfumato.app.steps import ALL, Answer, Context
from sfumato.dataclasses import dataclass
from sfumato.decouplings import DECOUPLINGS, Decoupling
from sfumato.errors import InputError
from sfumato.partition import PARTITIONERS
from sfumato.policy import Policy
from sfumato.policy.parts import (
    default_of,
    descriptions,
    is_required,
    member_settings,
    parameters,
)
from sfumato.registry import first_sentence
from sfumato.releases.release import DecoupledRelease
from sfumato.schema import Role
from sfumato.showing.content import Content
from sfumato.typing import Progress

step = ALL["decouple"]

JOB = "decouple"
NONE, OVERLAPPING = "none", "overlapping-slicing"
_OVERLAP = 0.3
"""From which correlation on attributes share a slice, if it is not said."""

_SHOWN = 6
"""Rows of each table in a preview."""

_LISTS = ("together", "columns", "categories")
"""Settings that are no field: the first two are arranged by hand on the page."""

TEXTS = (
    "Publish one table, in one piece: rows stay whole.",
    "Slicing in which an attribute may stand in several slices, beside all that goes with it.",
    "in one piece",
    "overlapping slicing",
    *(name.replace("-", " ") for name in DECOUPLINGS),
    *(first_sentence(kind) for kind in DECOUPLINGS.values()),
)


# What there is to choose from.


@dataclass(frozen=True)
class Method:
    """A way to part a table, as a page offers it."""

    name: str
    title: str
    sentence: str


def methods() -> list[Method]:
    """Return all ways to part a table, none of them first."""
    found = [Method(NONE, "in one piece", TEXTS[0])]
    for name, kind in DECOUPLINGS.items():
        found.append(Method(name, name.replace("-", " "), first_sentence(kind)))
        if "overlap" in parameters(kind):
            found.append(Method(OVERLAPPING, "overlapping slicing", TEXTS[1]))
    return found


def _overlapping() -> type[Decoupling]:
    """Return the way in which a column may stand in several tables."""
    return next(kind for kind in DECOUPLINGS.values() if "overlap" in parameters(kind))


def name_chosen(decoupling: Decoupling | None) -> str:
    """Return the name of what is chosen, as `methods` has it."""
    if decoupling is None:
        return NONE
    if getattr(decoupling, "overlap", None) is not None or _overlaps(decoupling):
        return OVERLAPPING
    return decoupling.name


def _overlaps(decoupling: Decoupling) -> bool:
    named = [name for names in getattr(decoupling, "columns", None) or () for name in names]
    return len(set(named)) < len(named)


@dataclass(frozen=True)
class MethodField:
    """A setting of a method, as a field of a form."""

    name: str
    meaning: str
    value: str
    options: tuple[str, ...] = ()
    """What there is to choose from; nothing for a number or a text."""

    optional: bool = False
    whole: bool = False
    """Whether it is a whole number."""

    foremost: bool = True
    """Whether it is shown at once, and not behind a click."""


def settings_of(decoupling: Decoupling, columns: Sequence[str]) -> list[MethodField]:
    """Return the settings of a method with their values.

    Args:
        decoupling: The method.
        columns: The columns of the table that a setting may name.
    """
    means, found = descriptions(type(decoupling)), []
    for name, (details, hint) in parameters(type(decoupling)).items():
        if name in _LISTS:
            continue
        value = getattr(decoupling, name)
        default = None if is_required(details) else default_of(details)
        options, kinds = _options(name, hint, columns)
        found.append(
            MethodField(
                name,
                means.get(name, ""),
                "" if value is None else f"{value:g}" if isinstance(value, float) else str(value),
                options,
                optional=default is None and not is_required(details),
                whole=int in kinds and float not in kinds,
                foremost=value != default or (default is not None and not options),
            )
        )
    return found


def _options(
    name: str, hint: object, columns: Sequence[str]
) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    if get_origin(hint) is Literal:
        return tuple(map(str, get_args(hint))), ()
    if name == "column":
        return tuple(columns), ()
    if name == "partition":
        return ("full-domain", *PARTITIONERS), ()
    return (), kinds


# Which columns stand in which table.


@dataclass(frozen=True)
class Move:
    """Where a column can go, as the value of a button."""

    to: str
    kind: Literal["with", "own", "people", "slice", "also", "away", "new"]
    name: str = ""
    """The table, by its number or by one of its columns."""


@dataclass(frozen=True)
class ColumnChip:
    """A column in a table of the arrangement."""

    name: str
    role: str
    moves: tuple[Move, ...] = ()


@dataclass(frozen=True)
class TableBoard:
    """A table of the arrangement."""

    key: str
    """What a column that is dropped on it sends."""

    kind: Literal["people", "sensitive", "slice", "whole"]
    chips: tuple[ColumnChip, ...]


def plain_of(policy: Policy, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that are published as they are."""
    named = policy.with_role(Role.PLAIN)
    others = columns if policy.other is Role.PLAIN else ()
    return (*named, *(name for name in others if name not in policy.columns))


def boards_of(
    policy: Policy, decoupling: Decoupling | None, plain: Sequence[str]
) -> list[TableBoard]:
    """Return the tables that are published, and where each of their columns can go."""
    roles = dict.fromkeys(policy.quasi_identifiers, "quasi-identifier")
    roles |= dict.fromkeys(policy.sensitive, "sensitive") | dict.fromkeys(plain, "plain")
    if decoupling is None or decoupling.in_one_piece:
        chips = tuple(ColumnChip(name, role) for name, role in roles.items())
        return [TableBoard("whole", "whole", chips)]
    if "columns" in parameters(type(decoupling)):
        return _slices(getattr(decoupling, "columns", None) or (), roles)
    return _together(policy, decoupling, plain, roles)


def _together(
    policy: Policy, decoupling: Decoupling, plain: Sequence[str], roles: Mapping[str, str]
) -> list[TableBoard]:
    groups = groups_of(decoupling.together, policy.sensitive)
    tied = {name for names in groups for name in names}
    people = [ColumnChip(name, "quasi-identifier") for name in policy.quasi_identifiers]
    people += [
        ColumnChip(name, "plain", tuple(Move(names[0], "with", names[0]) for names in groups))
        for name in plain
        if name not in tied
    ]
    found = [TableBoard("people", "people", tuple(people))]
    for names in groups:
        chips = []
        for name in names:
            moves = [Move(each[0], "with", each[0]) for each in groups if each is not names]
            if name in plain:
                moves.append(Move("people", "people"))
            elif len(names) > 1:
                moves.append(Move("own", "own"))
            chips.append(ColumnChip(name, roles[name], tuple(moves)))
        found.append(TableBoard(names[0], "sensitive", tuple(chips)))
    return found


def _slices(columns: Sequence[str | Sequence[str]], roles: Mapping[str, str]) -> list[TableBoard]:
    lists = [list(names) for names in columns]
    times = {name: sum(name in names for names in lists) for name in roles}
    found = []
    for at, names in enumerate(lists):
        others = [i for i in range(len(lists)) if i != at]
        chips = []
        for name in names:
            free = [i for i in others if name not in lists[i]]
            moves = [Move(str(i), "slice", str(i + 1)) for i in free]
            if len(names) > 1:
                moves.append(Move("new", "new"))
            # A slice that stands in another one whole would say nothing.
            if len(names) > 1 and roles.get(name) != "sensitive":
                moves += [Move(f"+{i}", "also", str(i + 1)) for i in free]
            if times.get(name, 0) > 1:
                moves.append(Move("-", "away"))
            chips.append(ColumnChip(name, roles.get(name, "plain"), tuple(moves)))
        found.append(TableBoard(str(at), "slice", tuple(chips)))
    return found


def groups_of(together: Sequence[str | Sequence[str]], sensitive: Sequence[str]) -> list[list[str]]:
    """Return the columns of each sensitive table, in the order of the sensitive columns.

    >>> groups_of([("time", "death")], ["death", "pay", "time"])
    [['time', 'death'], ['pay']]
    """
    found: list[list[str]] = []
    for name in sensitive:
        names = next((list(each) for each in together if name in each), [name])
        if names not in found:
            found.append(names)
    return found


def move_together(
    together: Sequence[str | Sequence[str]], sensitive: Sequence[str], column: str, to: str
) -> list[list[str]]:
    """Return which columns stay together after one of them has moved.

    Args:
        together: Which do now.
        sensitive: The sensitive columns.
        column: The one that moves.
        to: A column of the table that it moves to; `own` for a table of its own, `people` for that
            of the people.

    >>> move_together([], ["ill", "pay"], "pay", "ill")
    [['ill', 'pay']]
    >>> move_together([["ill", "pay", "drug"]], ["ill", "pay"], "drug", "people")
    [['ill', 'pay']]
    """
    before = groups_of(together, sensitive)
    groups = [[name for name in names if name != column] for names in before]
    target = next((names for names in groups if to in names), None)
    if target is not None:
        target.append(column)
    # Plain columns that are left alone go back to the people.
    return [names for names in groups if len(names) > 1 and {*names} & {*sensitive}]


def move_slice(
    columns: Sequence[str | Sequence[str]], column: str, at: int, to: str
) -> list[list[str]]:
    """Return the slices after a column has moved from one of them.

    Args:
        columns: The slices as they are.
        column: The one that moves.
        at: The slice it is taken from.
        to: The number of another slice, `+` before it to stay here as well; `new` for a slice of
            its own; `-` to be taken away here.

    >>> move_slice([["age", "zip"], ["ill"]], "zip", 0, "1")
    [['age'], ['ill', 'zip']]
    >>> move_slice([["age", "zip"], ["ill"]], "zip", 0, "+1")
    [['age', 'zip'], ['ill', 'zip']]
    """
    lists = [list(names) for names in columns]
    if not 0 <= at < len(lists) or column not in lists[at]:
        raise InputError(f"there is no {column!r} there any more. Load the page again")
    if not to.startswith("+"):
        lists[at].remove(column)
    if to == "new":
        lists.append([column])
    elif to != "-":
        goal = int(to) if to.lstrip("+").isdecimal() else -1
        if not 0 <= goal < len(lists):
            raise InputError(f"there is no slice {to!r}. Load the page again")
        if column not in lists[goal]:
            lists[goal].append(column)
    return [names for names in lists if names]


# What would be published, and what is left to guess.


@dataclass(frozen=True)
class FirstRows:
    """The first rows of a table that would be published."""

    name: str
    rows: int
    columns: tuple[str, ...]
    head: tuple[tuple[str | None, ...], ...]


@dataclass(frozen=True)
class GuessBeforeAfter:
    """How surely an adversary tells people's own values, before and after."""

    known: str
    """The sensitive column that is known besides the group; empty if none is."""

    worst: tuple[float, float]
    mean: tuple[float, float]
    people: int
    """Of how many people less is told than before."""


@dataclass(frozen=True)
class LookResult:
    """What came of a look."""

    samples: tuple[FirstRows, ...]
    summary: Content
    guesses: tuple[GuessBeforeAfter, ...] = ()
    surest: Content | None = None
    slices: tuple[tuple[str, ...], ...] = ()


def look(wish: ReleaseWish, folder: Path, report: Progress) -> LookResult:
    """Return what would be published, and what would be left to guess.

    Args:
        wish: What to look at.
        folder: Where a table of a database may be written for the time being.
        report: Told how far each stage is.
    """
    decoupling = decoupling_of(wish.policy)
    if decoupling is None:
        raise InputError("nothing is parted. Choose a way to part the table first")
    with tempfile.TemporaryDirectory(prefix="look-", dir=folder) as place:
        data: object = wish.source
        if decoupling.keeps_classes:
            # Rows of a database are not brought into memory.
            there = Path(place) / WHOLE if "://" in str(wish.source) else None
            whole = wish.anonymize(there, progress=report)
            data = whole if there is None else there
        made = wish.part(data, None, progress=report)
        guesses: tuple[GuessBeforeAfter, ...] = ()
        surest: Content | None = None
        if decoupling.keeps_classes and not decoupling.in_one_piece:
            guesses, surest = _guesses(made, data, report)
    samples = tuple(_sample(name, table) for name, table in (made.tables or {}).items())
    return LookResult(samples, made.content(), guesses, surest, made.slices)


def _sample(name: str, table: Any) -> FirstRows:  # noqa: ANN401 - an Arrow table
    head = table.slice(0, _SHOWN).to_pylist()
    rows = tuple(tuple(None if v is None else str(v)[:80] for v in row.values()) for row in head)
    return FirstRows(name, table.num_rows, tuple(table.column_names), rows)


def _guesses(
    made: DecoupledRelease, before: object, report: Progress
) -> tuple[tuple[GuessBeforeAfter, ...], Content]:
    """Return what those can tell who join the tables again, and their surest guesses."""
    from sfumato.tasks.breach import breach

    exposure = breach(made, original=before, progress=report)
    compared = exposure.comparison
    told = [] if compared is None else compared.changes
    guesses = tuple(
        GuessBeforeAfter(
            each.known or "",
            (float(each.before.worst), float(each.after.worst)),
            (float(each.before.mean), float(each.after.mean)),
            each.lowered,
        )
        for each in told
    )
    _, surest, *_ = exposure.content(most=3).parts
    return guesses, Content("", (surest,))


# The page.


@step.page
def show(desk: Desk, asked: Fields) -> Context:
    """Return the choice, the arrangement, and what came of the last look."""
    policy = desk.require_policy()
    decoupling = decoupling_of(policy)
    live, job = desk.live, desk.jobs.get(JOB)
    columns = list(policy.columns) if live is None else list(live.columns)
    plain = plain_of(policy, columns)
    goes_by = [name for name in columns if name not in policy.sensitive]
    found: LookResult | None = job.result if job is not None and job.ready else None
    return {
        "methods": methods(),
        "chosen": name_chosen(decoupling),
        "decoupling": decoupling,
        "settings": [] if decoupling is None else settings_of(decoupling, goes_by),
        "boards": boards_of(policy, decoupling, plain),
        "automatic": _is_automatic(decoupling),
        "arranged": found.slices if found is not None else (),
        "sensitive": policy.sensitive,
        "people_counted": _has_several_rows(desk, policy.counted_person),
        "job": job,
        "found": found,
    }


def _has_several_rows(desk: Desk, person: str | None) -> bool:
    """Return whether people have several rows, as far as it is known."""
    if person is None:
        return False
    live = desk.live
    return live is None or person not in live.table.columns or live.table.repeats(person)


def _is_automatic(decoupling: Decoupling | None) -> bool:
    """Return whether a method chooses by itself which columns stand together."""
    return hasattr(decoupling, "columns") and getattr(decoupling, "columns", None) is None


@step.action("method")
def set_method(desk: Desk, asked: Fields) -> Answer:
    """Choose how to part the table; settings that the new method has too are kept."""
    name = asked.text("method")
    with desk.lock:
        policy = desk.require_policy()
        before = decoupling_of(policy)
        if name == name_chosen(before):
            return None
        if name == NONE:
            desk.change(policy.replace(decouple=None), "decouple", "in one piece")
            return None
        kind = _overlapping() if name == OVERLAPPING else DECOUPLINGS[name]
        kept = {} if before is None else member_settings(before, "method")
        # How the slices are laid out is another question for each of the two.
        known = [each for each in parameters(kind) if each not in ("columns", "overlap")]
        rule: dict[str, object] = {"method": kind.name}
        rule |= {
            each: getattr(kind.example(), each)
            for each, (details, _) in parameters(kind).items()
            if is_required(details)
        }
        rule |= {each: kept[each] for each in known if each in kept and kept[each] is not None}
        if name == OVERLAPPING:
            rule["overlap"] = _OVERLAP
        _put(desk, policy, rule, f"decoupled by {name.replace('-', ' ')}")
    return None


@step.action("set")
def set_settings(desk: Desk, asked: Fields) -> Answer:
    """Set the settings of the method as they are in the form."""
    with desk.lock:
        policy = desk.require_policy()
        decoupling = _require(policy)
        rule = dict(member_settings(decoupling, "method"))
        for name, (details, hint) in parameters(type(decoupling)).items():
            if name in _LISTS or name not in asked:
                continue
            text = asked.text(name).strip()
            if not text:
                rule.pop(name, None)
                if not is_required(details) and default_of(details) is not None:
                    rule[name] = None
                continue
            options, kinds = _options(name, hint, ())
            number = not options and (int in kinds or float in kinds)
            rule[name] = _number(asked, name) if number else text
        _put(desk, policy, rule, f"settings of {decoupling.name}")
    return None


def _number(asked: Fields, name: str) -> float:
    value = asked.number(name)
    return int(value) if value == int(value) else value


@step.action("move")
def move(desk: Desk, asked: Fields) -> Answer:
    """Move a column into another table."""
    name, to = asked.text("column"), asked.text("to")
    with desk.lock:
        policy = desk.require_policy()
        decoupling = _require(policy)
        rule = dict(member_settings(decoupling, "method"))
        if hasattr(decoupling, "columns"):
            slices = getattr(decoupling, "columns", None) or ()
            rule["columns"] = move_slice(slices, name, asked.integer("at"), to)
        else:
            rule["together"] = move_together(decoupling.together, policy.sensitive, name, to)
            if not rule["together"]:
                del rule["together"]
        _put(desk, policy, rule, _words(name, to))
    return None


def _words(name: str, to: str) -> str:
    """Return what a move is called in the history."""
    if to.lstrip("+").isdecimal():
        return f"{name}: slice {int(to) + 1}"
    ways = {"own": "a table of its own", "people": "beside the people", "new": "a slice of its own"}
    return f"{name}: {ways.get(to, 'taken away' if to == '-' else f'together with {to}')}"


@step.action("arrange")
def arrange(desk: Desk, asked: Fields) -> Answer:
    """Lay the slices out by hand, beginning with what the last look has found, or let it choose."""
    with desk.lock:
        policy = desk.require_policy()
        rule = dict(member_settings(_require(policy), "method"))
        if asked.flag("automatic"):
            rule.pop("columns", None)
            _put(desk, policy, rule, "slices chosen by what is correlated")
            return None
        job = desk.jobs.get(JOB)
        slices = [list(each) for each in job.result.slices] if job is not None and job.ready else []
        whole = {name for each in slices for name in each}
        if not {*policy.quasi_identifiers, *policy.sensitive} <= whole:
            slices = [list(policy.quasi_identifiers), *([name] for name in policy.sensitive)]
        # Settings by which columns are chosen have nothing to say now.
        for name in ("slices", "most", "overlap", "measure", "aim"):
            rule.pop(name, None)
        rule["columns"] = slices
        _put(desk, policy, rule, "slices laid out by hand")
    return None


@step.action("look")
def start_look(desk: Desk, asked: Fields) -> Answer:
    """Begin to compute what would be published, and what is left to guess."""
    _start(desk)
    return None


def _start(desk: Desk) -> Job:
    wish = ReleaseWish(desk.require_source().address, desk.task_policy, seed=desk.seed)
    return desk.start(JOB, lambda report: look(wish, desk.private, report))


def _require(policy: Policy) -> Decoupling:
    found = decoupling_of(policy)
    if found is None:
        raise InputError("nothing is parted. Choose a way to part the table first")
    return found


def _put(desk: Desk, policy: Policy, rule: Mapping[str, object], what: str) -> None:
    """Make a rule the state, if a method can be made of it; look again if it was looked before."""
    changed = policy.replace(decouple=dict(rule))
    decoupling_of(changed)
    desk.change(changed, "decouple", what)
    if desk.jobs.get(JOB) is not None:
        _start(desk)
