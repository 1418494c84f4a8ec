"""The linking attack: whose row is this?"""

from dataclasses import replace
from typing import ClassVar, NamedTuple, Self

import numpy as np

from sfumato.attacks.at_risk import PeopleFound
from sfumato.attacks.base import LEAST_CLASS, MOST_CASES, Attack, Case, Outcome
from sfumato.attacks.target import Target
from sfumato.counts import add_up
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, suggest
from sfumato.harm import HarmRule, Level
from sfumato.models import MODELS, KAnonymity
from sfumato.policy.remedies import PromiseMore, Remedy
from sfumato.text import percent
from sfumato.typing import FloatArray, IntArray

PROSECUTOR, JOURNALIST = "prosecutor", "journalist"
_VIEWS = (PROSECUTOR, JOURNALIST)


@dataclass(frozen=True)
class Linking(Attack):
    """Look for a person's row among those that fit what is known of the person.

    Who knows that a person is in the data (the prosecutor) finds the row among as many as the
    person's class has. Who has a row and a list of people (the journalist) finds its owner among
    the people of the list who fit the class: n people hide each other, so either is right with
    1/n. Where a list has fewer people who fit than there are rows, it lacks some of them, and
    the rows hide each other. Rows that say nothing but `*` are of those who fit no other class:
    of n such rows, any is such a person's with 1/n. Where people have several rows, n counts
    people; who is in several classes is at risk in the smallest of them.
    A release that promises k-map or δ-presence is made for people who are not
    known to be in the data: what the prosecutor finds there is told, and no reason to refuse.

    Finds: how surely a row is a person's, and whose if the list has names. With it stand the
    largest risk in the eyes of either, and the marketer's: the share of all rows that is
    expected to be linked right if as many as possible are linked at random.
    Does not find: what a class tells without knowing which row is whose (see `Homogeneity`);
    lists that others have and you do not; values that others know and that are no
    quasi-identifiers.

    Reference: El Emam and Dankar, "Protecting privacy using k-anonymity", Journal of the American
    Medical Informatics Association 15(5), 2008, doi:10.1197/jamia.M2716

    Args:
        view: The adversary's view: `prosecutor`, or `journalist`, which needs a list.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> rows = [("2*", "flu"), ("2*", "gout"), ("3*", "hiv")]
        >>> counts = FrequencySet.from_rows(["age", "ill"], rows)
        >>> print(Linking().on(Target.of_table(counts, ("age",), ("ill",)), HarmRule()))
        linking: 1 of 3 people at risk; strongest belief 100 %, 33 % before
    """

    name: ClassVar[str] = "linking"
    links: ClassVar[bool] = True
    how: ClassVar[str] = (
        "Looks for the person's row among those that fit what is known of the person, "
        "and takes one of them."
    )
    advice: ClassVar[str] = "Promise larger classes: models: [{{model: k-anonymity, k: 5}}]."

    view: str = PROSECUTOR

    def remedies(self, outcome: Outcome, rule: HarmRule) -> tuple[Remedy, ...]:
        return (PromiseMore((KAnonymity(LEAST_CLASS),)),)

    def __post_init__(self) -> None:
        if self.view not in _VIEWS:
            hint = suggest(str(self.view), _VIEWS)
            raise ParameterError("view", self.view, "in whose eyes a person is linked", why=hint)

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        if not (target.looks_alike and target.columns):
            return []
        return [cls(view) for view in _VIEWS if view == PROSECUTOR or _has_list(target)]

    @classmethod
    def why_not(cls, target: Target) -> str:
        if not target.looks_alike:
            return "its buckets hold people who look different: no row is linked to a value"
        return "the release has no quasi-identifier"

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        if self.view == JOURNALIST and not _has_list(target):
            raise ParameterError(
                "view", self.view, f"{PROSECUTOR!r} without a list of people to link with"
            )
        links = _link(target, self.view)
        prior = np.full(len(links.risk), links.prior)
        # A row that is found is no value learned yet: one in five, as promised so often, is low.
        judging = replace(rule, moderate=rule.high)
        levels = judging.levels(prior, links.risk)
        worst = self._worst(target, links, levels)

        people = _count(target, links, levels)
        return Outcome(
            self.name,
            None,
            people=people[Level.VERY_HIGH],
            high=people[Level.HIGH],
            of=target.classes.n_people,
            prior=worst[0].prior if worst else 0.0,
            posterior=worst[0].posterior if worst else 0.0,
            threshold=rule.very_high,
            worst=worst,
            how=self.how,
            judged=not self._is_excused(target),
            note=self._note(target),
            advice=self.advice.format(),
            found=self._find(target, levels),
            settings={"view": self.view, **views(target)},
        )

    def _find(self, target: Target, levels: IntArray) -> PeopleFound | None:
        """Return whose rows are found; of a list of people no one can say who they are."""
        if self.view != PROSECUTOR:
            return None
        return target.find_classes(levels == Level.VERY_HIGH)

    def _worst(self, target: Target, links: "_Links", levels: IntArray) -> tuple[Case, ...]:
        order = np.lexsort((-links.people, -links.risk, -levels))
        found = [i for i in order[:MOST_CASES].tolist() if links.risk[i] > 0]
        return tuple(
            Case(
                target.who(i),
                int(target.classes.inside[i]),
                self._belief(target, i),
                links.prior,
                float(links.risk[i]),
                Level(int(levels[i])),
            )
            for i in found
        )

    def _belief(self, target: Target, at: int) -> str:
        if self.view == PROSECUTOR or target.outside is None:
            return "the row is the person's"
        name = target.outside.who(int(target.outside.of_class[at]))
        return "the row belongs to one of the list" if name is None else f"the row is of {name}"

    def _note(self, target: Target) -> str:
        if self._is_excused(target):
            promises = " and ".join(sorted(_to_unknown(target)))
            return (
                f"told and not judged: {promises} protects people of whom no adversary knows that "
                f"they are in the data; {self._risks(target)}"
            )
        return self._risks(target)

    def _is_excused(self, target: Target) -> bool:
        """Return whether a release is not made for those who know who is in the data."""
        return self.view == PROSECUTOR and bool(_to_unknown(target))

    def _risks(self, target: Target) -> str:
        told = [f"{name.partition('_')[0]} {percent(risk)}" for name, risk in views(target).items()]
        return f"in the eyes of a {self.view}; largest risk by view: {', '.join(told)} on average"


def _to_unknown(target: Target) -> set[str]:
    """Return the promises to people of whom no adversary knows that they are in the data."""
    return {name for name in target.promised if name in MODELS and MODELS[name].of_population}


def views(target: Target) -> dict[str, float]:
    """Return the largest risk in each view; the journalist's only if there is a list.

    >>> from sfumato.counts import FrequencySet
    >>> counts = FrequencySet.from_rows(["age"], [("2*",), ("2*",), ("2*",), ("3*",)])
    >>> views(Target.of_table(counts, ("age",), ()))
    {'prosecutor_risk': 1.0, 'marketer_risk': 0.5}
    """
    seen = _VIEWS if _has_list(target) else _VIEWS[:1]
    links = {view: _link(target, view) for view in seen}
    found = {f"{v}_risk": float(each.risk.max(initial=0.0)) for v, each in links.items()}
    # Who links at random is right as often as each guess is on average, with a list if there is.
    last = links[seen[-1]]
    right = float((last.people * last.risk).sum())
    return {**found, "marketer_risk": right / max(int(target.classes.inside.sum()), 1)}


class _Links(NamedTuple):
    """Per class: how surely a row is linked, and how many of its rows can be."""

    risk: FloatArray
    people: FloatArray
    among: int
    """The number of values to choose from before the release is looked at."""

    @property
    def prior(self) -> float:
        """The chance of a guess before the release; 0 if there is one row only."""
        return 1 / self.among if self.among > 1 else 0.0


def _link(target: Target, view: str) -> _Links:
    classes = target.classes
    rows = classes.inside.astype(np.float64)
    if view == PROSECUTOR:
        return _Links(1 / np.maximum(classes.sizes, 1), rows, classes.n_people)
    if target.outside is None:
        people = classes.population_sizes()
        return _of_list(people, classes.sizes, rows, int(people.sum()) + classes.unseen)
    outside = target.outside
    at = outside.of_class
    # Where missing values match all others, more rows look alike than are of the class.
    alike = np.maximum(outside.rows[at], classes.sizes)
    return _of_list(outside.fitting[at], alike, rows, outside.size)


def _count(target: Target, links: _Links, levels: IntArray) -> list[int]:
    """Return how many people are of each level, every one at the worst of their classes."""
    n = len(Level)
    linked = np.rint(add_up(levels, links.people, n)).astype(np.int64)
    people = target.classes.people
    if people is not None:
        linked = np.minimum(people.at_worst(levels, n), linked)
    found: list[int] = linked.tolist()
    return found


def _of_list(
    fitting: IntArray, alike: FloatArray | IntArray, rows: FloatArray, among: int
) -> _Links:
    hiding = np.maximum(np.maximum(fitting, alike), 1)
    # Of rows that look alike no more can be linked than there are people who fit.
    people = rows * np.minimum(fitting / np.maximum(alike, 1), 1.0)
    return _Links(np.where(fitting > 0, 1 / hiding, 0.0), people, among)


def _has_list(target: Target) -> bool:
    return target.outside is not None or target.classes.population is not None
