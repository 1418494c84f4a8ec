"""Ordered categories: neighbours are grouped, and labels say from which to which."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

from sfumato.dataclasses import dataclass
from sfumato.errors import HierarchyError, ParameterError, some
from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder
from sfumato.hierarchy.labels import Stretch, stretch_of
from sfumato.hierarchy.language import DEFAULT, Language, language_of
from sfumato.hierarchy.unlisted import Unlisted, name_for_others, require_unlisted
from sfumato.lists import read_lists
from sfumato.patterns import late
from sfumato.text import STAR, number_of, text_of
from sfumato.typing import Value

_MOST_ORDERED = 60
"""The most values that a person would put in order by hand."""


@dataclass(frozen=True)
class OrderedCategories(HierarchyBuilder):
    """Categories with an order: never, rarely, sometimes, often, always.

    Neighbours become one group, from both ends, and groups of groups: `never to rarely`,
    `sometimes`, `often to always`. The groups depend on the order alone and on no counts. Bands
    such as `18-24` and `65+` are written as ranges: `18 to 34`, `65 or more`.

    Args:
        order: All categories, the least first. Without it, it must be a scale that is known: bands
            of numbers, or words such as never … always, poor … excellent, low … high.
        apart: Values that have no place in the order (do not know); they stay by themselves until
            the top.
        new: What becomes of a value that neither names: `refuse` stops, `other` puts them all
            into one group.
        language: The language of labels: en, de, fr, es, it or nl.

    Example:
        >>> often = ["never", "rarely", "sometimes", "often", "always"]
        >>> OrderedCategories(often).build("smokes", often).labels[1:]
        (('never to rarely', 'sometimes', 'often to always'),
         ('never to sometimes', 'often to always'), ('*',))
    """

    name: ClassVar[str] = "ordered"
    title: ClassVar[str] = "Ordered categories"
    in_words: ClassVar[str] = "Neighbours in an order become one group."

    order: Sequence[str] | None = None
    apart: Sequence[str] = ()
    new: Unlisted = "refuse"
    language: str = DEFAULT

    def __post_init__(self) -> None:
        language_of(self.language)
        require_unlisted(self.new)
        for name in ("order", "apart"):
            given = getattr(self, name)
            if given is None:
                continue
            if not isinstance(given, list | tuple):
                raise ParameterError(name, given, "a list of values")
            object.__setattr__(self, name, tuple(map(text_of, given)))
        everything = [*(self.order or ()), *self.apart]
        if len(set(everything)) < len(everything):
            raise ParameterError("order", list(self.order or ()), "each value once")
        if self.order is not None and len(self.order) < 2:
            raise ParameterError("order", list(self.order), "at least two values")

    def in_language(self, language: str) -> Self:
        return replace(self, language=language)

    @property
    def fixed_height(self) -> int | None:
        return None if self.order is None else len(_neighbours(len(self.order))) + 1

    @property
    def states_domain(self) -> bool:
        return False  # drafts read orders off tables

    @property
    def states_values(self) -> bool:
        return self.order is not None and self.new == "refuse"

    @property
    def takes_unlisted(self) -> bool:
        return self.order is not None and self.new == "other"

    def build_stated(self, column: str) -> Hierarchy | None:
        return None if self.order is None else self.build(column, ())

    def build(
        self,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
    ) -> Hierarchy:
        values = values or [*(self.order or ()), *self.apart]
        texts = [text_of(value) for value in values]
        order, apart = self.order, {*self.apart}
        if order is None:
            found = order_of([text for text in texts if text not in apart])
            if found is None:
                raise HierarchyError(
                    f"{column!r} has values whose order is not known: {some(texts)}. Give it: "
                    "{kind: ordered, order: [low, medium, high]}, the least first."
                )
            order, apart = found.order, {*apart, *found.apart}
        place = {text: i for i, text in enumerate(order)}
        unknown = [text for text in texts if text not in place and text not in apart]
        if unknown and not self.takes_unlisted:
            raise HierarchyError(
                f"{column!r} has {len(unknown)} values that its order does not name: "
                f"{some(unknown)}. Put them into order, or into apart if they have no place there."
            )
        named = _names(order, {*texts, *apart}, language_of(self.language))
        others = name_for_others({*texts, *apart, *order}.union(*named), self.language)

        def path(value: Value) -> tuple[str, ...]:
            text = text_of(value)
            if text not in place and text not in apart:
                return (*(others for _ in named), STAR)
            return (*(text if text in apart else level[place[text]] for level in named), STAR)

        return Hierarchy.from_function(column, values, path)

    @classmethod
    def begin(
        cls,
        column: str,  # noqa: ARG003 - of any column
        values: Sequence[Value],
        counts: Sequence[int],  # noqa: ARG003 - each counts once
    ) -> HierarchyBuilder:
        texts = [text_of(value) for value in values]
        order = order_of(texts)
        return cls(*order) if order else cls(texts)

    @classmethod
    def fits(cls, column: str, values: Sequence[Value]) -> bool:  # noqa: ARG003 - any column
        return 2 <= len(values) <= _MOST_ORDERED

    @classmethod
    def example(cls) -> Self:
        return cls(["never", "rarely", "sometimes", "often", "always"], ["no answer"])

    @classmethod
    def example_values(cls) -> list[Value]:
        return ["rarely", "always", "sometimes", "no answer", "never"]


def _names(order: Sequence[str], others: set[str], words: Language) -> list[list[str]]:
    """Return for each level the label of each category."""
    bands = _bands(order)
    taken = {*order, *others}
    levels = []
    for groups in _neighbours(len(order)):
        labels: list[str] = []
        for first, last in groups:
            if bands is not None:
                after = bands[last + 1] if last + 1 < len(bands) else None
                name = _union(bands[first], bands[last], after, words)
                name = name if name not in taken or first == last else f"{name} together"
            elif first == last:
                name = order[first]
            else:
                name = _join_ends(order[first], order[last], words)
                while name in taken:
                    name += "'"
            labels += [name] * (last - first + 1)
        levels.append(labels)
    return levels


def _join_ends(first: str, last: str, words: Language) -> str:
    """Write from which category to which, so that words within one are not taken for that."""
    if words.code == DEFAULT and any(" to " in name for name in (first, last)):
        return f"{first} through {last}"
    return words.say("range", low=first, high=last)


Group = tuple[int, int]


def _neighbours(n: int) -> list[list[Group]]:
    """Group neighbours from both ends, level by level, down to two groups.

    >>> _neighbours(5)
    [[(0, 1), (2, 2), (3, 4)], [(0, 2), (3, 4)]]
    """
    levels = []
    groups = [(i, i) for i in range(n)]
    while len(groups) > 2:
        m = len(groups)
        half = (m - 1) // 2
        if m % 2 == 0:
            sizes = [2] * (m // 2)
        elif m == 3:
            sizes = [2, 1]
        elif half % 2:
            sizes = [2] * (half // 2) + [3] + [2] * (half // 2)
        else:
            sizes = [2] * (half // 2) + [1] + [2] * (half // 2)
        joined, at = [], 0
        for size in sizes:
            joined.append((groups[at][0], groups[at + size - 1][1]))
            at += size
        groups = joined
        levels.append(groups)
    return levels


# Orders that are known: bands of numbers, and scales of words.


class Order(NamedTuple):
    """Values in their order, and those that have no place in it."""

    order: tuple[str, ...]
    apart: tuple[str, ...]


_LEAST = 3
"""Values from which on an order says something."""


def order_of(texts: Sequence[str]) -> Order | None:
    """Return the order of values that are bands of numbers or words of a known scale, else None.

    Answers such as `do not know` are apart from it.

    >>> order_of(["65+", "18-24", "25-64", "unknown"])
    Order(order=('18-24', '25-64', '65+'), apart=('unknown',))
    >>> order_of(["oft", "nie", "manchmal"]).order
    ('nie', 'manchmal', 'oft')
    """
    apart = [text for text in texts if is_no_answer(text)]
    known = [text for text in texts if not is_no_answer(text)]
    if len(known) < _LEAST:
        return None
    order = _order_of_bands(known) or _order_of_words(known)
    return None if order is None else Order(tuple(order), tuple(sorted(apart)))


def is_no_answer(text: str) -> bool:
    """Return whether a text says that there was no answer, so that it has no place in an order.

    >>> is_no_answer("Don't know"), is_no_answer("never")
    (True, False)
    """
    return fold_words(text) in _no_answers()


def is_unsaid(text: str) -> bool:
    """Return whether a text says that nothing was said: it is no value of anybody.

    >>> [is_unsaid(text) for text in ("k. A.", "Unknown", "?", "none", "not applicable")]
    [True, True, True, False, False]
    """
    return fold_words(text) in _unsaid() or bool(_UNSAID_SIGNS.fullmatch(text.strip()))


_UNSAID_SIGNS = late(r"[?./–—]+|--+")


def _order_of_words(texts: Sequence[str]) -> list[str] | None:
    folded = {text: fold_words(text) for text in texts}
    for scale in _scales():
        if all(words in scale for words in folded.values()):
            steps = {text: scale[words] for text, words in folded.items()}
            if len({*steps.values()}) >= _LEAST:
                return sorted(texts, key=lambda text: (steps[text], text))
    return None


def fold_words(text: str) -> str:
    """Return a text in small letters, with one blank between words and none of its marks.

    >>> fold_words("  Married-civ-spouse "), fold_words("Don't know!")
    ('married civ spouse', 'dont know')
    """
    plain = re.sub(r"['’]", "", text.casefold())
    return " ".join(re.sub(r"[^\w<>+]|_", " ", plain).split())


_UNITS = late(
    r"\b(?:years?|yrs?|y|jahren?|age[sd]?|alter|months?|monaten?|days?|tagen?|hours?|stunden?|usd|eur"
    r"|euros?|dollars?|pounds?|gbp|kg|g|cm|mm|km|miles?|persons?|people|employees|mitarbeiter"
    r"|ans|mois|jours|heures|años?|meses|días|horas|anni|mesi|giorni|ore|jaar|maanden|dagen|uren"
    r"|per|pro|a(?= week)|week|woche|of(?! (?:meer|minder|later))|old)\b\.?"
)
_CURRENCY = late(r"[$€£¥]|\bca\.|\bapprox\.?|\babout\b")
_WORDS = (
    (late(r"\bbis (?:unter|zu unter)\b|\bto less than\b"), "to under"),
    (late(r"^bis (?:zu )?(?=[\d.]+$)"), "up to "),
    (late(r"\bbis\b"), "to"),
    (late(r"\b(?:unter|weniger als|jünger als|lt)\b"), "under"),
    (late(r"\b(?:über|mehr als|älter als|gt)\b"), "over"),
    (late(r"\b(?:ab|mindestens)\b"), "at least"),
    (late(r"\b(?:höchstens|maximal)\b"), "at most"),
    (late(r"\b(?:und|oder) (?:mehr|älter|darüber|höher)\b|\bplus\b"), "or more"),
    (late(r"\b(?:and|or) (?:higher|greater|longer|beyond)\b"), "or more"),
    (
        late(r"\b(?:and|or) (?:lower|shorter)\b|\b(?:und|oder) (?:weniger|jünger)\b"),
        "or less",
    ),
)
_THOUSANDS = late(r"(?<=\d)[,.'’ \u00a0\u202f](?=\d{3}(?!\d))")
_GLUED = late(r"(?<=\d)(?=[^\W\d_])(?!e[-+]?\d)")
"""Where a unit stands right behind a number."""

_LONGEST_BAND = 200
"""Characters of a band; what is longer is none, and would be tried at every place."""

_SHORT = late(r"(\d+(?:\.\d+)?) ?(k|tsd|m|mio)\b")


def band_of(text: str) -> Stretch | None:
    """Read a band of numbers as people write them, with units, in English or German.

    >>> for text in ("18-24", "<$10k", "10,000 to 20,000", "75 Jahre und älter"):
    ...     print(band_of(text)[:3])
    (18.0, 24.0, True)
    (-inf, 10000.0, False)
    (10000.0, 20000.0, True)
    (75.0, inf, True)
    >>> band_of("young")
    """
    if len(text) > _LONGEST_BAND or not any(char.isdigit() for char in text):
        return None
    plain = text.casefold().replace("–", "-").replace("—", "-")
    plain = _SHORT.sub(_written_out, _THOUSANDS.sub("", _CURRENCY.sub("", plain)))
    plain = " ".join(_UNITS.sub(" ", _GLUED.sub(" ", plain)).split())
    for pattern, word in _WORDS:
        plain = pattern.sub(word, plain)
    plain = re.sub(r" ?- ?", "-", plain)
    plain = re.sub(r"(\d) \+", r"\1+", plain)
    number = number_of(plain)
    return stretch_of(plain, number_of) if number is None else Stretch(number, number, closed=True)


def _written_out(found: re.Match[str]) -> str:
    times = 1000 if found[2] in ("k", "tsd") else 1_000_000
    return f"{float(found[1]) * times:.10g}" if float(found[1]) * times < 1e10 else found[0]


def _bands(order: Sequence[str]) -> list[Stretch] | None:
    """Read categories as bands that follow each other; None if they are none."""
    read = [band_of(text) for text in order]
    bands = [each for each in read if each is not None]
    if len(bands) < len(order) or sum(each.low < each.high for each in bands) < 2:
        return None
    follow = all(a.high <= b.low and a.low < b.high for a, b in pairwise(bands))
    return bands if follow else None


def _order_of_bands(texts: Sequence[str]) -> list[str] | None:
    read = {text: band_of(text) for text in texts}
    if any(each is None for each in read.values()):
        return None
    order = sorted(texts, key=lambda text: (read[text], text))
    return order if _bands(order) is not None else None


def _union(first: Stretch, last: Stretch, after: Stretch | None, words: Language) -> str:
    """Write everything from one band to another; `after` is the next one, if there is one."""
    low, high = (text_of(end) for end in (first.low, last.high))
    if first.low == float("-inf"):
        if not last.closed:
            return words.say("under", high=high)
        if after is None or after.after:
            return words.say("or less", high=high)
        return words.say("under", high=text_of(after.low))
    if last.high == float("inf"):
        what = "over" if first.after else "or more"
        return words.say(what, low=text_of(first.begin))
    if first.low == last.high:
        return low
    low = text_of(first.begin)
    return words.say("range" if last.closed else "to under", low=low, high=high)


_FILE = Path(__file__).with_name("scales.txt")


@lru_cache(maxsize=1)
def _no_answers() -> frozenset[str]:
    return frozenset(["", *map(str.strip, read_lists(_FILE)["no answer"].split(","))])


@lru_cache(maxsize=1)
def _unsaid() -> frozenset[str]:
    listed = read_lists(_FILE)["unsaid"].replace("\n", " ").split(",")
    return frozenset(fold_words(each) for each in listed)


@lru_cache(maxsize=1)
def _scales() -> tuple[Mapping[str, int], ...]:
    """The known scales: which step each word is."""
    found = []
    for scale in read_lists(_FILE)["scales"].split("\n\n"):
        steps: dict[str, int] = {}
        for i, step in enumerate(scale.replace("\n", " ").split("|")):
            for words in step.split("/"):
                steps.setdefault(fold_words(words), i)
        found.append(steps)
    return tuple(found)
