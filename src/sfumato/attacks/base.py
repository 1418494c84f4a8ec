"""The contract of an attack, and what it finds."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from sfumato.attacks.at_risk import PeopleFound
from sfumato.attacks.target import Target
from sfumato.classes import EquivalenceClasses, ValueCounts
from sfumato.counts import add_up
from sfumato.counts.people import ClassPeople
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError
from sfumato.harm import Chance, HarmRule, Level, Secrecy, chance_of_values
from sfumato.models import AlphaKAnonymity
from sfumato.policy import Acceptance
from sfumato.policy.adversaries import Knows
from sfumato.policy.remedies import PromiseMore, Remedy
from sfumato.registry import Member
from sfumato.showing.content import plain_of
from sfumato.text import format_integer, join_words, percent, text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

MOST_CASES = 5
"""The most worst cases that an outcome holds."""

LEAST_CLASS = 5
"""The size of classes that is advised."""

LIMIT_SHARE = (
    "Limit its share in every class: models: [{{model: alpha-k-anonymity, column: {column}, "
    f"protected: [{{value}}], alpha: {{share}}, k: {LEAST_CLASS}}}}}]."
)
"""The advice against a value that is too frequent in some classes."""

ONE_ROW_EACH = "it is defined for one row per person, and people have several rows here"
"""Why an attack is not tried that cannot count people."""

CHANGED_BY_CHANCE = (
    "it takes published values for true ones, and chance has changed those of the sensitive "
    "columns: see interval-disclosure"
)
"""Why an attack is not tried that goes by published values."""

_TELLING = {"level", "within", "view", "known", "earlier", "unlikely"}
"""Settings by which attacks of one kind on one column differ."""


@dataclass(frozen=True)
class Case:
    """Some people who look alike, and what the adversary believes of them."""

    who: Mapping[str, Value]
    """What they are recognised by, as it was published."""

    people: int
    believed: str
    """What is believed of them, in words."""

    prior: float
    """How likely that is to an adversary who never saw the release."""

    posterior: float
    level: Level = Level.LOW
    """How much it harms them."""

    @property
    def gain(self) -> float:
        """By how much likelier the release made it."""
        return self.posterior - self.prior

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "who": {
                name: None if value is None else text_of(value) for name, value in self.who.items()
            },
            **plain_of(self, "people believed prior posterior gain"),
            "level": str(self.level),
        }

    def __str__(self) -> str:
        who = ", ".join(
            f"{name}={'(missing)' if value is None else text_of(value)}"
            for name, value in self.who.items()
        )
        return (
            f"{who or 'all people'} ({format_integer(self.people)}): {self.believed}, "
            f"{percent(self.prior)} before, {percent(self.posterior)} after"
        )


@dataclass(frozen=True)
class Outcome:
    """What one attack on one release achieved.

    Example:
        >>> case = Case({"age": "30s"}, 4, "disease = flu", prior=0.25, posterior=1.0)
        >>> print(Outcome("homogeneity", "disease", people=4, of=20, prior=0.25, posterior=1.0,
        ...     threshold=0.75, worst=(case,)))
        homogeneity(disease): 4 of 20 people at risk; strongest belief 100 %, 25 % before
    """

    attack: str
    column: str | None
    """The sensitive column it is after; None if it is after the person's row or presence."""

    people: int
    """The people at risk: what is believed of them harms them very highly."""

    of: int
    """The people there are."""

    prior: float | None
    """In the worst case, what an adversary who never saw the release believes."""

    posterior: float | None
    """In the worst case, what an adversary who saw it believes; None if it could not be tried."""

    threshold: float
    """Probability from which a person is at risk."""

    high: int = 0
    """The people of whom what is believed is of level *high*."""

    moderate: int = 0
    by_chance: int = 0
    """Those of whom chance explains the belief: a table of independent columns would show it."""

    worst: tuple[Case, ...] = ()
    how: str = ""
    """What the adversary does, in one sentence."""

    judged: bool = True
    """Whether the release is to withstand it; else it is told, and no reason to refuse."""

    note: str = ""
    unreached: str = ""
    """What of the attack was not tried, because there is too much of it."""

    unreached_by: Knows = Knows.QUASI_IDENTIFIERS
    """The adversary who knows least of those for whom it was not tried."""

    interval: tuple[float, float] | None = None
    """Where the posterior lies, if it was sampled."""

    seed: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ""
    """What to do about it: one command, or a line of a policy."""

    remedies: tuple[Remedy, ...] = ()
    """The same as changes of a policy, as far as a policy can do something; the first is that of
    the words."""

    accepted: str = ""
    """Why and by whom it was accepted, if it was."""

    found: PeopleFound | None = field(default=None, repr=False, compare=False)
    """Who the people at risk are, if the attack tells them apart."""

    @classmethod
    def of_levels(
        cls,
        attack: "Attack",
        column: str | None,
        people: Sequence[int],
        worst: tuple[Case, ...],
        rule: HarmRule,
        **more: Any,  # noqa: ANN401 - whatever else an outcome says
    ) -> Self:
        """Return what an attack finds: the people of each level of harm, and the worst cases."""
        return cls(
            attack.name,
            column,
            people=people[Level.VERY_HIGH],
            high=people[Level.HIGH],
            moderate=people[Level.MODERATE],
            prior=worst[0].prior if worst else 0.0,
            posterior=worst[0].posterior if worst else 0.0,
            threshold=rule.very_high,
            worst=worst,
            how=attack.how,
            **more,
        )

    @property
    def level(self) -> Level:
        """The worst level of any person."""
        if self.people:
            return Level.VERY_HIGH
        return Level.HIGH if self.high else Level.MODERATE if self.moderate else Level.LOW

    @property
    def by_level(self) -> dict[str, int]:
        """The number of people of each level above low."""
        counts = (self.people, self.high, self.moderate)
        levels = (Level.VERY_HIGH, Level.HIGH, Level.MODERATE)
        return {str(level): n for level, n in zip(levels, counts, strict=True)}

    @property
    def gain(self) -> float | None:
        """By how much likelier the release made the worst case."""
        if self.posterior is None or self.prior is None:
            return None
        return self.posterior - self.prior

    @property
    def share(self) -> float:
        """The share of people at risk."""
        return self.people / max(self.of, 1)

    @property
    def about(self) -> str:
        """The column it is after, and the setting by which it differs from others of its kind.

        >>> settings = {"within": 10, "fakes": 100}
        >>> Outcome("similarity", "pay", 0, 9, 0.1, 0.2, 0.75, settings=settings).about
        'pay, within=10'
        """
        telling = [f"{k}={v}" for k, v in self.settings.items() if k in _TELLING]
        return ", ".join(filter(None, [self.column, *telling]))

    @property
    def title(self) -> str:
        """The attack and what it is about."""
        return f"{self.attack}({self.about})" if self.about else self.attack

    @property
    def tried(self) -> bool:
        """Whether the attack could be tried on this release."""
        return self.posterior is not None

    @property
    def holds(self) -> bool:
        """Whether the release withstands it, as far as it is to."""
        return not self.judged or not self.people or bool(self.accepted)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            **plain_of(self, "attack column settings how tried judged holds"),
            "level": str(self.level),
            **plain_of(
                self,
                "people by_level by_chance of share threshold prior posterior gain",
                "interval seed note unreached advice remedies accepted worst",
            ),
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns it is after; empty if it is after a row or a presence."""
        return () if self.column is None else tuple(self.column.split(", "))

    @property
    def concerned(self) -> int:
        """The number of people of the worst level that any person has."""
        return self.people or self.high or self.moderate

    @property
    def by_size(self) -> bool:
        """Whether most of it is what groups of this size show by chance."""
        return 2 * self.by_chance >= self.concerned > 0

    @property
    def reason(self) -> str:
        r"""The reason in words: who learns what of how many people, an example, what to do.

        >>> case = Case({"age": "30s"}, 4, "disease = flu", 0.25, 1.0, Level.VERY_HIGH)
        >>> outcome = Outcome("homogeneity", "disease", people=4, of=20, prior=0.25, posterior=1.0,
        ...     threshold=0.75, worst=(case,), advice="Promise diversity.")
        >>> print(*outcome.reason.split("; "), sep="\n")
        who knows the age of a person learns disease, for 4 of 20 people (homogeneity, very high)
        for example age=30s (4): disease = flu, 25 % before, 100 % after. Promise diversity.
        """
        worst = self.worst[0] if self.worst else None
        names = list(worst.who) if worst is not None else []
        who = f"who knows the {join_words(names)} of a person" if names else "any reader"
        learns = f"learns {join_words(self.columns)}" if self.columns else "finds their row"
        people = f"{format_integer(self.concerned)} of {format_integer(self.of)} people"
        text = f"{who} {learns}, for {people} ({self.attack}, {self.level}); for example {worst}."
        if self.by_size:
            text += " Groups this small show that by chance: larger or more diverse ones do not."
        return f"{text} {self.advice}" if self.advice else text

    def __str__(self) -> str:
        name = self.attack if self.column is None else f"{self.attack}({self.column})"
        if self.posterior is None:
            return f"{name}: not tried, {self.note}"
        before = "" if self.prior is None else f", {percent(self.prior)} before"
        return (
            f"{name}: {format_integer(self.people)} of {format_integer(self.of)} people at risk; "
            f"strongest belief {percent(self.posterior)}{before}"
        )


# The share of each sensitive value, in a class and in the whole table.


class Guesses(NamedTuple):
    """One guess per class: a value, and how likely it is before and after the release."""

    value: IntArray
    """Code of the value; -1 where a class has no known value."""

    prior: FloatArray
    posterior: FloatArray


def priors(counts: ValueCounts) -> FloatArray:
    """Return the share of each value among all known ones: what is believed before the release.

    Where people are counted, it is the share of those who have it, each counted once per class
    they are in: what a class says of its people, averaged over the classes. More cannot be known
    of a stranger, short of knowing the person: where the true shares among the public are known,
    they differ from these by chance only.
    """
    known = counts.reference[:-1].astype(np.float64)
    shares: FloatArray = known / max(counts.known_total, 1)
    return shares


def likeliest(counts: ValueCounts) -> Guesses:
    """Return the most frequent known value of each class; of equals the one rarest in the table.

    >>> rows = [("A", "flu"), ("A", "flu"), ("A", "gout"), ("B", None)]
    >>> found = likeliest(classes_of(rows, column="disease").counts_of("disease"))
    >>> found.value.tolist(), found.posterior.round(2).tolist()
    ([0, -1], [0.67, 0.0])
    """
    known, prior = counts.known, priors(counts)
    n = len(known.totals)
    value = np.full(n, -1, dtype=np.int64)
    # The last of each class is the most frequent, and among those the rarest elsewhere.
    order = np.lexsort((-prior[known.value], known.rows, known.class_id))
    value[known.class_id[order]] = known.value[order]
    found = value >= 0
    posterior = np.where(found, known.largest / np.maximum(known.totals, 1), 0.0)
    return Guesses(value, np.where(found, prior[value] if len(prior) else 0.0, 0.0), posterior)


def strongest(
    rule: HarmRule,
    class_id: IntArray,
    prior: FloatArray,
    posterior: FloatArray,
    secrecy: IntArray | None,
    n: int,
) -> IntArray:
    """Return which of several beliefs harms the people of each class most; -1 if there is none.

    That is the one of the highest level, of equal levels the one that gained most.

    >>> prior, posterior = np.array([0.01, 0.6, 0.3]), np.array([0.5, 1.0, 0.3])
    >>> strongest(HarmRule(), np.array([0, 0, 2]), prior, posterior, None, 3).tolist()
    [0, -1, 2]

    Args:
        rule: The rule that makes levels of beliefs.
        class_id: The class that each belief is about, in rising order.
        prior: How likely what is believed is before the release.
        posterior: The same after it.
        secrecy: How much what is believed is a secret; None if it is ordinary.
        n: The number of classes.
    """
    found = np.full(n, -1, dtype=np.int64)
    if not len(class_id):
        return found
    harm = 4.0 * rule.judge(prior, posterior, 0, secrecy=secrecy).levels + posterior - prior
    if secrecy is not None:
        harm -= 2.0 * (secrecy == Secrecy.HARMLESS)
    starts = np.flatnonzero(np.diff(class_id, prepend=-1))
    most = np.repeat(np.maximum.reduceat(harm, starts), np.diff(np.append(starts, len(harm))))
    # Backwards, so that of equals the first stays.
    at = np.flatnonzero(harm == most)[::-1]
    found[class_id[at]] = at
    return found


def is_value(counts: ValueCounts, value: IntArray) -> Callable[[int], str]:
    """Return for a class that its value is believed."""
    column = counts.column

    def belief(at: int) -> str:
        code = int(value[at])
        return "nothing" if code < 0 else f"{column.name} = {text_of(column.values[code])}"

    return belief


def secrecy_of(counts: ValueCounts, value: IntArray) -> IntArray | None:
    """Return the secrecy of a value per class; None if all values are ordinary."""
    secrecy = counts.column.secrecy
    if secrecy is None:
        return None
    return np.where(value >= 0, secrecy[value], int(Secrecy.ORDINARY))


def chance_of_guesses(
    counts: ValueCounts, guess: Guesses, rule: HarmRule, *, certain: bool = False
) -> Chance:
    """Return how far independence of classes and column explains what is guessed."""
    totals = counts.known.totals.astype(np.int64)
    reference = counts.reference[:-1]
    found = np.rint(guess.posterior * totals).astype(np.int64)
    marked = np.where(guess.value >= 0, reference[guess.value] if len(reference) else 0, 0)
    return chance_of_values(
        rule, totals, found, marked, reference, certain=certain, total=counts.known_total
    )


class Attack(Member, ABC):
    """A way to learn something about a person from a release.

    A member of the family is a frozen dataclass: its fields say what is attacked, its
    docstring what is found and what is not. It sees counts only.
    """

    how: ClassVar[str]
    """What the adversary does, in one sentence for people."""

    advice: ClassVar[str] = ""
    """What to do if it succeeds: one command, or a line of a policy."""

    leaves_open: ClassVar[str] = ""
    """What remains open where it was not tried, if a reader should be told."""

    def remedies(self, outcome: "Outcome", rule: HarmRule) -> tuple[Remedy, ...]:
        """Return the advice as changes of a policy; none if a policy can do nothing."""
        return ()

    counts_people: ClassVar[bool] = True
    """Whether it is defined where people have several rows; else it is not tried there."""

    links: ClassVar[bool] = False
    """Whether it finds the records of a person in another table."""

    @classmethod
    @abstractmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:
        """Return what is worth trying on a release; nothing if it cannot be tried."""

    @classmethod
    def why_not(cls, target: Target) -> str:
        """Return why it cannot be tried on a release, if `against` gives nothing."""
        if target.perturbed is not None and target.perturbed.sensitive:
            return CHANGED_BY_CHANCE
        return "the release has no sensitive column"

    @classmethod
    def left_open(cls, target: Target) -> str:
        """Return why it cannot be tried though someone else might; empty if it does not apply."""
        why = cls.why_not(target)
        return why if why == ONE_ROW_EACH else ""

    @abstractmethod
    def on(self, target: Target, rule: HarmRule) -> Outcome:
        """Attack a release, and say who is at risk by the rule."""

    @classmethod
    def require_countable(cls, target: Target) -> None:
        """Raise if people have several rows and the attack is not defined for that."""
        if not cls.counts_people and target.person is not None:
            raise InputError(f"{cls.name} cannot be tried: {ONE_ROW_EACH}.")

    def params(self) -> dict[str, Any]:
        """Return the settings that were made as plain values."""
        settings = ((each.name, getattr(self, each.name)) for each in fields(self))  # type: ignore[arg-type]
        return {name: _plain(value) for name, value in settings if value is not None}

    def __str__(self) -> str:
        shown = (_format_setting(*item) for item in self.params().items() if item[1] != [])
        return f"{self.name}({', '.join(shown)})"


def require_one_value(attack: Attack, classes: EquivalenceClasses) -> None:
    """Raise if people are counted: counts of classes do not say which values they have together."""
    if classes.by_person:
        raise InputError(
            f"{attack.name} must know which values people with several rows have together, and the "
            "counts of classes do not say. Attack a table or a release: sf.tools.attack, sf.verify."
        )


class ClassAttack(Attack):
    """An attack on a sensitive column by an adversary who knows which class a person is in.

    The quasi-identifiers say so. It needs the counts of the classes and nothing else.
    """

    column: str
    """The sensitive column it is after."""

    @abstractmethod
    def run(self, classes: EquivalenceClasses) -> "Finding":
        """Attack every class, and say which gave something away."""

    def guess_values(
        self,
        classes: EquivalenceClasses,
        guess: Guesses,
        vulnerable: BoolArray,
        *,
        certain: bool = False,
    ) -> "Finding":
        """Return what comes of guessing one value of the column in each class.

        Args:
            classes: The classes.
            guess: The value that is guessed in each.
            vulnerable: Where the attack succeeds.
            certain: Whether it does so only where a class has no other value.
        """
        counts = classes.counts_of(self.column)
        return Finding(
            self,
            vulnerable,
            classes.inside,
            guess.prior,
            guess.posterior,
            is_value(counts, guess.value),
            secrecy_of(counts, guess.value),
            lambda rule: chance_of_guesses(counts, guess, rule, certain=certain),
            classes.people,
        )

    def find(self, target: Target) -> "Finding":
        """Attack every class of a release; it knows what the classes are recognised by, too."""
        return self.run(target.classes)

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        return self.find(target).outcome(target, rule)


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed of each of some groups of people, and with what right."""

    rows: IntArray | FloatArray
    """The number of people each group has, or is expected to have."""

    prior: FloatArray
    posterior: FloatArray
    who: Callable[[int], Mapping[str, Value]]
    """Says what a group is recognised by."""

    believed: Callable[[int], str]
    """Says what is believed of a group."""

    secrecy: IntArray | None = None
    """How much what is believed of each group is a secret; None if it is ordinary."""

    chance: Chance | None = None
    """How far independence explains what is believed; None if it does not."""

    of: int | None = None
    """The people there are, if groups do not hold each person once."""

    applies: BoolArray | None = None
    """Which groups the attack makes a statement of; the others have figures only."""

    people: ClassPeople | None = None
    """Who is in which of several groups, to count each person once, at the worst of them."""

    learned: bool | BoolArray = False
    """Whether it is a pattern that was looked for among many: what chance explains is noise."""

    find: Callable[[BoolArray], PeopleFound] | None = None
    """Says who the people of some of the groups are."""

    def _count(self, levels: IntArray) -> IntArray:
        """Return how many people are of each level."""
        n = len(Level)
        every: IntArray = np.rint(add_up(levels, self.rows, n)).astype(np.int64)
        # A group may be of some of its people only: then no more of them than there are.
        return every if self.people is None else np.minimum(self.people.at_worst(levels, n), every)

    @property
    def total(self) -> int:
        """The number of people."""
        if self.of is not None:
            return self.of
        return int(self.rows.sum()) if self.people is None else self.people.total

    def outcome(self, attack: Attack, column: str | None, rule: HarmRule) -> Outcome:
        """Return the figures of an attack by the rule, and the groups that are worst off."""
        of = self.total
        judged = rule.judge(
            self.prior,
            self.posterior,
            of,
            applies=self.applies,
            secrecy=self.secrecy,
            chance=self.chance,
            learned=self.learned,
        )
        levels = judged.levels
        gain = self.posterior - self.prior
        order = np.lexsort((-self.rows, -gain, -self.posterior, -levels))
        cases = tuple(
            Case(
                self.who(i),
                max(round(float(self.rows[i])), 1),
                self.believed(i),
                float(self.prior[i]),
                float(self.posterior[i]),
                Level(int(levels[i])),
            )
            for i in order[:MOST_CASES].tolist()
            if self.posterior[i] > 0
        )
        settings = attack.params()
        settings.pop("column", None)
        return Outcome.of_levels(
            attack,
            column,
            self._count(levels).tolist(),
            cases,
            rule,
            of=of,
            by_chance=int(self._count(judged.by_chance.astype(np.int64))[1]),
            settings=settings,
            advice=advise(attack.advice, column, cases[0] if cases else None, rule),
            found=None if self.find is None else self.find(levels == Level.VERY_HIGH),
        )


def advise(advice: str, column: str | None, worst: Case | None, rule: HarmRule) -> str:
    """Return advice with the column, the value and the share that it is about."""
    if worst is None:
        return ""
    value = worst.believed.partition(" = ")[2]
    return advice.format(column=column, value=value, share=f"{share_below(worst, rule):g}")


def share_below(worst: Case, rule: HarmRule) -> float:
    """Return the largest share in hundredths that is no high belief of what a case tells.

    If the case itself is below that, it is what is no moderate belief: a share that allows what it
    is to mend is no advice.
    """
    prior = np.array([worst.prior])
    least = [float(rule.least_belief(prior, level)[0]) for level in (Level.HIGH, Level.MODERATE)]
    high, moderate = (float(np.ceil(min(each, 1.0) * 100 - 1) / 100) for each in least)
    return high if high < worst.posterior else moderate


def limit_shares(outcome: Outcome, rule: HarmRule) -> tuple[Remedy, ...]:
    """Return that the share of every value is limited that the worst cases tell of."""
    if outcome.column is None:
        return ()
    values: dict[float, list[str]] = {}
    for case in outcome.worst:
        value, share = case.believed.partition(" = ")[2], share_below(case, rule)
        if value and case.level == outcome.level and 0 < share < 1:
            values.setdefault(share, []).append(value)
    models = tuple(
        AlphaKAnonymity(outcome.column, share, LEAST_CLASS, tuple(dict.fromkeys(texts)))
        for share, texts in values.items()
    )
    return (PromiseMore(models),) if models else ()


@dataclass(frozen=True, eq=False)
class Finding:
    """What an attack found: which classes are vulnerable, and how many rows are in them.

    Example:
        >>> from sfumato.attacks import Homogeneity
        >>> rows = [("A", "flu"), ("A", "flu"), ("B", "flu"), ("B", "gout")]
        >>> finding = Homogeneity("disease").run(classes_of(rows, column="disease"))
        >>> print(finding)
        homogeneity(disease) exposes 2 of 4 rows, in 1 of 2 classes
        >>> finding.suffers, finding.share, finding.vulnerable.tolist()
        (True, 0.5, [True, False])
        >>> finding.prior.tolist()[0], finding.posterior.tolist()[0], finding.believed(0)
        (0.75, 1.0, 'disease = flu')
    """

    attack: ClassAttack
    vulnerable: BoolArray
    """One verdict per class, in the order of the classes. Read-only."""

    class_rows: IntArray
    """The number of rows each class stands for."""

    prior: FloatArray
    """Per class, what an adversary who never saw the release believes of its people."""

    posterior: FloatArray
    """What an adversary who saw it believes: the likeliest statement of the attack's kind."""

    believed: Callable[[int], str] = field(repr=False)
    """Gives that statement for a class, in words."""

    secrecy: IntArray | None = None
    """How much what is believed of each class is a secret; None if it is ordinary."""

    chance: "Callable[[HarmRule], Chance] | None" = field(default=None, repr=False)
    """Gives how far independence explains what is believed, if it can."""

    people: ClassPeople | None = field(default=None, repr=False)
    """Who is in which of several classes, where people are counted, as `class_rows` then are."""

    def __post_init__(self) -> None:
        self.vulnerable.flags.writeable = False

    @property
    def name(self) -> str:
        """The attack's name."""
        return self.attack.name

    @property
    def column(self) -> str:
        """The column that was attacked."""
        return self.attack.column

    @property
    def classes(self) -> int:
        """The number of vulnerable classes."""
        return int(self.vulnerable.sum())

    @property
    def of_classes(self) -> int:
        """The number of classes."""
        return len(self.vulnerable)

    @property
    def rows(self) -> int:
        """The number of rows in vulnerable classes, or of people, every one once."""
        if self.people is not None:
            return int(self.people.at_worst(self.vulnerable.astype(np.int64), 2)[1])
        return int(self.class_rows[self.vulnerable].sum())

    @property
    def of_rows(self) -> int:
        """The number of rows, or of people."""
        return int(self.class_rows.sum()) if self.people is None else self.people.total

    @property
    def share(self) -> float:
        """The share of rows in vulnerable classes; 0 for an empty table."""
        return self.rows / max(self.of_rows, 1)

    @property
    def suffers(self) -> bool:
        """Whether the attack succeeds anywhere: one class is enough."""
        return bool(self.vulnerable.any())

    def outcome(self, target: Target, rule: HarmRule) -> Outcome:
        """Return the figures of an attack by the rule, and the classes that are worst off."""
        beliefs = Beliefs(
            self.class_rows,
            self.prior,
            self.posterior,
            target.who,
            self.believed,
            self.secrecy,
            None if self.chance is None else self.chance(rule),
            applies=self.vulnerable,
            people=self.people,
            find=target.find_classes,
        )
        return beliefs.outcome(self.attack, self.column, rule)

    def to_dict(self) -> dict[str, Any]:
        """Return the attack, its settings and the figures as plain values, ready for JSON."""
        figures = ("suffers", "classes", "of_classes", "rows", "of_rows", "share")
        return {
            "attack": self.name,
            **self.attack.params(),
            **{figure: getattr(self, figure) for figure in figures},
        }

    def __str__(self) -> str:
        unit = "rows" if self.people is None else "people"
        if not self.suffers:
            return f"{self.attack} exposes none of {self.of_rows} {unit}"
        return (
            f"{self.attack} exposes {self.rows} of {self.of_rows} {unit}, "
            f"in {self.classes} of {self.of_classes} classes"
        )


def _plain(value: object) -> object:
    """Make a value of a table, or a list of them, one that JSON can hold."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    return value if value is None or isinstance(value, bool | int | float | str) else text_of(value)


def _format_setting(name: str, value: object) -> str:
    if name == "column":
        return str(value)
    return f"{len(value)} {name}" if isinstance(value, list) else f"{name}={value}"


def accept(outcome: Outcome, accepted: Sequence[Acceptance]) -> Outcome:
    """Return an outcome with the reason for which a policy accepts it, if it does."""
    if not outcome.level or not outcome.judged:
        return outcome
    for each in accepted:
        if each.covers(outcome.attack, outcome.columns, outcome.concerned):
            return replace(outcome, accepted=str(each))
    return outcome
