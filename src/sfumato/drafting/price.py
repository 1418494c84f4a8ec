"""The price of a drafted policy, measured on counts before anything is written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

from sfumato.attacks.adversary.trial import Trial
from sfumato.attacks.at_risk import AdversaryLine
from sfumato.drafting.given import Given
from sfumato.drafting.policy import (
    NOTHING_SAID,
    Draft,
    DraftedColumn,
    draft_rules,
    smallest_class,
    write_draft,
)
from sfumato.drafting.protection import Protection, protections
from sfumato.models import PrivacyModel
from sfumato.policy import ColumnRule, Policy
from sfumato.policy.meanings import ColumnKind
from sfumato.recode.gone import DataGone
from sfumato.schema import Role
from sfumato.showing.content import (
    Cell,
    Content,
    ContentTable,
    Listing,
    Part,
    Sentence,
    Share,
    Showable,
)
from sfumato.tables import Domain
from sfumato.text import format_integer, join_words, percent

MUCH_LOST = 0.25
"""The loss from which on little is left of the quasi-identifiers."""

MUCH_HIDDEN = 0.10
"""The share of cells that are * from which on little is left of a table."""

_TOO_MUCH_LOST = 0.6
_TOO_MUCH_HIDDEN = 0.3
"""More is not given for the safety of a column; the draft says instead that classes tell of it."""

_ROUNDS = 6
"""How often models are made stronger at most."""

_MOST_LEFT_OUT = 8
"""The most columns that a draft leaves out by itself."""

_FEWEST_ROWS = 200
"""In fewer rows there is too little to weigh columns against each other."""

_MOST_COMPARED = 25
"""Of more quasi-identifiers it is not asked what each costs."""

_WORTH = 0.02
"""A column is left out only if the others gain more than this of a column in all."""

_FOR_CLEAR = 0.3
"""But this much of a column may be lost if enough of all others survives then."""

_SHARE_FOR_CLEAR = 0.1
"""Or this share of all columns."""

_FEWEST_SECRET = 4
"""Of so few sensitive columns none is left out: they are what the table is about."""

_MOST_TRIED = 2
"""Columns of which it is tried out, on all rows, what is gained by leaving one out."""


Attempt = Callable[[Policy], Trial | None]
"""Tries a policy on counts; None if no release of the table keeps it."""


class JudgedDraft(NamedTuple):
    """The verdict on what a draft would publish."""

    answer: str
    at_risk: int
    people: int
    adversaries: tuple[AdversaryLine, ...]
    told: tuple[str, ...]
    """The columns of which an adversary learns too much."""


@dataclass(frozen=True)
class ColumnPrice:
    """What one quasi-identifier costs."""

    name: str
    hidden: float
    """The share of its cells that would be `*`."""

    cost: float
    """By how much the loss of the others would fall if it were left out, as a few rows tell."""


@dataclass(frozen=True)
class Price(Showable):
    """What a policy would cost, measured before anything is written."""

    rows: int
    """The rows it was measured on."""

    of_rows: int
    """The rows of the table; where they are more, the price is that of a sample, and too high."""

    loss: float
    """How much exactness quasi-identifiers lose, from 0 (nothing) to 1 (all are `*`)."""

    hidden: float
    """The share of the published cells that would be `*`."""

    suppressed: float
    """The share of the rows that would be left out."""

    gone: DataGone
    """How much of the whole table would be gone, with columns that are left out."""

    people_at_risk: int
    """The people of whom some adversary would learn too much, as `sf.verify` counts them."""

    people: int
    """The people who would be published."""

    answer: str = ""
    """The answer of `sf.verify` to a release by this policy; empty if none could be made."""

    adversaries: tuple[AdversaryLine, ...] = ()
    """How many people each adversary would learn too much of."""

    columns: tuple[ColumnPrice, ...] = ()
    """The quasi-identifiers, the most expensive first."""

    left_out: tuple[str, ...] = ()
    """The columns that the draft leaves out because the others gain more by it."""

    advice: tuple[str, ...] = ()
    """What would help, if little would survive or a person is at risk."""

    @property
    def headline(self) -> str:
        """One line with the price."""
        return (
            f"gone {self.gone}; loss {self.loss:.2f} of 1, "
            f"{percent(self.hidden)} of cells hidden (*), "
            f"{percent(self.suppressed)} of rows left out, "
            f"{format_integer(self.people_at_risk)} people at risk"
        )

    @property
    def much(self) -> bool:
        """Whether little would survive."""
        return self.loss > MUCH_LOST or self.hidden > MUCH_HIDDEN

    def content(self) -> Content:
        """Return the price, what each quasi-identifier costs, and what would help."""
        parts: list[Part] = []
        if self.columns:
            rows: list[Sequence[Cell]] = [
                (each.name, Share(each.hidden), f"{each.cost:.2f}") for each in self.columns
            ]
            heads = ["quasi-identifier", "hidden", "costs the others"]
            parts.append(ContentTable.of("", heads, rows, most=10))
        if self.answer:
            parts.append(Sentence(f"sfumato verify would answer: {self.answer}."))
        if self.people_at_risk:
            parts.append(Listing(tuple(map(str, self.adversaries))))
        parts += [Sentence(text) for text in self.advice]
        where = (
            ""
            if self.rows == self.of_rows
            else f" (of {format_integer(self.rows)} of {format_integer(self.of_rows)} rows)"
        )
        return Content(f"Expected price{where}: {self.headline}.", tuple(parts))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        lines = [line.to_dict() for line in self.adversaries]
        return {**asdict(self), "gone": self.gone.to_dict(), "adversaries": lines}

    def __repr__(self) -> str:
        return f"<Price {self.headline}>"


@dataclass(frozen=True)
class _TriedDraft:
    """A draft that was tried."""

    columns: Mapping[str, DraftedColumn]
    steps: Mapping[str, int]
    tried: Trial

    @property
    def known(self) -> list[str]:
        """The quasi-identifiers."""
        return [each.name for each in self.tried.columns]

    @property
    def secret(self) -> list[str]:
        """The sensitive columns."""
        return [n for n, column in self.columns.items() if column.rule.role is Role.SENSITIVE]

    @property
    def kept(self) -> float:
        """The number of columns that is kept, as if some were whole and others lost.

        Ages, sexes and outcomes are what most analyses need, and count twice.
        """
        worth = {name: 1 + (self.columns[name].guess.kind in _WANTED) for name in self.columns}
        known, secret = (sum(map(worth.__getitem__, each)) for each in (self.known, self.secret))
        return known * (1 - self.tried.loss) + secret

    @property
    def much(self) -> bool:
        """Whether little would survive."""
        return self.tried.loss > MUCH_LOST or self.tried.hidden > MUCH_HIDDEN


_WANTED = (ColumnKind.AGE, ColumnKind.SEX, ColumnKind.OUTCOME)


class Pricing:
    """Chooses the models of a draft by what they cost, and says what each column costs.

    Args:
        domains: The values of the columns.
        attempt: Tries a policy on the counts of the table.
        quick: Tries it on a few rows, to compare columns.
        judge: Gives the verdict on the draft that was chosen; None if nothing can be published.
        rows: The rows that the first one tries it on.
        given: What the owner of the table said: columns of which something was said stay.
    """

    def __init__(
        self,
        domains: Mapping[str, Domain],
        attempt: Attempt,
        quick: Attempt,
        judge: Callable[[Policy, Trial], JudgedDraft | None],
        rows: int,
        given: Given = NOTHING_SAID,
    ) -> None:
        self._domains = domains
        self._given = given
        self._attempt = attempt
        self._quick = quick
        self._judge = judge
        self._rows = rows
        self._total = next(iter(domains.values())).total

    def draft(self, columns: Mapping[str, DraftedColumn]) -> Draft:
        """Return the draft that keeps most of what must not be hidden, with its price."""
        ladders = self._ladders(columns)
        state = self._protect(columns, ladders)
        if state is None:
            ladders = self._possible(columns, ladders)
            state = self._protect(columns, ladders)
        if state is None:
            return write_draft(columns, self._domains, (), self._given)
        left_out: tuple[str, ...] = ()
        for _ in range(2):
            state, gone = self._leave_out(state, ladders)
            if not gone:
                break
            left_out += gone
            state = self._strengthen(state, ladders)
        models = _models(ladders, state.steps)
        drafted = write_draft(state.columns, self._domains, models, self._given)
        return replace(drafted, price=self._price(state, left_out, drafted.policy))

    def _ladders(self, columns: Mapping[str, DraftedColumn]) -> dict[str, tuple[Protection, ...]]:
        k = smallest_class(self._total, self._given)
        people = self._rules(columns, ()).counted_person is not None
        start = self._given.start
        stay = () if start is None else {*start.columns} - {*self._given.roles}
        return {
            name: protections(column.rule, self._domains[name], k, people=people)
            for name, column in columns.items()
            if column.rule.role is Role.SENSITIVE and name in self._domains and name not in stay
        }

    def _rules(
        self, columns: Mapping[str, DraftedColumn], models: Sequence[PrivacyModel]
    ) -> Policy:
        return draft_rules(columns, self._domains, models, self._given)

    def _possible(
        self, columns: Mapping[str, DraftedColumn], ladders: Mapping[str, tuple[Protection, ...]]
    ) -> dict[str, tuple[Protection, ...]]:
        """Return the protections that some release keeps, added one column after the other."""
        found: dict[str, tuple[Protection, ...]] = {}
        for name, ladder in ladders.items():
            before = _first(found)
            kept = [step for step in ladder if self._try(columns, [*before, *step]) is not None]
            found[name] = tuple(kept)
        return found

    def _try(
        self, columns: Mapping[str, DraftedColumn], models: Sequence[PrivacyModel]
    ) -> Trial | None:
        return self._attempt(self._rules(columns, models))

    def _compare(
        self, columns: Mapping[str, DraftedColumn], models: Sequence[PrivacyModel] = ()
    ) -> Trial | None:
        """Try columns on a few rows."""
        return self._quick(self._rules(columns, models))

    def _protect(
        self, columns: Mapping[str, DraftedColumn], ladders: Mapping[str, tuple[Protection, ...]]
    ) -> _TriedDraft | None:
        """Make models stronger where attacks on classes still succeed, and only there."""
        steps = {name: 0 for name, ladder in ladders.items() if ladder}
        tried = self._try(columns, _models(ladders, steps))
        if tried is None:
            return None
        state = self._strengthen(_TriedDraft(columns, steps, tried), ladders)
        return self._only_needed(state, ladders) if state.much else state

    def _strengthen(
        self, state: _TriedDraft, ladders: Mapping[str, tuple[Protection, ...]]
    ) -> _TriedDraft:
        """Return the state with stronger models for columns that classes still tell of."""
        for _ in range(_ROUNDS):
            weak = [
                name
                for name, people in state.tried.at_risk_by_column.items()
                if people and state.steps.get(name, -1) + 1 < len(ladders.get(name, ()))
            ]
            if not weak:
                break
            further = {**state.steps, **{name: state.steps.get(name, -1) + 1 for name in weak}}
            tried = self._try(state.columns, _models(ladders, further))
            if tried is None:
                break
            found = _TriedDraft(state.columns, further, tried)
            if found.tried.loss > _TOO_MUCH_LOST or found.tried.hidden > _TOO_MUCH_HIDDEN:
                # What is left to tell is said; a table without its columns would tell nothing.
                break
            state = found
        return state

    def _only_needed(
        self, state: _TriedDraft, ladders: Mapping[str, tuple[Protection, ...]]
    ) -> _TriedDraft:
        """Return the state without models that are not needed, if the others alone cost less."""
        bare = self._try(state.columns, ())
        if bare is None:
            return state
        steps = {
            name: step for name, step in state.steps.items() if bare.at_risk_by_column.get(name)
        }
        tried = bare if not steps else self._try(state.columns, _models(ladders, steps))
        if tried is None or tried.at_risk > state.tried.at_risk:
            return state
        found = _TriedDraft(state.columns, steps, tried)
        return found if found.kept > state.kept + _WORTH else state

    def _leave_out(
        self, state: _TriedDraft, ladders: Mapping[str, tuple[Protection, ...]]
    ) -> tuple[_TriedDraft, tuple[str, ...]]:
        """Return the state without columns that cost the others more than they are worth."""
        left: list[str] = []
        if self._total < _FEWEST_ROWS or self._given.start is not None:
            return state, ()
        while state.much and len(left) < _MOST_LEFT_OUT:
            several = self._leave_secrets_out(state, ladders) if not left else None
            if several is not None:
                gone = [name for name in state.secret if name not in several.secret]
                state, left = several, [*left, *gone]
                continue
            worth = self._rank(state, ladders)
            ranked = sorted(worth, key=lambda name: (-worth[name], name))[:_MOST_TRIED]
            found = {
                name: less
                for name in ranked
                if (less := self._without_columns(state, [name], ladders)) is not None
            }
            if not found:
                break
            best = max(found, key=lambda name: (not found[name].much, found[name].kept, name))
            enough = -self._given_for_clear(state) if not found[best].much else _WORTH
            if found[best].kept <= state.kept + enough:
                break
            left.append(best)
            state = found[best]
        return state, tuple(left)

    def _leave_secrets_out(
        self, state: _TriedDraft, ladders: Mapping[str, tuple[Protection, ...]]
    ) -> _TriedDraft | None:
        """Return the state without the sensitive columns that cost most by themselves.

        One at a time may gain nothing, where two of them hide the same quasi-identifier.
        """
        costs = {
            name: tried.loss
            for name in state.steps
            if name not in self._given.roles
            and (tried := self._compare(state.columns, _models(ladders, {name: state.steps[name]})))
            is not None
        }
        ranked = sorted(costs, key=lambda name: (-costs[name], name))
        for n in range(2, len(ranked) + 1):
            if len(state.secret) - n < _FEWEST_SECRET:
                break
            columns, steps = _without(state, ranked[:n])
            quick = self._compare(columns, _models(ladders, steps))
            if quick is None or _TriedDraft(columns, steps, quick).much:
                continue
            found = self._without_columns(state, ranked[:n], ladders)
            if found is None:
                continue
            if found.kept <= state.kept - self._given_for_clear(state):
                break
            if not found.much:
                return found
        return None

    @staticmethod
    def _given_for_clear(state: _TriedDraft) -> float:
        return max(_FOR_CLEAR, _SHARE_FOR_CLEAR * (len(state.known) + len(state.secret)))

    def _rank(
        self, state: _TriedDraft, ladders: Mapping[str, tuple[Protection, ...]]
    ) -> dict[str, float]:
        """Return how much would be kept if a column were left out, as a few rows tell."""
        known = state.known if 2 < len(state.known) <= _MOST_COMPARED else []
        secret = [name for name in state.steps if len(state.secret) > _FEWEST_SECRET]
        found = {}
        for name in (*known, *secret):
            if name in self._given.roles:
                continue
            columns, steps = _without(state, [name])
            tried = self._compare(columns, _models(ladders, steps))
            if tried is not None:
                found[name] = _TriedDraft(columns, steps, tried).kept
        return found

    def _without_columns(
        self,
        state: _TriedDraft,
        names: Sequence[str],
        ladders: Mapping[str, tuple[Protection, ...]],
    ) -> _TriedDraft | None:
        """Return what is left without some columns, as all rows tell; None if nothing can be."""
        columns, steps = _without(state, names)
        tried = self._try(columns, _models(ladders, steps))
        if tried is None:
            return None
        found = _TriedDraft(columns, steps, tried)
        return self._only_needed(found, ladders) if found.much else found

    def _price(self, state: _TriedDraft, left_out: tuple[str, ...], policy: Policy) -> Price:
        costs = self._costs(state)
        tried, judged = state.tried, self._judge(policy, state.tried)
        if judged is None:
            judged = JudgedDraft("", tried.at_risk, tried.of, tried.adversaries, ())
        return Price(
            rows=self._rows,
            of_rows=self._total,
            loss=tried.loss,
            hidden=tried.hidden,
            suppressed=tried.suppressed / max(tried.rows, 1),
            gone=tried.gone or DataGone(),
            people_at_risk=judged.at_risk,
            people=judged.people,
            answer=judged.answer,
            adversaries=judged.adversaries,
            columns=tuple(costs),
            left_out=left_out,
            advice=tuple(_advice(state, costs, left_out, judged)),
        )

    def _costs(self, state: _TriedDraft) -> list[ColumnPrice]:
        """Return what each quasi-identifier costs the others, the most expensive first."""
        whole = self._compare(state.columns) if len(state.known) > 1 else None
        costs = []
        for column in state.tried.columns:
            others, name = None, column.name
            if whole is not None and len(state.known) <= _MOST_COMPARED:
                others = self._compare(_without(state, [name])[0])
            cost = 0.0 if others is None or whole is None else max(whole.loss - others.loss, 0.0)
            costs.append(ColumnPrice(name, column.hidden, cost))
        return sorted(costs, key=lambda each: (-each.cost, -each.hidden, each.name))


def _advice(
    state: _TriedDraft,
    costs: Sequence[ColumnPrice],
    left_out: Sequence[str],
    judged: JudgedDraft,
) -> list[str]:
    """Return what would help, in sentences."""
    found = []
    if left_out:
        names = ", ".join(left_out)
        found.append(f"Left out, because the other columns keep more that way: {names}.")
    if state.much:
        dear = ", ".join(each.name for each in costs[:3])
        found.append(
            f"Little would survive. {dear} cost most: leave them out (dropped), or make them "
            "coarser by hand. A smaller k, or fewer sensitive columns, costs less too."
        )
    if state.tried.at_risk:
        names = ", ".join(name for name, people in state.tried.at_risk_by_column.items() if people)
        found.append(
            f"The classes still tell too much about {names}. Leave it out, or publish it apart: "
            "sfumato decouple."
        )
    elif judged.at_risk:
        told = f"Too much is told about {join_words(judged.told)}" if judged.told else "People are"
        found.append(
            f"{told} to an adversary who also knows a person's other values. Publish these "
            "columns apart (sfumato decouple), or leave some out."
        )
    return found


def _without(
    state: _TriedDraft, names: Sequence[str]
) -> tuple[dict[str, DraftedColumn], dict[str, int]]:
    """Return the columns of a state and its steps, with some columns that are not published."""
    columns = dict(state.columns)
    for name in names:
        guess = columns[name].guess
        reason = f"{guess.reason}. Left out: the other columns keep more without it"
        left_out = guess._replace(role=Role.DROPPED, reason=reason)
        columns[name] = DraftedColumn(ColumnRule(role=Role.DROPPED), left_out)
    return columns, {name: step for name, step in state.steps.items() if name not in names}


def _models(
    ladders: Mapping[str, tuple[Protection, ...]], steps: Mapping[str, int]
) -> list[PrivacyModel]:
    return [model for name, step in steps.items() for model in ladders[name][step]]


def _first(ladders: Mapping[str, tuple[Protection, ...]]) -> list[PrivacyModel]:
    return _models(ladders, {name: 0 for name, ladder in ladders.items() if ladder})
