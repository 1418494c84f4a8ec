"""Hierarchies: how the values of a column become more general, edited by hand."""

import hashlib
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from starlette.responses import RedirectResponse, Response

from sfumato.app.boards import board_of, level_rows, ruler_of
from sfumato.app.desk import Desk
from sfumato.app.fields import Fields
from sfumato.app.jobs import Job
from sfumato.app.steps import ALL, Action, Answer, Context
from sfumato.app.texts import translator
from sfumato.errors import HierarchyError, InputError, SfumatoError, UnknownColumnError
from sfumato.hierarchy import (
    BUILDERS,
    Automatic,
    CsvHierarchy,
    Dates,
    HierarchyBuilder,
    Intervals,
    KnownTree,
    Masking,
    OrderedCategories,
    Suppress,
)
from sfumato.hierarchy.dates import UNITS
from sfumato.hierarchy.editing import (
    CutPoints,
    Form,
    GroupTree,
    LevelPreview,
    edit,
    edit_csv,
    preview,
)
from sfumato.hierarchy.known import TREES
from sfumato.policy import Policy
from sfumato.tasks.hierarchies import ColumnValues, column_values
from sfumato.text import text_of
from sfumato.typing import Value

step = ALL["hierarchies"]

_STATE = ("column", "level", "search", "page")


# What is shown.


@step.page
def show(desk: Desk, asked: Fields) -> Context:
    """Return a column with its hierarchy, to be edited."""
    policy = desk.require_policy()
    names = list(policy.quasi_identifiers)
    # Undo and the like come back here without saying where they were.
    name = asked.text("column", desk.settings.get("column", ""))
    name = name if name in names else next(iter(names), "")
    desk.settings["column"] = name
    context: dict[str, Any] = {"names": _overview(policy, names), "name": name, "job": None}
    if not name:
        return context
    job = _count(desk, name)
    job.wait(1.5)
    if job.running:
        return {**context, "job": job}
    return {**context, **_describe(desk, name, _counted_by(job), asked)}


def _overview(policy: Policy, names: Sequence[str]) -> list[tuple[str, str]]:
    kinds = [policy.columns[name].hierarchy or Suppress() for name in names]
    return [(name, _title(kind)) for name, kind in zip(names, kinds, strict=True)]


def _describe(desk: Desk, name: str, found: ColumnValues, asked: Fields) -> Context:
    policy = desk.task_policy
    builder = policy.columns[name].hierarchy or Suppress()
    problem = ""
    try:
        form, levels = _look(builder, name, found)
    except SfumatoError as error:
        problem = str(error)
        form, levels = _look(Suppress(), name, found)
    k = _least_rows(policy)
    level = min(max(asked.integer("level", 1), 1), max(form.height - 1, 1))
    search = asked.text("search", "")
    page = asked.integer("page", 0)
    lacking = _lacking(builder, form)
    context: dict[str, Any] = {
        "kind": builder.name,
        "builder": builder,
        "kinds": _offers(name, found, builder),
        "suggested": _suggest(name, found),
        "problem": problem,
        "lacking": lacking,
        "k": k,
        "rows": sum(found.counts),
        "distinct": sum(value is not None for value in found.values),
        "missing": form.missing,
        "level": level,
        "height": form.height,
        "search": search,
        "page": page,
        "form": form,
        "levels": level_rows(levels, k),
        "files": _csv_files(desk),
        "units": [(unit, unit in _units_of(builder)) for unit in UNITS],
        "trees": list(TREES),
        "state": {"column": name, "level": str(level), "search": search},
    }
    if isinstance(form, CutPoints):
        return {**context, "ruler": ruler_of(form, level, k), "board": None}
    if form.height == 1:
        return {**context, "ruler": None, "board": None}
    expanded = asked.texts("expand")
    board = board_of(form, level, search=search, page=page, expanded=expanded)
    return {**context, "ruler": None, "board": board}


def _look(
    builder: HierarchyBuilder, name: str, found: ColumnValues
) -> tuple[Form, Sequence[LevelPreview]]:
    # What a file says may have changed since.
    with_file = getattr(builder, "file", None) is not None
    return (_look_anew if with_file else _look_once)(builder, name, found)


def _look_anew(
    builder: HierarchyBuilder, name: str, found: ColumnValues
) -> tuple[Form, Sequence[LevelPreview]]:
    """Return the editable form of a hierarchy, and what its levels do."""
    form = edit(builder, name, found.values, found.counts)
    return form, preview(form.builder(), name, found.values, found.counts)


# A page of a column of very many values is shown several times: at another level, with a search.
_look_once = lru_cache(maxsize=8)(_look_anew)


def _least_rows(policy: Policy) -> int:
    """Return the k that the policy promises; 5 if it promises none."""
    found = [getattr(model, "k", None) for model in policy.models]
    return max((k for k in found if isinstance(k, int)), default=5)


def _lacking(builder: HierarchyBuilder, form: Form) -> list[str]:
    """Return the values of the table that a hierarchy that is written out does not have."""
    if isinstance(form, CutPoints) or form.origin is not None:
        return []
    stated = builder.build_stated(form.column)
    known = set() if stated is None else set(map(text_of, stated.values))
    return [value for value, rows in form.rows.items() if rows and value not in known]


@lru_cache(maxsize=32)
def _suggest(name: str, found: ColumnValues) -> tuple[str, str]:
    """Return the kind that fits best, and its settings in a few words."""
    values, counts = _known_values(found)
    if not values:
        return Suppress.name, ""
    best = Automatic().describe(name, values, counts, hide_single=True)
    plain = {key: each for key, each in best.params().items() if key in ("widths", "upper", "tree")}
    told = [
        f"{key}: {', '.join(map(str, each)) if isinstance(each, list) else each}"
        for key, each in plain.items()
    ]
    return best.name, "; ".join(told)


def _title(kind: HierarchyBuilder | type[HierarchyBuilder]) -> str:
    return kind.title or kind.name


def _offers(name: str, found: ColumnValues, builder: HierarchyBuilder) -> list[dict[str, Any]]:
    """Return all kinds, and whether each can be made of these values."""
    offers = []
    for name_of_kind, kind in BUILDERS.items():
        chosen = name_of_kind == builder.name
        if kind.begins_with == "file" and not chosen:
            continue
        offers.append(
            {
                "kind": name_of_kind,
                "title": _title(kind),
                "words": kind.describe_kind(),
                "fits": chosen or name_of_kind in _fitting(name, found),
            }
        )
    return offers


@lru_cache(maxsize=32)
def _fitting(name: str, found: ColumnValues) -> frozenset[str]:
    """Return the kinds that can be made of the values, or of some of them where there are many."""
    values, _ = _known_values(found)
    few = values[:: max(len(values) // 500, 1)]
    return frozenset(each for each, kind in BUILDERS.items() if values and kind.fits(name, few))


def _units_of(builder: HierarchyBuilder) -> Sequence[str]:
    if not isinstance(builder, Dates):
        return ()
    return ("month", "quarter", "year", "decade") if builder.levels is None else builder.levels


def _csv_files(desk: Desk) -> list[str]:
    source = "" if desk.source is None else desk.source.name
    return [
        path.name
        for path in desk.data_files()
        if path.suffix.lower() in (".csv", ".txt") and path.name != source
    ]


# Values of a column, counted once.


def _count(desk: Desk, name: str) -> Job:
    """Count the values of a column, unless that was done for the same table."""
    policy, source = desk.task_policy, desk.require_source()
    told = (source.address, name, repr(policy.preparation), repr(policy.reading), policy.missing)
    key = hashlib.sha256(repr(told).encode("utf-8", "replace")).hexdigest()
    title = f"values-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:12]}"
    job = desk.jobs.get(title)
    if job is not None and job.key == key and not job.stopped and job.error is None:
        return job

    def work(report: Callable[..., None]) -> ColumnValues:
        return column_values(source.address, policy, name, progress=report)

    return desk.jobs.start(title, work, key=key)


def _values(desk: Desk, name: str) -> ColumnValues:
    policy = desk.require_policy()
    if name not in policy.quasi_identifiers:
        raise UnknownColumnError(name, list(policy.quasi_identifiers), where="the policy")
    job = _count(desk, name)
    job.wait()
    return _counted_by(job)


def _counted_by(job: Job) -> ColumnValues:
    """Return what a job counted; an error if it failed, or if another took its place."""
    if not job.ready:
        raise InputError(job.error or "counting the values was stopped. Load the page again")
    found: ColumnValues = job.result
    return found


def _known_values(found: ColumnValues) -> tuple[list[Value], list[int]]:
    at = [i for i, value in enumerate(found.values) if value is not None]
    return [found.values[i] for i in at], [found.counts[i] for i in at]


# What can be done.


def _acts(name: str) -> Callable[[Action], Action]:
    """Make an action that comes back to the column and level it was done at, also with an error."""

    def keep(action: Action) -> Action:
        @wraps(action)
        def act(desk: Desk, asked: Fields) -> Answer:
            answer: Answer = None
            try:
                with desk.lock:
                    answer = action(desk, asked)
            except SfumatoError as error:
                desk.say("error", str(error))
            if isinstance(answer, Response):
                return answer
            state = {key: asked.text(key, "") for key in _STATE if asked.text(key, "")}
            if answer:
                state["level"] = answer
            return RedirectResponse(f"../hierarchies?{urlencode(state)}", 303)

        return step.action(name)(act)

    return keep


def _put(
    desk: Desk, name: str, builder: HierarchyBuilder, what: str, *, joins: bool = False
) -> None:
    """Write another hierarchy of a column into the policy."""
    policy = desk.require_policy()
    rule = policy.columns[name]
    changes: dict[str, Any] = {"hierarchy": builder}
    if rule.levels is not None:
        height = builder.relative_to(desk.folder).fixed_height
        if height is not None and rule.levels[1] > height:
            changes["levels"] = None
    stays = rule.dates is not None or builder.of_dates is not False
    # The labels are made of dates as they are written after they were read as such.
    if not stays and _is_of_dates(desk, policy, name):
        changes["dates"] = "detect"
    changed = policy.replace(columns={**policy.columns, name: rule.replace(**changes)})
    desk.change(changed, "hierarchies", f"{name}: {what}", joins=joins)


def _is_of_dates(desk: Desk, policy: Policy, name: str) -> bool:
    """Return whether a column is read as dates because of its hierarchy alone."""
    builder = policy.columns[name].hierarchy
    if isinstance(builder, Automatic):
        values, counts = _known_values(_values(desk, name))
        builder = builder.describe(name, values, counts) if values else builder
    return builder is not None and bool(builder.of_dates)


def _form(desk: Desk, name: str) -> Form:
    found = _values(desk, name)
    builder = desk.task_policy.columns[name].hierarchy or Suppress()
    return _look(builder, name, found)[0]


@_acts("kind")
def set_kind(desk: Desk, asked: Fields) -> Answer:
    """Change the kind of a hierarchy, with settings to start from."""
    name, kind = asked.text("column"), asked.text("kind")
    found = _values(desk, name)
    _put(desk, name, _start(desk, name, BUILDERS[kind], found), _title(BUILDERS[kind]).lower())
    return "1"


def _start(
    desk: Desk, name: str, kind: type[HierarchyBuilder], found: ColumnValues
) -> HierarchyBuilder:
    if kind.begins_with == "file":
        raise HierarchyError("choose the file below, under import")
    if kind.begins_with == "groups":
        try:
            form = _form(desk, name)
        except SfumatoError:
            form = edit(Suppress(), name, found.values, found.counts)
        tree_form = form.as_tree() if isinstance(form, CutPoints) else form
        return (tree_form.add_level(0) if tree_form.height == 1 else _unbound(tree_form)).builder()
    return kind.begin(name, *_known_values(found))


def _unbound(tree: GroupTree) -> GroupTree:
    """Return a tree as groups of its own, whatever it came from."""
    return tree.add_level(0).remove_level(1)


@_acts("suggestion")
def take_suggestion(desk: Desk, asked: Fields) -> Answer:
    """Write what an automatic hierarchy would choose into the policy."""
    name = asked.text("column")
    values, counts = _known_values(_values(desk, name))
    if values:
        _put(desk, name, Automatic().describe(name, values, counts, hide_single=True), "suggestion")
    return "1"


@_acts("settings")
def set_settings(desk: Desk, asked: Fields) -> Answer:
    """Change the settings of the kind that a column has."""
    name = asked.text("column")
    _values(desk, name)
    builder = desk.require_policy().columns[name].hierarchy or Suppress()
    made: HierarchyBuilder = builder
    if isinstance(builder, Dates):
        made = Dates(levels=asked.texts("unit") or None)
    elif isinstance(builder, KnownTree):
        made = KnownTree(asked.text("tree"))
    elif isinstance(builder, Masking):
        made = Masking(
            side="left" if asked.text("side", "right") == "left" else "right",
            keep=asked.integer("keep", 0),
            step=asked.integer("step", 1),
            levels=asked.integer("levels") if asked.text("levels", "").strip() else None,
        )
    elif isinstance(builder, OrderedCategories):
        order, apart = (_lines(asked.text(key, "")) for key in ("order", "apart"))
        made = OrderedCategories(order, apart)
    # It must fit the values before the policy says it.
    found = _values(desk, name)
    made.ladder(name, found.values, found.counts)
    _put(desk, name, made, "settings")
    return None


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.replace("\r", "").split("\n") if line.strip()]


@_acts("edit")
def edit_groups(desk: Desk, asked: Fields) -> Answer:
    """Change groups: move, group, merge, part, rename; or a whole level."""
    name, what = asked.text("column"), asked.text("do")
    form = _form(desk, name)
    tree = form.as_tree() if isinstance(form, CutPoints) else form
    if what not in _EDITS:
        raise InputError(f"nothing is called {what!r} here")
    does, says = _EDITS[what]
    changed = does(tree, asked.integer("level", 1), asked)
    _put(desk, name, changed.builder(), what.replace("-", " "))
    number = len(asked.texts("part")) or len(asked.texts("group"))
    into = asked.text("to" if what == "move" else "name", "").strip()
    desk.say("done", translator(asked.language)(says, n=number, group=into))
    above = what == "add-level" and tree.height > 1
    return str(asked.integer("level", 1) + above)


def _require(asked: Fields, key: str) -> list[str]:
    found = asked.texts(key)
    if not found:
        raise InputError(f"no {key} is chosen. Tick the boxes of those that are meant first")
    return found


def _part_each(tree: GroupTree, level: int, asked: Fields) -> GroupTree:
    for part in _require(asked, "part"):
        tree = tree.group(level, [part])
    return tree


def _ungroup_each(tree: GroupTree, level: int, asked: Fields) -> GroupTree:
    for group in _require(asked, "group"):
        tree = tree.ungroup(level, group)
    return tree


def _name(asked: Fields) -> str | None:
    return asked.text("name", "").strip() or None


_EDITS: dict[str, tuple[Callable[[GroupTree, int, Fields], GroupTree], str]] = {
    "move": (
        lambda tree, level, asked: tree.move(level - 1, _require(asked, "part"), asked.text("to")),
        "{n} moved to {group}.",
    ),
    "group": (
        lambda tree, level, asked: tree.group(level, _require(asked, "part"), _name(asked)),
        "A new group of {n}.",
    ),
    "alone": (_part_each, "{n} by themselves."),
    "merge": (
        lambda tree, level, asked: tree.merge(level, _require(asked, "group"), _name(asked)),
        "{n} groups are one.",
    ),
    "ungroup": (_ungroup_each, "{n} groups are parted."),
    "rename": (
        lambda tree, level, asked: tree.rename(level, asked.text("group"), asked.text("name")),
        "Renamed to {group}.",
    ),
    "add-level": (
        lambda tree, level, _: tree.add_level(level if tree.height > 1 else 0),
        "A new level: each label is a group of its own.",
    ),
    "remove-level": (lambda tree, level, _: tree.remove_level(level), "The level is gone."),
    "take-in": (lambda tree, *_: tree, "The values are in it now, by themselves."),
}
"""What can be done with groups, and what is said then."""


@_acts("cut")
def edit_cuts(desk: Desk, asked: Fields) -> Answer:
    """Change cut points: move, add, remove, set them; or a whole level."""
    name, what = asked.text("column"), asked.text("do")
    form = _form(desk, name)
    if not isinstance(form, CutPoints):
        raise InputError(f"{name!r} has no intervals any more. Load the page again")
    level = asked.integer("level", 1)
    actions: dict[str, Callable[[], Form]] = {
        "move": lambda: form.move_cut(_place(form, asked, "cut"), _place(form, asked, "to")),
        "add": lambda: form.add_cut(asked.text("at").strip(), level=level),
        "remove": lambda: form.remove_cut(_place(form, asked, "cut"), level=level),
        "set": lambda: form.set_cuts(level, _list(asked.text("cuts"))),
        "widths": lambda: _even(form, asked),
        "add-level": lambda: form.add_level(level),
        "remove-level": lambda: form.remove_level(level),
    }
    if what not in actions:
        raise InputError(f"nothing is called {what!r} here")
    changed = actions[what]()
    _put(desk, name, changed.builder(), f"{what.replace('-', ' ')}", joins=what == "move")
    return str(min(level + (what == "add-level"), changed.height - 1))


def _even(form: CutPoints, asked: Fields) -> CutPoints:
    def mark(key: str) -> str | None:
        return asked.text(key, "").strip() or None

    made = Intervals(
        widths=_list(asked.text("widths")), start=mark("start"), lower=mark("lower"),
        upper=mark("upper"),
    )  # fmt: skip
    plain = _plain_marks(made)
    return CutPoints(form.column, form.rows, plain, form.missing)


def _plain_marks(made: Intervals) -> Intervals:
    """Return intervals with numbers as numbers, as people would write them into a policy."""

    def plain(mark: Any) -> Any:  # noqa: ANN401 - a mark
        return int(mark) if isinstance(mark, str) and mark.lstrip("-").isdecimal() else mark

    return Intervals(
        widths=[plain(width) for width in made.widths or ()],
        start=plain(made.start), lower=plain(made.lower), upper=plain(made.upper),
    )  # fmt: skip


def _place(form: CutPoints, asked: Fields, key: str) -> str:
    """Read a place on the line: a number, of days theirs or how they are written."""
    text = asked.text(key).strip()
    try:
        return form.scale.point(Decimal(text))
    except ArithmeticError:
        return text


def _list(text: str) -> list[str]:
    parts = text.replace(";", " ").replace(",", " ").split()
    if not parts:
        raise InputError("give one number or more, with blanks between them, as in 18 40 65")
    return parts


@_acts("import")
def import_file(desk: Desk, asked: Fields) -> Answer:
    """Read what ARX or another program wrote: its text, or a file of the folder."""
    name = asked.text("column")
    found = _values(desk, name)
    if asked.text("file", ""):
        path = desk.inside(asked.text("file"))
        builder = CsvHierarchy(str(path.relative_to(desk.folder)))
        form = edit(builder.relative_to(desk.folder), name, found.values, found.counts)
        lacking = _lacking(builder.relative_to(desk.folder), form)
        _put(desk, name, builder if not lacking else form.builder(), "file")
        return "1"
    text = asked.text("text").removeprefix("\ufeff")
    origin = Path(asked.text("origin", "")).name or "the text"
    tree = edit_csv(text, name, found.values, found.counts, origin=origin)
    _put(desk, name, tree.builder(), "imported")
    t = translator(asked.language)
    desk.say("done", t("Imported: {n} values, {m} levels.", n=len(tree.rows), m=tree.height))
    return "1"


@step.file("export")
def export(desk: Desk, asked: Fields) -> Response:
    """Return the hierarchy of a column as ARX writes them."""
    name = asked.text("column", "")
    try:
        text = _form(desk, name).to_csv()
    except SfumatoError as error:
        return Response(f"{error}\n", 400, media_type="text/plain")
    told = quote(f"hierarchy_{name}.csv", safe="")
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{told}"}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


TEXTS = (
    *(text for kind in BUILDERS.values() for text in (_title(kind), kind.describe_kind())),
    *(says for _, says in _EDITS.values()),
    *UNITS,
)
"""What the page says besides what its template and this file have."""
