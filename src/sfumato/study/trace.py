"""The steps of top-down local recoding: what was specialised, what passed, what was sent back."""

from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.counts import FrequencySet, group, sums
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError
from sfumato.files import write_file
from sfumato.partition import Partition, Problem, TopDown, label_partition
from sfumato.partition.base import Frontier
from sfumato.partition.topdown import Round
from sfumato.policy import Policy
from sfumato.recode.deciding import decide, lost_rows, make_problem, prepare
from sfumato.showing.content import (
    Cell,
    Content,
    ContentTable,
    Heading,
    Listing,
    Part,
    Sentence,
    Showable,
    plain_of,
)
from sfumato.showing.svg import count_of
from sfumato.showing.tree import Twig, growth_svg
from sfumato.text import join_words, text_of
from sfumato.typing import IntArray, Progress, Value

_MISSING = "(missing)"
_MOST_MEMBERS = 20
"""The combinations of values that are listed of a class or of rows that move."""


@dataclass(frozen=True)
class Members:
    """Rows with the same values in everything that is looked at."""

    values: tuple[str, ...]
    """In the order of `columns` of the trace."""

    rows: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        return {"values": list(self.values), "rows": self.rows}

    def __str__(self) -> str:
        times = "" if self.rows == 1 else f" × {self.rows}"
        return ", ".join(self.values) + times


@dataclass(frozen=True)
class Child:
    """What a group would be divided into, and what became of it."""

    label: str
    """The label of the column that is specialised."""

    rows: int
    """The rows that have it, before any is taken back."""

    passes: bool
    """Whether these rows keep every model; else they are sent back."""

    taken: int
    """The rows that are taken back although it passes, to make what stays behind pass."""

    group: int | None
    """The number of the group that comes of it; None if all its rows go back."""


@dataclass(frozen=True)
class Specialisation:
    """One group specialised one level down on one column."""

    round: int
    group: int
    labels: tuple[str, ...]
    """The labels of the group in the quasi-identifiers."""

    rows: int
    column: str
    children: tuple[Child, ...]
    undone: bool
    """Whether it was undone: what is left behind would break a model, whatever is taken back."""

    stays: int
    """The rows that stay in the group."""

    rest: int | None
    """The number of the group of those rows; None if there are none."""

    back: tuple[Members, ...]
    """The rows that go back, the first of them: those of children that fail, and those taken."""

    @property
    def sent_back(self) -> int:
        """The rows of children that fail."""
        return sum(child.rows for child in self.children if not child.passes)

    @property
    def taken_back(self) -> int:
        """The rows taken back out of children that pass."""
        return sum(child.taken for child in self.children)

    @property
    def sentence(self) -> str:
        """The step in words."""
        named = ", ".join(self.labels)
        start = f"Round {self.round}: {named} ({count_of(self.rows, 'row')}) on {self.column}: "
        told = [_words_of(child) for child in self.children[:_MOST_MEMBERS]]
        if len(self.children) > _MOST_MEMBERS:
            told.append(f"{len(self.children) - _MOST_MEMBERS} more")
        text = start + "; ".join(told)
        if self.undone:
            return f"{text}; undone, for what stays behind would break a model."
        if self.stays:
            text += f"; {count_of(self.stays, 'row')} stay{'s' if self.stays == 1 else ''}"
        return f"{text}."

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        return {
            **plain_of(self, "round group labels rows column"),
            "children": [vars(child) for child in self.children],
            **plain_of(self, "sent_back taken_back undone stays rest back"),
        }


def _words_of(child: Child) -> str:
    rows = count_of(child.rows, "row")
    if not child.passes:
        return f"{child.label} ({rows}) fails and is sent back"
    taken = f", {child.taken} taken back" if child.taken else ""
    return f"{child.label} ({rows}) passes{taken}"


@dataclass(frozen=True)
class RoundFigures:
    """What one round did."""

    round: int
    groups: int
    """The groups at its beginning."""

    specialised: int
    """The groups that were specialised, those that were undone not among them."""

    went_down: int
    """The rows that are one level lower now."""

    sent_back: int
    taken_back: int
    undone: int
    classes: int
    """The groups that were left as they are."""


@dataclass(frozen=True)
class TracedClass:
    """A class that is published, with its labels."""

    labels: tuple[Value, ...]
    """As the release has them: numbers where a column keeps its own values; else texts."""

    rows: int
    members: tuple[Members, ...]
    """The first of its rows."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        return {
            "labels": list(map(text_of, self.labels)),
            "rows": self.rows,
            "members": [each.to_dict() for each in self.members],
        }


@dataclass(frozen=True, eq=False)
class Trace(Showable):
    """The steps of top-down local recoding on one table.

    It shows values of single rows and what became of them, so nothing of it is for publication.
    """

    columns: tuple[str, ...]
    """The quasi-identifiers, then the columns that models look at."""

    quasi_identifiers: tuple[str, ...]
    rows: int
    start: tuple[tuple[int, tuple[str, ...], int], ...]
    """The groups it starts with: number, labels and rows."""

    steps: tuple[Specialisation, ...]
    """The first specialisations, in the order of their rounds."""

    more: int
    """The number of further specialisations, which are only counted."""

    rounds: tuple[RoundFigures, ...]
    classes: tuple[TracedClass, ...]
    """The classes that come of it, with the lowest labels their rows have in common."""

    suppressed: int
    """Rows in classes that break a model in the end, and would be suppressed."""

    n_classes: int
    """The number of classes; `classes` has the first of them."""

    unfinished: frozenset[int] = frozenset()
    """The groups of these steps that were specialised further, and not written down."""

    best: str = "rows"
    """What makes a column the best to specialise: `rows` or `loss`."""

    def svg(self) -> str:
        """Draw how the groups grow out of each other, and what was sent back."""
        growth = _Growth(self)
        roots = [growth.twig(number, names, rows) for number, names, rows in self.start]
        heading = f"Top-down recoding of {join_words(self.quasi_identifiers)}"
        return growth_svg(roots, title=heading, remark=self._left_out())

    def _left_out(self) -> str:
        return f"{self.more} further specialisations are not drawn." if self.more else ""

    def drawings(self) -> tuple[str, ...]:
        return (self.svg(),)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the drawing as an SVG file; one of the same name is replaced."""
        target = Path(path)
        if target.suffix.lower() != ".svg":
            raise ParameterError("path", target.name, "a file that ends in .svg")
        write_file(target, self.svg(), private="the drawing")
        return target

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            **plain_of(self, "columns quasi_identifiers rows best"),
            "start": [
                {"group": number, "labels": list(names), "rows": rows}
                for number, names, rows in self.start
            ],
            "steps": [step.to_dict() for step in self.steps],
            "more": self.more,
            "rounds": [vars(each) for each in self.rounds],
            **plain_of(self, "classes n_classes suppressed"),
        }

    @property
    def headline(self) -> str:
        """One line with rounds, steps and classes."""
        steps = len(self.steps) + self.more
        return (
            f"{count_of(steps, 'specialisation')} in {count_of(len(self.rounds), 'round')}, "
            f"{self.n_classes} classes of {count_of(self.rows, 'row')}, "
            f"{self.suppressed} suppressed"
        )

    def content(self) -> Content:
        """Return the steps in words, the rounds, and the classes."""
        parts: list[Part] = []
        if self.steps:
            told = [step.sentence for step in self.steps]
            listing = Listing.of(told, most=25, caption="Steps")
            parts.append(replace(listing, more=listing.more + self.more))
        else:
            parts.append(Sentence("No group can be specialised: each stays as general as allowed."))
        rounds: list[list[Cell]] = [
            [
                each.round,
                each.groups,
                each.specialised,
                each.went_down,
                each.sent_back,
                each.taken_back,
                each.undone,
                each.classes,
            ]
            for each in self.rounds
        ]
        headings = (
            "round",
            "groups",
            "specialised",
            Heading("rows down", "Rows that are one level lower after the round."),
            Heading("sent back", "Rows of children that break a model."),
            Heading("taken back", "Rows of children that pass, to make what stays behind pass."),
            Heading("undone", "Groups that stay as they were."),
            Heading("classes", "Groups that are left as they are."),
        )
        parts.append(ContentTable.of("Rounds", headings, rounds, most=40))
        names: list[list[Cell]] = [
            [", ".join(map(text_of, each.labels)), each.rows, "; ".join(map(str, each.members[:4]))]
            for each in self.classes
        ]
        table = ContentTable.of("Classes", ("published as", "rows", "such as"), names, most=25)
        parts.append(replace(table, more=self.n_classes - len(table.rows)))
        return Content(self.headline, tuple(parts))

    def __repr__(self) -> str:
        return f"<Trace {self.headline}>"


# The drawing: groups as twigs, what was sent back as failed ones.


class _Growth:
    """The tree of groups that come of each other."""

    def __init__(self, trace: Trace) -> None:
        self._names = trace.quasi_identifiers
        self._steps = {step.group: step for step in trace.steps}
        self._unfinished = trace.unfinished

    def twig(self, number: int, labels: Sequence[str], rows: int, note: str = "") -> Twig:
        """Return the tree of a group."""
        step = self._steps.get(number)
        what = f"on {step.column}" if step is not None else "a class"
        if number in self._unfinished:
            what = "and so on"
        lines = (", ".join(labels), f"{count_of(rows, 'row')}, {what}", *([note] if note else []))
        tip = f"{lines[0]}: {', '.join(lines[1:])}"
        if step is None:
            return Twig(lines, kind="plain" if number in self._unfinished else "last", tooltip=tip)
        # What goes on comes first: of many twigs the first are drawn.
        going = [child for child in step.children if child.group is not None]
        below = [self._child(step, child) for child in going]
        if step.rest is not None:
            stays = "not specialised" if step.undone else "stays behind"
            below.append(self.twig(step.rest, step.labels, step.stays, stays))
        below += [self._child(step, child) for child in step.children if child.group is None]
        return Twig(lines, tuple(below), tooltip=step.sentence)

    def _child(self, step: Specialisation, child: Child) -> Twig:
        if child.group is not None:
            labels = list(step.labels)
            labels[self._names.index(step.column)] = child.label
            note = f"{child.taken} of {child.rows} taken back" if child.taken else ""
            return self.twig(child.group, labels, child.rows - child.taken, note)
        why = "passes, but is undone" if child.passes else "fails, sent back"
        lines = (child.label, f"{count_of(child.rows, 'row')}, {why}")
        return Twig(lines, kind="failed", tooltip=": ".join(lines))


# Following the rounds.


class _Tracer:
    """Gives groups their numbers, and writes down what becomes of them.

    Args:
        problem: The table and its models.
        most: The specialisations that are written down; all are counted.
        private: Columns that are not shown.
    """

    def __init__(self, problem: Problem, most: int, private: Collection[str]) -> None:
        self._problem = problem
        self._most = most
        self._names = [attribute.ladder.column for attribute in problem.attributes]
        # Who has which rows, and lives with whom, is nothing to show: rows are added up.
        columns = problem.counts.columns
        self._places = [i for i, column in enumerate(columns) if column.name not in private]
        self.columns = [columns[i] for i in self._places]
        self._texts = [[_text(value) for value in column.values] for column in self.columns]
        self._numbers = np.empty(0, dtype=np.int64)
        self._next = 0
        self.start: tuple[tuple[int, tuple[str, ...], int], ...] = ()
        self.steps: list[Specialisation] = []
        self.more = 0
        self.rounds: list[RoundFigures] = []
        self.unfinished: set[int] = set()
        self._shown: set[int] = set()

    def follow(self, each: Round) -> None:
        """Write down one round."""
        n = len(each.frontier)
        if not self.rounds:
            self._numbers, self._next = np.arange(n), n
            first = each.frontier.item[_firsts(each.frontier.group, n)]
            rows = _sizes(each.frontier)
            self.start = tuple(
                (g, self._labels(each.frontier.levels[g], first[g]), int(rows[g]))
                for g in range(min(n, self._most))
            )
            self._shown.update(range(len(self.start)))
        going = np.flatnonzero(each.chosen >= 0)
        self.rounds.append(self._figures(each, len(going)))
        if each.outcome is None:
            return
        numbers = self._next + np.arange(len(each.outcome.following))
        self._next += len(numbers)
        written = min(len(going), self._most - len(self.steps))
        self.more += len(going) - written
        if written > 0:
            self._write(each, going, numbers, written)
        self.unfinished |= self._shown.intersection(
            self._numbers[going[max(written, 0) :]].tolist()
        )
        self._numbers = numbers

    def _figures(self, each: Round, going: int) -> RoundFigures:
        number, n = len(self.rounds) + 1, len(each.frontier)
        if each.outcome is None:
            return RoundFigures(number, n, 0, 0, 0, 0, 0, n)
        split, taken = each.outcome.split, each.outcome.taken
        undone = taken.undone[split.group]
        down = split.rows - taken.rows
        return RoundFigures(
            number,
            n,
            going - int(taken.undone.sum()),
            int(down[split.kept & ~undone].sum()),
            int(split.rows[~split.kept].sum()),
            int(taken.rows[split.kept & ~undone].sum()),
            int(taken.undone.sum()),
            n - going,
        )

    def _write(self, each: Round, going: IntArray, numbers: IntArray, written: int) -> None:
        """Write down the first specialisations of a round."""
        outcome = each.outcome
        assert outcome is not None  # noqa: S101 - there are groups that were specialised
        split, taken = outcome.split, outcome.taken
        rows = sums(split.child, split.rows, split.n_children)
        back = sums(split.child, taken.rows, split.n_children)
        total = sums(split.group, split.rows, split.n_groups)
        new = np.full(split.n_children, -1)
        new[outcome.of_child] = numbers[: len(outcome.of_child)]
        rest = np.full(split.n_groups, -1)
        rest[outcome.of_group] = numbers[len(outcome.of_child) :]
        following = _sizes(outcome.following)
        stays = np.zeros(split.n_groups, dtype=np.int64)
        stays[outcome.of_group] = following[len(outcome.of_child) :]
        first = split.item[_firsts(split.child, split.n_children)]
        children = np.split(
            np.argsort(split.parent, kind="stable"),
            np.cumsum(np.bincount(split.parent, minlength=split.n_groups))[:-1],
        )
        order = np.argsort(split.group, kind="stable")
        portions = np.split(
            order, np.cumsum(np.bincount(split.group, minlength=split.n_groups))[:-1]
        )
        for s in range(written):
            undone = bool(taken.undone[s])
            attribute = int(each.chosen[going[s]])
            some = tuple(
                Child(
                    self._label_of(attribute, int(split.levels[c, attribute]), int(first[c])),
                    int(rows[c]),
                    bool(split.passing[c]),
                    0 if undone else int(back[c]),
                    None if new[c] < 0 else int(new[c]),
                )
                for c in children[s].tolist()
            )
            self._shown.update(child.group for child in some if child.group is not None)
            self._shown.add(int(rest[s]))
            here = portions[s]
            levels = each.frontier.levels[going[s]]
            left = np.where(split.kept[here], taken.rows[here], split.rows[here])
            moved = [] if undone else self._members(split.item[here], left)
            self.steps.append(
                Specialisation(
                    len(self.rounds),
                    int(self._numbers[going[s]]),
                    self._labels(levels, split.item[here[0]]),
                    int(total[s]),
                    self._names[attribute],
                    some,
                    undone,
                    int(stays[s]),
                    None if rest[s] < 0 else int(rest[s]),
                    tuple(moved),
                )
            )

    def _label_of(self, attribute: int, level: int, item: int) -> str:
        ladder = self._problem.attributes[attribute].ladder
        raw = self._problem.raw[attribute][item]
        return _text(ladder.labels[level][ladder.codes[level, raw]])

    def _labels(self, levels: IntArray, item: int) -> tuple[str, ...]:
        return tuple(
            self._label_of(attribute, level, int(item))
            for attribute, level in enumerate(levels.tolist())
        )

    def _members(self, items: IntArray, rows: IntArray) -> list[Members]:
        """Return the first combinations of which there are rows."""
        at = np.flatnonzero(rows)
        codes, added = self._problem.counts.codes[:, items[at]][self._places], rows[at]
        if self._problem.person is not None:
            groups = group(list(codes), [len(column.values) for column in self.columns])
            added = sums(groups.of_item, added, groups.n)
            codes = codes[:, groups.first]
        return [
            Members(
                tuple(texts[code] for texts, code in zip(self._texts, values, strict=True)), int(n)
            )
            for values, n in zip(
                codes[:, :_MOST_MEMBERS].T.tolist(), added[:_MOST_MEMBERS].tolist(), strict=True
            )
        ]

    def classes(self, partition: Partition, labels: Sequence[Sequence[Value]]) -> list[TracedClass]:
        """Return the first classes with their labels and members."""
        sizes, starts = partition.sizes, [*partition.starts.tolist(), len(partition.item)]
        return [
            TracedClass(
                tuple(names[k] for names in labels),
                int(sizes[k]),
                tuple(
                    self._members(
                        partition.item[starts[k] : starts[k + 1]],
                        partition.rows[starts[k] : starts[k + 1]],
                    )
                ),
            )
            for k in range(min(partition.n, self._most))
        ]


def _text(value: Value) -> str:
    return _MISSING if value is None else text_of(value)


def _firsts(of_item: IntArray, n: int) -> IntArray:
    """Return where the first item of each group stands."""
    first = np.full(n, len(of_item), dtype=np.int64)
    np.minimum.at(first, of_item, np.arange(len(of_item)))
    return first


def _sizes(frontier: Frontier) -> IntArray:
    return sums(frontier.group, frontier.rows, len(frontier))


def trace_top_down(
    policy: Policy,
    method: TopDown,
    counts: FrequencySet,
    *,
    rng: np.random.Generator,
    most: int,
    report: Progress,
    lost: int = 0,
) -> Trace:
    """Recode a counted table top-down, and write down every step.

    Where rows are suppressed, the steps are those of the rows that are left; see `decide`.

    Args:
        policy: What must hold, and the hierarchies.
        method: The method with its settings.
        counts: The table, over the columns that the policy decides on.
        rng: Draws among rows that are alike where they part ways.
        most: The specialisations that are written down; all are counted.
        report: Told how far it is.
        lost: Rows that were left out before and are not in the counts.
    """
    decision = decide(policy, policy, counts, None, rng=deepcopy(rng), report=report, lost=lost)
    left, within = counts, policy
    if decision.lacking < decision.suppressed < counts.total:
        left = decision.published_rows(counts)
        within = policy.replace(suppression=policy.suppression.replace(limit=0))
    ready = prepare(within, left, lost=lost + lost_rows(policy, counts, left))
    problem = make_problem(within, ready)
    private = {policy.counted_person, policy.household} - {None}
    tracer = _Tracer(problem, most, [str(name) for name in private])
    done: list[tuple[IntArray, IntArray, IntArray]] = []
    classes = settled = 0
    for each in method.rounds(problem, rng):
        finished = each.chosen < 0
        item, rows, group = each.frontier.portions(finished)
        done.append((item, rows, group + classes))
        classes += int(np.count_nonzero(finished))
        settled += int(rows.sum())
        report("partition", settled, problem.total)
        tracer.follow(each)
    labelled = label_partition(
        problem, Partition.gather(done), method.intervals(problem), exact=method.exact_bounds
    )
    labels = [
        [
            name if one.raw and name is not None else _text(name)
            for name in map(one.names.__getitem__, one.of_class)
        ]
        for one in labelled.labels
    ]
    return Trace(
        columns=tuple(column.name for column in tracer.columns),
        quasi_identifiers=policy.quasi_identifiers,
        rows=counts.total,
        start=tracer.start,
        steps=tuple(tracer.steps),
        more=tracer.more,
        rounds=tuple(tracer.rounds),
        classes=tuple(tracer.classes(labelled.partition, labels)),
        suppressed=labelled.suppressed + counts.total - ready.counts.total,
        n_classes=labelled.partition.n,
        unfinished=frozenset(tracer.unfinished),
        best=method.best,
    )
