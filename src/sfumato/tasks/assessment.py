"""The answer: may this be published? People at risk, promises, assumptions, and why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from typing import TYPE_CHECKING, Any, Literal

from sfumato.attacks import Outcome
from sfumato.attacks.adversary.assumptions import Assumption
from sfumato.attacks.at_risk import AdversaryLine, count_at_risk, largest
from sfumato.dataclasses import dataclass
from sfumato.drafting.unprotected import ColumnFinding, findings_table, first_findings
from sfumato.errors import UnknownNameError
from sfumato.harm import Level
from sfumato.policy import RiskLevels
from sfumato.policy.adversaries import Knows
from sfumato.policy.remedies import Accept, GiveRole, LetBeKnown, Remedy
from sfumato.populations import SampleRisk
from sfumato.profiles import ClauseFinding, RuleReport
from sfumato.schema import Role
from sfumato.showing.content import (
    Badge,
    Cell,
    Content,
    ContentTable,
    Heading,
    Listing,
    Part,
    Sentence,
    Share,
    Showable,
    plain_of,
)
from sfumato.synthesis.belief import BeliefBound, but_for
from sfumato.text import format_integer, join_words
from sfumato.verifier import Check, Verdict
from sfumato.verifier.models import NOT_RECOUNTED
from sfumato.verifier.promises import OPEN

if TYPE_CHECKING:
    from sfumato.tasks.price import Prices

Answer = Literal["yes", "with care", "no"]


@dataclass(frozen=True)
class Reason:
    """One reason of an answer: a sentence, and what it comes from."""

    text: str
    refuses: bool = False
    """Whether the answer is *no* because of it."""

    outcome: Outcome | None = None
    finding: ColumnFinding | None = None
    check: Check | None = None
    assumed: tuple[Assumption, ...] = ()
    """The assumptions of one kind that it comes from."""

    clause: ClauseFinding | None = None
    """The clause of a rule that it comes from."""

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """Changes of a policy that help: first what is advised, then what else there is."""
        if self.finding is not None:
            return self.finding.remedies
        if self.assumed:
            return _without_assuming(self.assumed)
        found = self.outcome
        if found is None or found.accepted:
            return ()
        more: list[Remedy] = [GiveRole(name, Role.DROPPED) for name in found.columns]
        if len(found.columns) == 1 and found.judged:
            # More than one column cannot be accepted as one.
            more.append(Accept(found.columns[0], found.attack, found.concerned))
        return (*found.remedies, *(each for each in more if each not in found.remedies))


def _without_assuming(assumed: Sequence[Assumption]) -> tuple[Remedy, ...]:
    """Return what makes assumptions of one kind needless; only people give reasons for them."""
    names = [name for each in assumed for name in each.columns]
    if assumed[0].kind == "unknown":
        return (LetBeKnown(tuple(names)), *(GiveRole(name, Role.DROPPED) for name in names))
    if assumed[0].kind == "plain":
        protect = (GiveRole(name, Role.SENSITIVE) for name in names)
        return (*protect, *(GiveRole(name, Role.DROPPED) for name in names))
    return ()


@dataclass(frozen=True)
class Assessment(Showable):
    """Everything that was found out about a release, and whether it may be published.

    People at risk are those of whom an adversary who counts learns something that is as good as
    known then (level *very high*, see `sfumato.harm`), everyone counted once. The answer is
    *no* if there are more of them than are allowed, if a promise is broken or could not be
    checked, or if a published column names people, or if a clause of the rule that it is held
    to does not hold. It is *with care* if no one is at risk and something is open: a clause
    that is not shown, an assumption for which no one gave a reason, an attack that applies and
    was not tried or not run to its end, a belief of level *high*, people who were not recounted
    (which takes the people file, and only the publisher has it), a published column that
    nothing protects and that singles people out or has no role, the column that identifies
    people, or a fixed seed. It is *yes* if no one is at risk and nothing is open.

    Does not promise: that the roles are right, or that there is no better attack.

    Example:
        >>> checks = (Check("k-anonymity", "holds", {"k": 2}, {"k": 3}),)
        >>> weak = Outcome("linking", None, people=0, of=9, prior=1 / 9, posterior=1 / 3,
        ...     threshold=0.75)
        >>> found = Assessment(Verdict(checks), (weak,))
        >>> found.answer, found.holds, found["k-anonymity"].status
        ('yes', True, 'holds')
    """

    verdict: Verdict
    """The promises, recomputed from the files."""

    attacks: tuple[Outcome, ...] = ()
    levels: RiskLevels = field(default_factory=RiskLevels)
    allowed: int = 0
    """How many people may be at risk."""

    untried: tuple[str, ...] = ()
    """The names of attacks that apply and were not asked for."""

    columns: tuple[ColumnFinding, ...] = ()
    """What published columns that nothing protects give away."""

    believed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The columns of each role, where nothing but the manifest says so: another role, another
    answer. Empty if a policy or the caller names the roles."""

    reproducible: bool = False
    """Whether others may know the seed that the release was drawn with."""

    apart: tuple[str, ...] = ()
    """The columns that tell people apart in a table, which is judged as if they were left out."""

    sample: SampleRisk | None = None
    """How likely people are found in the population, estimated from the published rows and a
    sampling fraction or weights. It decides nothing: estimates are no promises."""

    assumptions: tuple[Assumption, ...] = ()
    """What is taken for true, with the people at risk if it is not."""

    adversaries: tuple[AdversaryLine, ...] = ()
    """How many people each adversary learns too much of."""

    against: tuple[Knows, ...] = tuple(Knows)
    """The adversaries that count."""

    prices: "Prices | None" = field(default=None, compare=False)
    """What can be done about the reasons and what it costs, if remedies were tried."""

    refuted: tuple[str, ...] = ()
    """What the manifest says of chance and no one believes, and why."""

    rule: RuleReport | None = None
    """What was found of each clause of the rule that it is held to; None if no rule is named."""

    beliefs: tuple[BeliefBound, ...] = ()
    """The most that anyone can come to believe, where differential privacy is promised."""

    delta: float = 0.0
    """How much more probable than that promise says anything can be."""

    loose: tuple[str, ...] = ()
    """What that promise does not exclude, and should."""

    def __post_init__(self) -> None:
        if not self.adversaries and self.judged:
            of = max(each.of for each in self.judged)
            lines = count_at_risk(self.attacks, of, against=self.against)
            object.__setattr__(self, "adversaries", lines)
        # Whom a column names is found by everybody, without any attack.
        naming = [each for each in self.named if each.kind == "identifier"]
        named = max((each.people or 0 for each in naming), default=0)
        if named:
            lines = tuple(
                replace(line, people=max(line.people, min(named, line.of)))
                for line in self.adversaries
            )
            object.__setattr__(self, "adversaries", lines)

    @property
    def at_risk(self) -> int:
        """The people of whom some adversary who counts learns too much, everyone counted once."""
        return largest(self.adversaries)

    @property
    def people(self) -> int:
        """The people there are, as far as attacks counted them."""
        return max((line.of for line in self.adversaries), default=0)

    @property
    def open(self) -> tuple[Assumption, ...]:
        """The assumptions for which no one gave a reason."""
        return tuple(each for each in self.assumptions if each.open)

    @property
    def checks(self) -> tuple[Check, ...]:
        """Every promise, in the order they were checked."""
        return self.verdict.checks

    def __getitem__(self, name: str) -> Check:
        """Find the first check of a name."""
        return self.verdict[name]

    def attack(self, name: str, column: str | None = None) -> Outcome:
        """Find what an attack achieved; with several of a name, the one on a column."""
        for outcome in self.attacks:
            if outcome.attack == name and column in (None, outcome.column):
                return outcome
        known = [outcome.attack for outcome in self.attacks]
        raise UnknownNameError("attack", name if column is None else f"{name}({column})", known)

    @property
    def succeeded(self) -> tuple[Outcome, ...]:
        """The attacks that put people at risk, if these are more than are allowed."""
        if self.at_risk <= self.allowed:
            return ()
        return tuple(each for each in self.judged if each.people and not each.accepted)

    @property
    def judged(self) -> tuple[Outcome, ...]:
        """The attacks that the release is to withstand."""
        return tuple(each for each in self.attacks if each.judged and each.tried)

    @property
    def accepted(self) -> tuple[Outcome, ...]:
        """The attacks that succeed and were accepted, with a reason."""
        return tuple(each for each in self.judged if each.level and each.accepted)

    @property
    def concerns(self) -> tuple[Outcome, ...]:
        """The attacks that make something likely and put no one at risk, the worst first."""
        left = [
            each
            for each in self.judged
            if each.level >= Level.HIGH and not each.accepted and each not in self.succeeded
        ]
        return tuple(sorted(left, key=_weight))

    @property
    def named(self) -> tuple[ColumnFinding, ...]:
        """The published columns that name people, unless the publisher said why."""
        return tuple(each for each in self.columns if each.answer == "no")

    @property
    def holds(self) -> bool:
        """Whether it may be published: promises hold, and nothing betrays people.

        That is: no attack puts people at risk, and no column names people.

        A table that promises nothing is judged by the attacks alone; if there were none, nothing
        was looked at, and that is no yes.
        """
        # What only the publisher can recount was not tried here, and is no reason to refuse.
        kept = all(check.status in {"holds", *OPEN} for check in self.checks)
        kept = kept if self.checks else bool(self.attacks)
        kept = kept and (self.rule is None or self.rule.holds)
        return kept and not self.succeeded and not self.named

    @property
    def answer(self) -> Answer:
        """The answer in a word or two: yes, with care, no."""
        if not self.holds:
            return "no"
        left = (
            self.concerns,
            self.open,
            self.untried,
            self._unreached,
            self._not_recounted,
            self._not_promised,
        )
        columns = [each for each in self.columns if each.answer != "yes"]
        unshown = () if self.rule is None else self.rule.open
        nothing = not any((*left, columns, self.apart, self.refuted, self.loose, unshown))
        nothing = nothing and not self.reproducible
        return "yes" if nothing else "with care"

    @property
    def why(self) -> tuple[str, ...]:
        """The reasons of the answer, the weightiest first, each a sentence."""
        return tuple(reason.text for reason in self.reasons)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons of the answer, the weightiest first, with what can be done about each."""
        broken = [
            Reason(
                f"the promise {check.name} is {check.status}"
                + (f": {check.detail}" if check.detail else ""),
                refuses=True,
                check=check,
            )
            for check in self.checks
            if check.status not in {"holds", *OPEN}
        ]
        attacked = [
            Reason(outcome.reason, refuses=True, outcome=outcome)
            for outcome in _distinct(self.succeeded)
        ]
        seeded = (
            *([_SEEDED] if self.reproducible else []),
            *self._apart,
            *self._not_recounted,
            *self._not_promised,
        )
        first = [Reason(text) for text in (*seeded, *self.refuted, *self.loose)]
        accepted = [
            Reason(f"accepted: {each.reason} {each.accepted}", outcome=each)
            for each in self.accepted
        ]
        clauses = self._clauses
        if broken or attacked or self.named or (self.rule is not None and self.rule.broken):
            named = [
                Reason(text, refuses=True, finding=each)
                for text, each in first_findings(self.named)
            ]
            return (*broken, *named, *attacked, *clauses, *first, *accepted)
        columns = [Reason(text, finding=each) for text, each in first_findings(self.columns)]
        if self.answer == "with care":
            care = [Reason(each.reason, outcome=each) for each in _distinct(self.concerns)]
            rest = [Reason(text) for text in (*self._untried, *self._unreached)]
            return (*first, *care, *columns, *self._assumed, *clauses, *accepted, *rest)
        held = (
            "the promise holds"
            if len(self.checks) == 1
            else f"all {len(self.checks)} promises hold"
        )
        kept = held if self.checks else "nothing is promised"
        if self.beliefs:
            # No attack on single rows means anything here: the bound holds for every attack.
            return (Reason(f"{kept}, and no belief that harms a person can come of them"),)
        told = [e for e in self.attacks if not e.judged and e.people]
        # What is only told is no reason to refuse, and still not to be denied.
        those = " that is judged" if told else ""
        also = [Reason(f"told only: {outcome}", outcome=outcome) for outcome in told]
        return (Reason(f"{kept} and no attack{those} puts any person at risk"), *also, *columns)

    @property
    def _clauses(self) -> list[Reason]:
        """Return the clauses that do not hold, or the one that is not shown, as reasons."""
        if self.rule is None:
            return []
        named = self.rule.profile
        shown = self.rule.broken or self.rule.open
        return [
            Reason(f"{named}, {str(each).rstrip('.')}", refuses=not self.rule.holds, clause=each)
            for each in shown
        ]

    @property
    def _not_recounted(self) -> tuple[str, ...]:
        found = (check.name for check in self.checks if check.status == "not recounted")
        names = list(dict.fromkeys(found))
        if not names:
            return ()
        promised = [name for name in names if name != "people"]
        which = f"not recounted: {join_words(promised)}" if promised else "people not recounted"
        rows = ". Attacks took each row for a person" if self.attacks else ""
        return (f"{which}; {NOT_RECOUNTED}{rows}",)

    @property
    def _not_promised(self) -> tuple[str, ...]:
        found = [check for check in self.checks if check.status == "not promised"]
        if not found:
            return ()
        names = join_words([check.name for check in found])
        return (f"not promised: {names}; {found[0].detail}",)

    @property
    def _apart(self) -> tuple[str, ...]:
        if not self.apart:
            return ()
        told = "tells people apart" if len(self.apart) == 1 else "tell people and households apart"
        which = join_words([repr(name) for name in self.apart])
        return (f"{which} {told}, and the table was judged without: publish it without, too",)

    @property
    def _assumed(self) -> list[Reason]:
        """Return the assumptions that are open, as reasons; those of one kind in one sentence."""
        kinds: dict[str, list[Assumption]] = {}
        for each in self.open:
            kinds.setdefault(each.kind, []).append(each)
        found = []
        for several in kinds.values():
            worst, *others = several
            count = "one more column" if len(others) == 1 else f"{len(others)} more columns"
            more = f", and {count} likewise" if others else ""
            told = f"it is assumed that {worst}{more}. {_CONFIRM[worst.kind]}"
            found.append(Reason(told, assumed=tuple(several)))
        return found

    @property
    def _untried(self) -> tuple[str, ...]:
        if not self.untried:
            return ()
        applies = "they apply" if len(self.untried) > 1 else "it applies"
        told = f"not tried, though {applies}: {join_words(self.untried)}"
        return (f"{told}; leave out --attack and --only-promises to try all",)

    @property
    def _unreached(self) -> tuple[str, ...]:
        parts = {(each.attack, each.unreached): None for each in self.judged if each.unreached}
        none = {
            each.attack: each.unreached
            for each in self.attacks
            if each.unreached and not each.tried
        }
        return (
            *(f"of {attack} only a part was tried: {part}" for attack, part in parts),
            *(f"{attack} was not tried: {why}" for attack, why in none.items()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        return {
            "answer": self.answer,
            **self.verdict.to_dict(),
            "holds": self.holds,
            "why": list(self.why),
            "people_at_risk": self.at_risk,
            **plain_of(self, "people adversaries assumptions"),
            **(plain_of(self, "beliefs delta") if self.beliefs else {}),
            "levels": self.levels.to_plain(),
            **plain_of(self, "allowed untried attacks columns"),
            "believed": {role: list(names) for role, names in self.believed.items()},
            **({} if self.sample is None else {"sample": asdict(self.sample)}),
            **({} if self.rule is None else {"rule": self.rule.to_dict()}),
            **({} if self.prices is None else {"remedies": self.prices.to_dict()}),
        }

    @property
    def headline(self) -> str:
        """The question, its answer, and how many people are at risk."""
        return f"May it be published? {self.answer.capitalize()}.{self._at_risk}"

    @property
    def _at_risk(self) -> str:
        if not self.adversaries:
            return ""
        number = "None" if not self.at_risk else format_integer(self.at_risk)
        verb = "is" if self.at_risk <= 1 else "are"
        whom = "rows, each taken for a person," if self._not_recounted else "people"
        return f" {number} of {format_integer(self.people)} {whom} {verb} at risk."

    def content(self) -> Content:
        """Return the answer, a line per adversary, the first reasons, and what is open."""
        parts: list[Part] = list(self._lines())
        reasons = [f"{why[:1].upper()}{why[1:]}" for why in self.why]
        shown, caption = tuple(reasons[:_MOST_REASONS]), "Why"
        if len(reasons) > len(shown):
            caption += f" ({len(shown)} of {len(reasons)}; all with --all)"
        parts.append(Listing(shown, caption=caption))
        parts += self._prices()
        if self.rule is not None:
            parts += [Sentence(self.rule.headline), *self.rule.parts(every=False)]
        if self.open and self.answer == "no":
            open_ = [f"{str(each)[:1].upper()}{str(each)[1:]}." for each in self.open]
            parts.append(Listing.of(open_, most=_MOST_OPEN, caption="Assumed, without a reason"))
        left = (*self._untried, *self._unreached)
        hidden = [each for each in left if f"{each[:1].upper()}{each[1:]}" not in shown]
        if hidden:
            parts.append(Sentence(f"Not all was tried: {'; '.join(hidden)}."))
        return Content(self.headline, tuple(parts), self.answer)

    def details(self) -> Content:
        """Return everything: all reasons, checks, attacks, their worst cases and assumptions."""
        reasons = [f"{why[:1].upper()}{why[1:]}" for why in self.why]
        parts: list[Part] = [*self._lines(), Listing(tuple(reasons), caption="Why")]
        parts += self._prices()
        if self.rule is not None:
            parts += [Sentence(self.rule.headline), *self.rule.parts()]
        if self.checks:
            promises = self.verdict.content()
            parts += [Sentence(promises.headline), *promises.parts]
        else:
            parts.append(Sentence("Nothing is promised."))
        tried = [outcome for outcome in self.attacks if outcome.tried]
        if tried:
            parts.append(ContentTable.of("", _HEADINGS, map(self._attack_row, tried), most=None))
        if self.columns:
            parts.append(findings_table(self.columns, "Columns that nothing protects"))
        if self.assumptions:
            rows = map(_assumption_row, self.assumptions)
            parts.append(ContentTable.of("What is assumed", _ASSUMED, rows, most=None))
        if self.believed:
            roles = [f"{role} {join_words(names)}" for role, names in self.believed.items()]
            parts.append(Sentence(f"Roles, by its manifest alone: {'; '.join(roles)}."))
        if self.sample is not None:
            parts.append(self.sample.sentence())
        missing = [f"{each.attack}: {each.note}" for each in self.attacks if not each.tried]
        if missing:
            parts.append(Listing(tuple(missing), caption="Not tried"))
        return Content(self.headline, tuple(parts), self.answer)

    def _prices(self) -> list[Part]:
        if self.prices is None:
            return []
        prices = self.prices.content()
        return [Sentence(prices.headline), *prices.parts]

    @property
    def believed_at_most(self) -> tuple[Listing, ...]:
        """What a promise of differential privacy means as belief, if one is made."""
        if not self.beliefs:
            return ()
        told = [f"{str(each)[:1].upper()}{str(each)[1:]}" for each in self.beliefs]
        if more := but_for(self.beliefs):
            told.append(f"{more[:1].upper()}{more[1:]} (delta {self.delta:.3g})")
        return (Listing(tuple(told), caption="What anyone can come to believe, at most"),)

    def _lines(self) -> Iterator[Part]:
        if self.adversaries:
            lines = tuple(f"{str(each)[:1].upper()}{str(each)[1:]}" for each in self.adversaries)
            yield Listing(lines, caption="People at risk, by what is known of them")
        yield from self.believed_at_most

    def _attack_row(self, outcome: Outcome) -> list[Cell]:
        return [
            outcome.attack,
            outcome.about,
            self.result_of(outcome),
            f"{format_integer(outcome.people)} of {format_integer(outcome.of)}",
            outcome.high,
            "" if outcome.prior is None else Share(outcome.prior),
            Share(outcome.posterior or 0.0),
        ]

    def result_of(self, outcome: Outcome) -> Badge:
        """Return whether an attack was withstood, puts people at risk, or is only shown."""
        if not outcome.judged:
            return Badge("told")
        if outcome.accepted and outcome.level:
            return Badge("accepted")
        if outcome.people > self.allowed:
            return Badge("at risk")
        return Badge(str(outcome.level) if outcome.level else "withstood")

    def __repr__(self) -> str:
        return (
            f"<Assessment: {self.answer}, {len(self.checks)} checks, {len(self.attacks)} attacks>"
        )


_SEEDED = (
    "it was drawn with a fixed seed, and who knows that can put the rows back in the order of the "
    "original: not for publication. Make it again without a seed"
)

_MOST_REASONS = 3
_MOST_OPEN = 5

_CONFIRM = {
    "unknown": "Give the reason in the policy (because: …), or remove known: false",
    "plain": "Give the reason in the policy (because: …), or another role",
    "harmless": "Give the reason in the policy (because: …)",
    "accepted": "Give the reason in the policy you verify with",
    "noise": "Verify with the policy that asks for it (-p policy.yaml)",
    "roles": "Verify with a policy that names them (-p policy.yaml)",
    "mechanism": "No file can show it: who trusts its maker, and a signature, may take it for true",
}
"""What closes an open assumption of each kind."""

_ASSUMED = (
    "assumption",
    Heading("people at risk if it is wrong", "None: it cannot be told."),
    Heading("because", "The reason that the policy gives; open without one."),
)


def _assumption_row(each: Assumption) -> list[Cell]:
    least = "≥ " * each.at_least
    people = None if each.people is None else f"{least}{format_integer(each.people)}"
    return [each.text, people, each.because or Badge("open")]


_HEADINGS = (
    "attack",
    Heading("on", "The sensitive column it is after, and the setting it was tried with."),
    Heading("result", "Told: worth knowing, but no reason to refuse the release."),
    Heading("people at risk", "Those of whom what is believed harms them very highly."),
    Heading("high", "Those of whom it harms them highly."),
    Heading("before", "In the worst case, the belief without the release."),
    Heading("after", "In the worst case, the belief with it."),
)


def _weight(outcome: Outcome) -> tuple[int, int, float]:
    """Return where an outcome stands among others: the worst level and most people first."""
    return -outcome.level, -outcome.concerned, -(outcome.posterior or 0.0)


def _distinct(found: Sequence[Outcome]) -> list[Outcome]:
    """Return outcomes without those that say no more than another: several find one class."""
    kept: list[Outcome] = []
    for each in sorted(found, key=_weight):
        worst = each.worst[:1]
        known = set(worst[0].who) if worst else set()
        said = any(
            other.columns == each.columns
            and other.level >= each.level
            and other.worst
            and set(other.worst[0].who) == known
            for other in kept
        )
        if not said:
            kept.append(each)
    return kept
