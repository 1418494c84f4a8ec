"""Choosing a draft: models, method and columns, by what is gone and who is at risk."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol, TypeAlias

from sfumato.attacks.adversary.trial import Trial
from sfumato.dataclasses import dataclass
from sfumato.drafting.given import Instructions
from sfumato.drafting.guess import without_codes
from sfumato.drafting.making import BOXES, NEIGHBOURS, Making
from sfumato.drafting.policy import (
    NOTHING_SAID,
    TOLD_LAST,
    Draft,
    DraftedColumn,
    draft_column,
    draft_rules,
    smallest_class,
    write_draft,
)
from sfumato.drafting.price import (
    MUCH_HIDDEN,
    MUCH_LOST,
    WAYS,
    ColumnPrice,
    DraftAlternative,
    JudgedDraft,
    Price,
)
from sfumato.drafting.protection import Protection, breaks_it_whole, protections
from sfumato.hierarchy.language import DEFAULT
from sfumato.models import PrivacyModel
from sfumato.policy import ColumnRule, Policy
from sfumato.policy.meanings import ColumnKind
from sfumato.recode.gone import DataGone
from sfumato.schema import Role
from sfumato.tables import Domain
from sfumato.text import format_integer, join_words, percent

_Ladders: TypeAlias = dict[str, tuple[Protection, ...]]
"""What may protect each sensitive column, the weakest first."""

_ROUNDS = 4
"""How often models are made stronger at most."""

_CELLS, _FEWEST_VERDICTS, _MOST_VERDICTS = 1_500_000, 5, 18
"""The cells that are judged in all, and the fewest and the most verdicts on them."""

_PAIR = 40
"""The cells that take a verdict as long as two columns, whose pair it looks at."""

_RESERVE = 3
"""The verdicts that are left for leaving out columns where the answer would be no."""

_HURRY = 8
"""With fewer verdicts left, models are made stronger faster."""

_SAVES = 0.03
"""The least share that must be saved for ranges to overlap more than they need to."""

_DEAR = 0.05
"""If stronger models cost more than this, leaving out columns is tried as well."""

_MOST_LEFT_OUT = 4
"""The most columns that a draft leaves out by itself."""

_MOST_TRIED = 2
"""Columns of which it is tried out, on all rows, what is gained by leaving one out."""

_FEWEST_ROWS = 200
"""In fewer rows there is too little to weigh columns against each other."""

_MOST_COMPARED = 25
"""Of more quasi-identifiers, or sensitive columns, it is not asked what each costs."""

_MOST_NEIGHBOURS = 20_000
"""Of more combinations neighbours are not looked for: that takes long, and boxes are small."""

_MOST_NEIGHBOURS_OF_PEOPLE = 3_000
"""The same where people are counted, which takes longer."""

_MANY_CELLS = 20_000
"""Of more cells that others may know it is tried on a few rows first what neighbours, or a column
less, would save."""

_MANY_KNOWN = 20
"""With more quasi-identifiers than this, fewer combinations are as many cells."""

_MOST_APART = 20
"""Of more sensitive columns it is not tried what they would tell apart, unless that is wanted."""

_WORTH = 0.02
"""The least that must be gained by leaving out a column."""

_LITTLE = 0.1
"""Where no more is gone, nothing is left out for the sake of detail."""


_MAY_BE_KNOWN = ": others may know it"
_WOULD_UNDO = ". As it is, it would undo what is done to other columns"


class Tries(Protocol):
    """What drafts are tried on: a counted table."""

    rows: int
    """Its rows."""

    combinations: int
    """Its different rows."""

    def measure(self, policy: Policy) -> Trial | None:
        """Return what would be published, without any attack; None if nothing can be."""

    def compare(self, policy: Policy) -> Trial | None:
        """Return what would be published of a few rows, without any attack."""

    def judge(self, policy: Policy, tried: Trial | None = None) -> JudgedDraft | None:
        """Return the verdict on what would be published."""


@dataclass(frozen=True)
class _State:
    """A draft that was tried."""

    columns: Mapping[str, DraftedColumn]
    steps: Mapping[str, int]
    """How strong the models of each sensitive column are."""

    making: Making
    tried: Trial
    judged: JudgedDraft
    left_out: tuple[str, ...] = ()

    @property
    def gone(self) -> float:
        """The share of the data that would be gone."""
        return 1.0 if self.tried.gone is None else self.tried.gone.share

    @property
    def safe(self) -> bool:
        """Whether the answer is not *no*."""
        return self.judged.answer not in ("", "no")

    @property
    def rank(self) -> tuple[bool, int, float]:
        """The key that orders drafts: the least is the best."""
        return not self.safe, 0 if self.safe else self.judged.at_risk, self.gone

    @property
    def known(self) -> list[str]:
        """The quasi-identifiers."""
        return [each.name for each in self.tried.columns]

    @property
    def much(self) -> bool:
        """Whether little would survive."""
        return self.loss > MUCH_LOST or self.tried.hidden > MUCH_HIDDEN

    @property
    def loss(self) -> float:
        """The loss; every quasi-identifier counts alike in it, also one that is told apart last."""
        lost = [each.loss for each in self.tried.columns]
        light = any(self.columns[each.name].rule.weight == TOLD_LAST for each in self.tried.columns)
        return sum(lost) / len(lost) if light else self.tried.loss


class _Less(NamedTuple):
    """A draft that leaves out more than another, before it is judged."""

    columns: Mapping[str, DraftedColumn]
    steps: Mapping[str, int]
    tried: Trial
    left_out: tuple[str, ...]

    @property
    def gone(self) -> float:
        """The share of the data that would be gone."""
        return _share_gone(self.tried)


class DraftSearch:
    """Chooses a draft by what is gone and who is at risk, and says what each column costs.

    Every sensitive column begins with the weakest models that the rule for harm asks for. They are
    made stronger where the verdict says that people are at risk, and only there.

    Args:
        domains: The values of the columns.
        tries: What drafts are tried on; None if nothing can be tried.
        given: What the owner of the table said: columns of which something was said stay.
        prefer: Which draft is wanted: `columns`, `detail` or `apart`. None takes the one of which
            least is gone among those in one piece that are not *no*, and else one that is not.
    """

    def __init__(
        self,
        domains: Mapping[str, Domain],
        tries: Tries | None,
        given: Instructions = NOTHING_SAID,
        prefer: str | None = None,
    ) -> None:
        self._domains = domains
        self._tries = tries
        self._given = given
        self._prefer = prefer
        self._language = given.language or DEFAULT
        self._total = next(iter(domains.values())).total
        rows, columns = 0 if tries is None else tries.rows, len(domains)
        cells = max(columns * (rows + _PAIR * columns), 1)
        self._left = min(max(_CELLS // cells, _FEWEST_VERDICTS), _MOST_VERDICTS)
        """As many verdicts may still be asked for."""

        self._compared: dict[str, Trial | None] = {}
        """What was tried on a few rows: ranking columns and pricing them ask for much of it."""

    def draft(self, columns: Mapping[str, DraftedColumn]) -> Draft:
        """Return the draft that keeps most of what must not be hidden, with its price."""
        ladders = self._ladders(columns)
        doubtful = [
            name
            for name, ladder in ladders.items()
            if ladder and breaks_it_whole(ladder[0], self._known_values(name, columns[name]))
        ]
        kept = None
        if self._tries is not None and not doubtful:
            kept = self._keep_columns(columns, ladders)
        if kept is None and self._tries is not None:
            ladders = self._possible(columns, ladders, doubtful)
            kept = self._keep_columns(columns, ladders)
        if kept is None:
            notes = [] if self._tries is None else _warn_of_unprotected(columns, {}, ladders)
            return write_draft(columns, self._domains, (), self._given, notes=notes)
        found = {"columns": kept}
        detail = self._keep_detail(kept, ladders)
        if detail is not None:
            found["detail"] = detail
        apart = self._apart(min(found.values(), key=lambda each: each.rank), ladders)
        if apart is not None:
            found["apart"] = apart
        name = self._choose(found)
        chosen = found[name]
        drafted = write_draft(
            chosen.columns,
            self._domains,
            _models(ladders, chosen.steps),
            self._given,
            chosen.making,
            _warn_of_unprotected(chosen.columns, chosen.steps, ladders),
        )
        return replace(drafted, price=self._price(chosen, found, drafted.policy))

    def _choose(self, found: Mapping[str, _State]) -> str:
        if self._prefer is not None and self._prefer in found:
            return self._prefer
        whole = [name for name in found if name != "apart" and found[name].safe]
        # Joins that are lost are not among what is gone, so that apart comes last.
        names = whole or [name for name in found if found[name].safe] or list(found)
        return min(names, key=lambda name: (found[name].rank, list(WAYS).index(name)))

    def _ladders(self, columns: Mapping[str, DraftedColumn]) -> _Ladders:
        k = smallest_class(self._total, self._given)
        people = self._rules(columns, ()).counted_person is not None
        start = self._given.start
        stay = () if start is None else {*start.columns} - {*self._given.roles}
        return {
            name: protections(column.rule, self._known_values(name, column), k, people=people)
            for name, column in columns.items()
            if column.rule.role is Role.SENSITIVE and name in self._domains and name not in stay
        }

    def _known_values(self, name: str, column: DraftedColumn) -> Domain:
        """Return the values of a column as models see them: without codes of missing ones."""
        codes = column.rule.missing_codes
        return without_codes(self._domains[name], codes) if codes else self._domains[name]

    def _possible(
        self,
        columns: Mapping[str, DraftedColumn],
        ladders: _Ladders,
        doubtful: Sequence[str],
    ) -> _Ladders:
        """Return the protections that some release keeps, added one column after the other.

        Columns are added by halves: of many hardly any cannot be protected. Those that the table
        as one class would break come last, each by itself.
        """
        found: _Ladders = {}

        def keeps(models: Sequence[PrivacyModel]) -> bool:
            before = _models(found, {name: 0 for name, ladder in found.items() if ladder})
            return self._measure(columns, [*before, *models], BOXES) is not None

        def add(names: Sequence[str]) -> None:
            if keeps(_models(ladders, {name: 0 for name in names if ladders[name]})):
                found.update((name, ladders[name]) for name in names)
            elif len(names) == 1:
                found[names[0]] = tuple(step for step in ladders[names[0]] if keeps(step))
            else:
                add(names[: len(names) // 2])
                add(names[len(names) // 2 :])

        likely = [name for name in ladders if name not in doubtful]
        if likely:
            add(likely)
        for name in doubtful:
            add([name])
        return {name: found[name] for name in ladders}

    def _rules(
        self,
        columns: Mapping[str, DraftedColumn],
        models: Sequence[PrivacyModel],
        making: Making = BOXES,
    ) -> Policy:
        return draft_rules(columns, self._domains, models, self._given, making)

    def _measure(
        self,
        columns: Mapping[str, DraftedColumn],
        models: Sequence[PrivacyModel],
        making: Making,
    ) -> Trial | None:
        assert self._tries is not None  # noqa: S101 - nothing is tried without
        return self._tries.measure(self._rules(columns, models, making))

    def _state(
        self,
        columns: Mapping[str, DraftedColumn],
        steps: Mapping[str, int],
        ladders: _Ladders,
        making: Making,
        tried: Trial | None = None,
    ) -> _State | None:
        """Return a draft that was tried and judged; None if no release keeps it."""
        if self._left <= 0:
            return None
        self._left -= 1
        models = _models(ladders, steps)
        tried = tried or self._measure(columns, models, making)
        if tried is None or not tried.published:
            return None
        assert self._tries is not None  # noqa: S101 - nothing is tried without
        judged = self._tries.judge(tried.policy, tried)
        if judged is None:
            judged = JudgedDraft("", 0, tried.of, (), {}, {})
        return _State(columns, steps, making, replace(tried, release=None), judged)

    # The draft that keeps all columns.

    def _keep_columns(
        self, columns: Mapping[str, DraftedColumn], ladders: _Ladders
    ) -> _State | None:
        """Return the draft in which every column stays: the best of the methods."""
        steps = {name: 0 for name, ladder in ladders.items() if ladder}
        found: list[_State] = []
        tried = self._measure(columns, _models(ladders, steps), BOXES)
        near = self._near(columns, steps, ladders, tried)
        makings = {BOXES: tried, NEIGHBOURS: near}
        if _share_gone(near) > _share_gone(tried) - _SAVES:
            del makings[NEIGHBOURS]
        for making in sorted(makings, key=lambda each: _share_gone(makings[each])):
            if found and found[-1].safe:
                # What lost more with the weakest models hardly loses less with stronger ones.
                break
            state = self._state(columns, steps, ladders, making, makings[making])
            if state is None:
                continue
            first = state
            if state.judged.undoing:
                known = self._as_known(state, state.judged.undoing, _WOULD_UNDO, ladders)
                state = min(state, known or state, key=lambda each: each.rank)
            if state.judged.besides:
                known = self._as_known(state, _others_know(state), _MAY_BE_KNOWN, ladders)
                state = min(state, known or state, key=_by_others)
            if state is not first:
                columns, steps = state.columns, dict(state.steps)
                makings = dict.fromkeys(makings)
            found.append(self._strengthen(state, ladders))
        return min(found, key=lambda each: each.rank) if found else None

    def _as_known(
        self, state: _State, names: Sequence[str], why: str, ladders: _Ladders
    ) -> _State | None:
        """Return a draft in which some columns that are published as they are get labels, too.

        What others may know of a person tells them all the rest, and what undoes the labels of
        others lets them find the row.
        """
        names = [name for name in names if name not in self._given.roles]
        if not names:
            return None
        columns = dict(state.columns)
        for name in names:
            guess = columns[name].guess
            reason = f"{guess.reason}{why}"
            known = guess._replace(role=Role.QUASI_IDENTIFIER, reason=reason)
            columns[name] = draft_column(known, self._domains[name], self._language)
        steps = {name: 0 for name in state.steps if name not in names}
        return self._state(columns, steps, ladders, state.making)

    def _near(
        self,
        columns: Mapping[str, DraftedColumn],
        steps: Mapping[str, int],
        ladders: _Ladders,
        boxes: Trial | None,
    ) -> Trial | None:
        """Return what is published if neighbours share labels, where that is worth a look.

        Args:
            columns: The columns of the draft.
            steps: How strong its models are.
            ladders: The models.
            boxes: What is published if the table is halved again and again.
        """
        assert self._tries is not None  # noqa: S101 - nothing is tried without
        rules = self._rules(columns, ())
        people = rules.counted_person is not None
        most = _MOST_NEIGHBOURS_OF_PEOPLE if people else _MOST_NEIGHBOURS
        most = most * _MANY_KNOWN // max(len(rules.quasi_identifiers), _MANY_KNOWN)
        if self._given.start is not None or self._tries.combinations > most:
            return None
        if _share_gone(boxes) <= _SAVES:
            return None
        models = _models(ladders, steps)
        if self._tries.combinations * len(rules.quasi_identifiers) > _MANY_CELLS:
            # Neighbours of many take long: they are looked for if those of few rows save something.
            few = self._compare(columns, models, NEIGHBOURS)
            if _share_gone(few) >= _share_gone(self._compare(columns, models)):
                return None
        return self._measure(columns, models, NEIGHBOURS)

    def _strengthen(self, state: _State, ladders: _Ladders) -> _State:
        """Return the state with stronger models for columns of which too much is told."""
        best = state
        for round_ in range(_ROUNDS):
            if state.safe:
                break
            self._take_remedies(state, ladders)
            weak = [
                name
                for name in state.judged.told
                if name in ladders and state.steps.get(name, -1) + 1 < len(ladders[name])
            ]
            if not weak:
                break
            # The further it goes, the longer the strides: every verdict takes time.
            stride = 1 + (round_ if self._left < _HURRY else round_ // 2)
            told = {name: state.judged.told[name] for name in weak}
            most = {name: len(ladders[name]) - 1 for name in weak}
            for further in stronger_steps(state.steps, told, most, stride):
                found = self._state(state.columns, further, ladders, state.making)
                if found is not None:
                    break
            else:
                break
            state = replace(found, left_out=state.left_out)
            best = min(best, state, key=lambda each: each.rank)
        return best

    def _take_remedies(self, state: _State, ladders: _Ladders) -> None:
        """Add what the verdict advises as a last step where all others were taken."""
        for name in state.judged.told:
            ladder = ladders.get(name, ())
            models = state.judged.remedies.get(name, ())
            more = [model for model in models if not ladder or model not in ladder[-1]]
            if more and name in ladders and state.steps.get(name, -1) + 1 >= len(ladder):
                ladders[name] = (*ladder, (*(ladder[-1] if ladder else ()), *more))

    # Drafts that leave something out, or apart.

    def _keep_detail(self, state: _State, ladders: _Ladders) -> _State | None:
        """Return a draft without some columns, so that others keep more or no person is at risk."""
        if self._given.start is not None or (state.safe and state.gone <= _LITTLE):
            return None
        if not state.safe:
            # Few verdicts are affordable on many columns; one more costs less than a no.
            self._left = max(self._left, _RESERVE)
        best = state
        for _ in range(_MOST_LEFT_OUT):
            if self._left <= 0 or (self._total < _FEWEST_ROWS and best.safe):
                break
            better = self._better(best, ladders)
            if better is None:
                break
            best = better
            if best.safe and best.gone <= _LITTLE:
                break
        if best is state:
            return None
        # What was made stronger for the sake of what is left out may be as weak as it was.
        weak = dict.fromkeys(best.steps, 0)
        if best.safe and weak != best.steps:
            again = self._state(best.columns, weak, ladders, best.making)
            if again is not None:
                best = min(best, replace(again, left_out=best.left_out), key=lambda each: each.rank)
        return best

    def _better(self, state: _State, ladders: _Ladders) -> _State | None:
        """Return the best draft with less of one column, if it is worth it."""
        names = self._rank_columns(state, ladders)[:_MOST_TRIED]
        found = [less for name in names if (less := self._less_of(state, name, ladders))]
        best = state
        # Stronger models never lose less: what loses more with weak ones need not be judged.
        for less in sorted(found, key=lambda each: each.gone):
            if best.safe and less.gone >= best.gone - (_WORTH if best is state else 0):
                break
            made = self._judge_less(state, less, ladders)
            if made is not None and _is_better(made, best, worth=best is state):
                best = made
        return None if best is state else best

    def _rank_columns(self, state: _State, ladders: _Ladders) -> list[str]:
        """Return the columns that may be left out, the most promising first."""
        protected = {*self._given.roles}
        if not state.safe:
            told = {**state.judged.besides, **state.judged.told}
            most = sorted(told, key=lambda name: (-told[name], name))
            names = dict.fromkeys([*_others_know(state), *most])
            if state.judged.told:
                names = dict.fromkeys([*most, *names])
            return [name for name in names if name not in protected and name in state.columns]
        found: dict[str, float] = {}
        bare, n = self._compare(state.columns), len(state.known)
        if bare is not None and 2 < n <= _MOST_COMPARED:
            for name in state.known:
                others = self._compare(_leave_out(state, [name])[0])
                if others is not None:
                    found[name] = n * bare.loss - (n - 1) * others.loss
        if bare is not None and 0 < len(state.steps) <= _MOST_COMPARED:
            every = self._compare(state.columns, _models(ladders, state.steps))
            least = sorted(found.values())[-_MOST_TRIED:][0] if len(found) >= _MOST_TRIED else 0.0
            # Where all models cost less than the columns that would be tried, so does each.
            dear = every is None or (every.loss - bare.loss) * n > least
            for name, step in state.steps.items() if dear else ():
                tried = self._compare(state.columns, _models(ladders, {name: step}))
                if tried is not None:
                    found[name] = (tried.loss - bare.loss) * n
        ranked = sorted(found, key=lambda name: (-found[name], name))
        return [name for name in ranked if name not in protected]

    def _less_of(self, state: _State, name: str, ladders: _Ladders) -> "_Less | None":
        """Return less of a column or nothing of it, whichever keeps more; None if neither can be.

        Nothing is judged yet.
        """
        ways = [(*_leave_out(state, [name]), (*state.left_out, name))]
        last = _tell_apart_last(state, name)
        if state.safe and last is not None:
            ways.append((last, dict(state.steps), state.left_out))
        found: list[_Less] = []
        for columns, steps, left_out in ways:
            if not any(c.rule.role in (Role.QUASI_IDENTIFIER, Role.SET) for c in columns.values()):
                continue
            if state.safe and not self._may_save(state, columns, steps, ladders):
                continue
            # What was made stronger for the sake of these may be as weak as it was.
            first = dict.fromkeys(steps, 0) if state.safe else steps
            tried = self._measure(columns, _models(ladders, first), state.making)
            if tried is not None:
                found.append(_Less(columns, first, tried, left_out))
        return min(found, key=lambda each: each.gone, default=None)

    def _may_save(
        self,
        state: _State,
        columns: Mapping[str, DraftedColumn],
        steps: Mapping[str, int],
        ladders: _Ladders,
    ) -> bool:
        """Return whether less is gone of a few rows, of which more is to be saved than of many."""
        assert self._tries is not None  # noqa: S101 - nothing is tried without
        many = self._tries.combinations * len(state.known) > _MANY_CELLS
        if not many or state.making is not BOXES:
            return True
        weak = _models(ladders, dict.fromkeys(steps, 0))
        before = self._compare(state.columns, _models(ladders, state.steps))
        return _share_gone(self._compare(columns, weak)) < _share_gone(before)

    def _judge_less(self, state: _State, less: "_Less", ladders: _Ladders) -> _State | None:
        """Return a draft with less than another, with models as strong as it takes."""
        made = self._state(less.columns, less.steps, ladders, state.making, less.tried)
        if not state.safe:
            strong = None if made is None else self._strengthen(made, ladders)
            return None if strong is None else replace(strong, left_out=less.left_out)
        if made is None or not made.safe:
            kept = {name: step for name, step in state.steps.items() if name in less.steps}
            if kept == less.steps:
                return None
            made = self._state(less.columns, kept, ladders, state.making)
        return replace(made, left_out=less.left_out) if made is not None and made.safe else None

    def _apart(self, state: _State, ladders: _Ladders) -> _State | None:
        """Return a draft that publishes every sensitive column in a table of its own."""
        policy = state.tried.policy
        secret = [n for n, c in state.columns.items() if c.rule.role is Role.SENSITIVE]
        alone = policy.counted_person is None and not policy.sets and self._given.start is None
        wanted = self._prefer == "apart" or (not state.safe and len(secret) <= _MOST_APART)
        if len(secret) < 2 or not alone or not wanted:
            return None
        making = replace(state.making, apart=True)
        rules = self._rules(state.columns, _models(ladders, state.steps), making)
        assert self._tries is not None  # noqa: S101 - nothing is tried without
        judged = self._tries.judge(rules)
        if judged is None:
            return None
        return replace(
            state, making=making, judged=judged, tried=replace(state.tried, policy=rules)
        )

    # What it costs.

    def _compare(
        self,
        columns: Mapping[str, DraftedColumn],
        models: Sequence[PrivacyModel] = (),
        making: Making = BOXES,
    ) -> Trial | None:
        """Try columns on a few rows, each policy once."""
        assert self._tries is not None  # noqa: S101 - nothing is tried without
        policy = self._rules(columns, models, making)
        key = repr(policy)
        if key not in self._compared:
            self._compared[key] = self._tries.compare(policy)
        return self._compared[key]

    def _price(self, state: _State, found: Mapping[str, _State], policy: Policy) -> Price:
        assert self._tries is not None  # noqa: S101 - nothing is tried without
        tried, judged = state.tried, state.judged
        if policy.sets:
            judged = self._tries.judge(policy) or judged
        costs = self._costs(state)
        return Price(
            rows=self._tries.rows,
            of_rows=self._total,
            loss=state.loss,
            hidden=tried.hidden,
            suppressed=tried.suppressed / max(tried.rows, 1),
            gone=tried.gone or DataGone(),
            people_at_risk=judged.at_risk,
            people=judged.people,
            answer=judged.answer,
            adversaries=judged.adversaries,
            columns=tuple(costs),
            left_out=state.left_out,
            alternatives=tuple(
                DraftAlternative(
                    name,
                    replace(each.tried, name=WAYS[name], adversaries=each.judged.adversaries),
                    each.judged.answer,
                    each.judged.at_risk,
                    each.left_out,
                    each is state,
                )
                for name, each in found.items()
            ),
            advice=tuple(_advice(state, costs, judged)),
        )

    def _costs(self, state: _State) -> list[ColumnPrice]:
        """Return what each quasi-identifier costs the others, the most expensive first."""
        whole = self._compare(state.columns) if len(state.known) > 1 else None
        costs = []
        for column in state.tried.columns:
            others, name = None, column.name
            if whole is not None and len(state.known) <= _MOST_COMPARED:
                others = self._compare(_leave_out(state, [name])[0])
            cost = 0.0 if others is None or whole is None else max(whole.loss - others.loss, 0.0)
            costs.append(ColumnPrice(name, column.hidden, cost))
        return sorted(costs, key=lambda each: (-each.cost, -each.hidden, each.name))


def stronger_steps(
    steps: Mapping[str, int], told: Mapping[str, int], most: Mapping[str, int], stride: int
) -> list[dict[str, int]]:
    """Return how much stronger models may become, the most first: a release may not keep that.

    Args:
        steps: How strong the models of each column are.
        told: The columns that are protected too weakly, with the people at risk.
        most: How strong the models of those can become.
        stride: By how much they are to become stronger.

    Example:
        >>> stronger_steps({"ill": 0, "wage": 1}, {"ill": 9, "wage": 2}, {"ill": 4, "wage": 2}, 2)
        [{'ill': 2, 'wage': 2}, {'ill': 1, 'wage': 2}, {'ill': 1, 'wage': 1}]
    """
    worst = max(told, key=lambda name: told[name])
    found: list[dict[str, int]] = []
    for names, by in ((told, stride), (told, 1), ([worst], 1)):
        further = dict(steps)
        for name in names:
            further[name] = min(further.get(name, -1) + by, most[name])
        if further not in found:
            found.append(further)
    return found


def _others_know(state: _State) -> list[str]:
    """Return the sensitive columns that others may know."""
    rules = {name: column.rule for name, column in state.columns.items()}
    return [n for n, rule in rules.items() if rule.role is Role.SENSITIVE and rule.known]


def _by_others(state: _State) -> tuple[bool, int, float]:
    """Return a key of drafts by what those who know other values are told: the least is best."""
    people = max(state.judged.besides.values(), default=0)
    return people > 0, people, state.gone


def _share_gone(tried: Trial | None) -> float:
    return 1.0 if tried is None or tried.gone is None else tried.gone.share


def _is_better(one: _State, other: _State, *, worth: bool) -> bool:
    """Return whether a draft is better than another.

    Args:
        one: The draft.
        other: The other.
        worth: Whether it leaves out more, so that it has to be worth it.
    """
    if one.safe != other.safe:
        return one.safe
    if not one.safe and worth:
        return one.judged.at_risk < other.judged.at_risk
    return one.gone < other.gone - _WORTH if worth else one.rank < other.rank


def _advice(state: _State, costs: Sequence[ColumnPrice], judged: JudgedDraft) -> list[str]:
    """Return what would help, in sentences."""
    found = []
    if state.left_out:
        gone = len(state.left_out) / max(len((state.tried.gone or DataGone()).columns), 1)
        names = ", ".join(state.left_out)
        found.append(
            f"Left out, which alone is {percent(gone)} of the data: {names}. The other columns "
            "keep more that way, or no person is at risk; --prefer columns keeps them."
        )
    if state.much:
        dear = ", ".join(each.name for each in costs[:3])
        found.append(
            f"Little would survive. {dear} cost most: leave them out (dropped), or make them "
            "coarser by hand. A smaller k, or fewer sensitive columns, costs less too."
        )
    if state.making.apart:
        found.append(
            "Every sensitive column has a table of its own, made by sfumato decouple: which values "
            "of two of them belong to one person is lost, and not counted in what is gone."
        )
    elif judged.at_risk:
        told = (
            f"Too much is revealed about {join_words(list(judged.told))}"
            if judged.told
            else "People are"
        )
        found.append(
            f"{told}: {format_integer(judged.at_risk)} people are at risk. Leave columns out, or "
            "publish them apart (--prefer apart, sfumato decouple)."
        )
    return found


def _warn_of_unprotected(
    columns: Mapping[str, DraftedColumn],
    steps: Mapping[str, int],
    ladders: _Ladders,
) -> list[str]:
    """Return what the first lines of a policy say of sensitive columns without a model."""
    bare = [name for name in ladders if name not in steps and name in columns]
    bare = [name for name in bare if columns[name].rule.role is Role.SENSITIVE]
    notes = []
    if bare:
        notes.append(
            f"NOT PROTECTED by any model: {join_words(bare)}. No release of this table keeps a "
            "model that protects them (all rows have one value, or nearly all). Protecting them "
            "costs the columns themselves: leave them out with --drop."
        )
    known = [
        name
        for name, each in columns.items()
        if each.rule.role is Role.QUASI_IDENTIFIER and each.guess.kind in _SELDOM_KNOWN
    ]
    if known:
        notes.append(
            f"TAKEN FOR KNOWN to others: {join_words(known)}. No model limits what is learned of "
            "them. If others do not know them, say so (--role NAME=sensitive), and leave out the "
            "columns that reveal them."
        )
    return notes


_SELDOM_KNOWN = frozenset(
    {
        ColumnKind.HEALTH,
        ColumnKind.TREATMENT,
        ColumnKind.OUTCOME,
        ColumnKind.MONEY,
        ColumnKind.BELIEF,
    }
)
"""What is sensitive by itself, and quasi-identifying where it tells a column that others know."""


def _leave_out(
    state: _State, names: Sequence[str]
) -> tuple[dict[str, DraftedColumn], dict[str, int]]:
    """Return the columns of a state and its steps, with some columns that are not published."""
    columns = dict(state.columns)
    for name in names:
        guess = columns[name].guess
        reason = f"{guess.reason}. Left out: the other columns keep more without it"
        left_out = guess._replace(role=Role.DROPPED, reason=reason)
        columns[name] = DraftedColumn(ColumnRule(role=Role.DROPPED), left_out)
    return columns, {name: step for name, step in state.steps.items() if name not in names}


def _tell_apart_last(state: _State, name: str) -> dict[str, DraftedColumn] | None:
    """Return the columns of a state with a quasi-identifier that costs the others nothing.

    It is told apart only where they need not be any more, and keeps what that leaves of it.
    """
    drafted = state.columns[name]
    rule, guess = drafted.rule, drafted.guess
    if rule.role is not Role.QUASI_IDENTIFIER or rule.weight <= TOLD_LAST:
        return None
    reason = f"{guess.reason}. Told apart last: the other columns keep more that way"
    last = DraftedColumn(rule.replace(weight=TOLD_LAST), guess._replace(reason=reason))
    return {**state.columns, name: last}


def _models(ladders: _Ladders, steps: Mapping[str, int]) -> list[PrivacyModel]:
    return [model for name, step in steps.items() for model in ladders[name][step]]
