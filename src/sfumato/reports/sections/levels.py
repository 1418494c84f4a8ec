"""The levels that were chosen, and what a step to either side would cost."""

from collections.abc import Sequence

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, some
from sfumato.policy import FULL_DOMAIN, Policy
from sfumato.recode.deciding import counted_columns, make_checker
from sfumato.releases.manifest import ColumnRecord
from sfumato.releases.opening import count_columns
from sfumato.releases.release import percent_above
from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter, NotHereError
from sfumato.search import SEARCHES, Checker
from sfumato.search.base import CheckOutcome, excess_of
from sfumato.showing.content import (
    Cell,
    ContentTable,
    Drawing,
    Figures,
    Heading,
    Listing,
    Part,
    Sentence,
)
from sfumato.tables import count_people
from sfumato.tasks.lattice import lattice
from sfumato.text import format_integer, join_words
from sfumato.typing import Node

_SHOWN = 12
"""Labels of a cut that are shown."""


def _parts(dossier: Dossier) -> Sequence[Part]:
    manifest = dossier.manifest
    columns = [] if manifest is None else [each for each in manifest.columns if each.recoded]
    if not columns:
        raise NotHereError("no column was generalised: values are published as they are")
    rows: list[list[Cell]] = [[column.name, column.extent, column.level_text] for column in columns]
    heading = Heading(
        "level", "0 is the value as it was; at the highest level it is hidden, which is *."
    )
    parts: list[Part] = [
        ContentTable.of("Levels", ["column", "what became of it", heading], rows, most=60)
    ]
    cuts: list[list[Cell]] = [
        [column.name, len(column.cut_labels), some(column.cut_labels, most=_SHOWN)]
        for column in columns
        if column.cut is not None
    ]
    if cuts:
        heading = Heading("labels", "Each value is in one of them, the same in all rows.")
        parts.append(
            ContentTable.of("Cuts through several levels", ["column", "number", heading], cuts)
        )
    parts += _search(dossier)
    return [*parts, *_neighbours(dossier)]


def _search(dossier: Dossier) -> list[Part]:
    manifest = dossier.manifest
    found = None if manifest is None else manifest.search
    if manifest is None or found is None:
        return []
    proven = "yes" if found.optimal is True else "no"
    note = "Whether no other levels that keep the promises lose less."
    figures: list[tuple[str, Cell, str]] = [
        ("search", found.name, "How levels were found."),
        ("proven best", proven, note),
    ]
    known, loss = dossier.search, dossier.loss
    if known is not None and known.bound is not None and loss is not None and not found.optimal:
        excess = excess_of(loss, known.bound)
        above = "not known" if excess is None else f"at most {percent_above(excess)}"
        figures += [
            ("loss", loss, "What is lost by the levels that were found."),
            ("bound", known.bound, "No levels that keep the promises lose less than this."),
            ("above the best", above, "How much less the best levels could lose."),
        ]
    return [Figures("The search", tuple(figures))]


def _neighbours(dossier: Dossier) -> list[Part]:
    if dossier.public:
        return []
    if dossier.data is None or dossier.policy is None:
        return [Sentence("What a level less would cost needs the original and the policy.")]
    manifest = dossier.manifest
    if manifest is None or manifest.kind is not None or manifest.method_name != FULL_DOMAIN:
        return [Sentence("Levels were not chosen for whole columns here: there is no next one.")]
    steps = steps_from(dossier.data, dossier.policy, manifest.columns)
    if steps is None:
        return [
            Sentence("The policy's hierarchies have other levels here: nothing can be compared.")
        ]
    steps = sorted(steps, key=lambda step: (not step.less, step.rows))
    told = [f"{step.sentence}." for step in steps if step.less]
    near: list[Part] = [_table(steps), *([Listing.of(told)] if told else [])] if steps else []
    return [*near, *_minimal_nodes(dossier.data, dossier.policy)]


def _minimal_nodes(data: object, policy: Policy) -> list[Part]:
    """Return all minimal nodes, if the policy's search is one that finds them."""
    if not policy.make_search(SEARCHES).finds_all:
        return []
    try:
        found = lattice(data, policy)
    except ParameterError:
        return [Sentence("The lattice is too large here for all its minimal nodes to be listed.")]
    columns = join_words(found.columns)
    return [
        Sentence(f"{found.headline}. A node is the level of {columns}."),
        found.minimal_table(),
        Drawing.of(found.svg()),
    ]


@dataclass(frozen=True)
class LevelNeighbour:
    """A neighbour of the levels that were chosen, and what it would cost."""

    column: str
    level: int
    """The level there."""

    less: bool
    """Whether it is one level less."""

    now: CheckOutcome
    then: CheckOutcome

    @property
    def rows(self) -> int:
        """The number of rows that would have to be suppressed besides."""
        return self.then.suppressed - self.now.suppressed

    @property
    def sentence(self) -> str:
        """The step in words."""
        way = "less" if self.less else "more"
        rows = "1 row" if abs(self.rows) == 1 else f"{format_integer(abs(self.rows))} rows"
        cost = f"cost {rows}" if self.rows > 0 else f"save {rows}" if self.rows else "cost no row"
        much = "" if self.then.valid else ", more than may be suppressed"
        return f"One level {way} on {self.column} would {cost}{much}"


def steps_from(
    data: object, policy: Policy, columns: Sequence[ColumnRecord]
) -> list[LevelNeighbour] | None:
    """Judge every neighbour of the levels of a release; None if hierarchies are others now.

    Args:
        data: The original.
        policy: What must hold.
        columns: The columns of the manifest.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> roles = {"sex": "quasi-identifier"}
        >>> policy = sf.Policy(columns=roles, models=[sf.models.KAnonymity(2)])
        >>> table = pa.table({"sex": ["f", "f", "m"]})
        >>> release = sf.anonymize(table, policy)
        >>> [step] = steps_from(table, policy, release.manifest.columns)
        >>> print(step.sentence)
        One level less on sex would cost 1 row, more than may be suppressed
    """
    counts = count_columns(data, counted_columns(policy))
    people = None
    if policy.population is not None:
        names, prepared = policy.quasi_identifiers, policy.preparation
        people = count_people(policy.population_table, names, preparation=prepared)
    checker = make_checker(policy, counts, people)
    node = _node(checker, columns)
    if node is None:
        return None
    now = checker.evaluate(node)
    steps = []
    for less, near in ((True, checker.lattice.below(node)), (False, checker.lattice.above(node))):
        for there in near:
            [at] = [i for i, level in enumerate(there) if level != node[i]]
            name = checker.grouping.ladders[at].column
            steps.append(LevelNeighbour(name, there[at], less, now, checker.evaluate(there)))
    return steps


def _node(checker: Checker, columns: Sequence[ColumnRecord]) -> Node | None:
    said = {column.name: (column.level, column.height) for column in columns}
    levels = []
    for ladder in checker.grouping.ladders:
        level, height = said.get(ladder.column, (None, None))
        if level is None or height not in (None, ladder.height):
            return None
        levels.append(level)
    node = tuple(levels)
    return node if node in checker.lattice else None


def _table(steps: Sequence[LevelNeighbour]) -> ContentTable:
    rows: list[list[Cell]] = [
        [
            f"{step.column}, one level {'less' if step.less else 'more'}",
            step.level,
            step.then.suppressed,
            step.rows,
            "yes" if step.then.valid else "no",
            step.then.loss,
        ]
        for step in steps
    ]
    heading = "more than now"
    return ContentTable.of(
        "One step to either side",
        [
            "step",
            Heading("level", "The level the column would have."),
            Heading("suppressed", "Rows that would have to go for all models to hold there."),
            Heading(heading, "What the step costs; below 0 it saves rows."),
            Heading("allowed", "Whether the policy allows that number of suppressed rows."),
            Heading("loss", "What is lost there; the smaller, the better."),
        ],
        rows,
        most=40,
    )


LEVELS = Chapter(
    "levels",
    "How far columns were generalised",
    "Each column stands at a level of its hierarchy; a level less would say more and leave "
    "more people recognisable, who would then have to be left out.",
    _parts,
)
