"""Parts that different values share: items of lists, terms, spellings, codes of one branch."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from sfumato.attacks.amounts import readings_of
from sfumato.lists import read_lists
from sfumato.patterns import late
from sfumato.text import fold_spelling

_BETWEEN_ITEMS = late(
    r"[;|\n\t/•·、，；]|(?<=\w)[#^~](?=\w)|<br ?/?>|\s(?:[-–+&]|and|und|et|y)\s|(?<!\d),|,(?!\d)"
    r"|(?:^|\s)\d{1,2}[.)]\s|(?<=['\"])\s+(?=['\"])"
)
"""What stands between the items of a list, or before each; not the comma of a number."""

_BRACKETS = late(r"\s*[\[({](.*)[\])}]\s*", re.DOTALL)
"""A list as programs write it, whose items are perhaps in quotes."""

_IDLE = late(
    r"""[\s_;:"'«»„“”‘’()\[\]{}]|(?<=[^\W\d_])=(?=\w)|(?<!\d)[.,]|[.,](?!\d)|(?<=[^\W_])-(?=[^\W\d_])|(?<=[^\W\d_])-(?=[^\W_])"""
)
"""Signs that make no other value of a text: all but those by which A+ is not A-, nor <5 5."""

_DASHES = late("[\u2010-\u2015\u2212]")

_CODES = (
    # The International Classification of Diseases: F20.1 is one of F20, and that one of F.
    (late(r"[A-Z]\d[0-9A-Z](?:\.?[0-9A-Z]{1,4})?"), (3, 1)),
    # The classification of drugs: N06AB03 is one of N06AB, N06A, N06 and N.
    (late(r"[A-Z]\d{2}[A-Z]{2}\d{2}"), (5, 4, 3, 1)),
)

_LOOKS = str.maketrans(
    "авекмнорстухѕіјԁԛԝαβεικνορτυχ",
    "abekmhopctyxsijdqwabeikvoptux",
)
"""Letters of other alphabets that look like Latin ones."""


def items_of(text: str) -> set[str]:
    """Return the items of a list: of `E11; I10` the two.

    >>> sorted(items_of("gout; Flu")), sorted(items_of("['gout', 'Flu']"))
    (['flu', 'gout'], ['flu', 'gout'])
    """
    inside = _BRACKETS.fullmatch(text)
    items = _BETWEEN_ITEMS.split(text if inside is None else inside[1])
    return {fold_spelling(item.strip(" \"'")) for item in items} - {""}


def parts_of(text: str) -> set[str]:
    """Return what a value may have in common with others that are written differently.

    >>> sorted(parts_of("F20.1")), sorted(parts_of("1,5 mg"))
    (['F20…', 'F…', 'f20.1'], ['1,5mg', '= 1.5 mg'])
    """
    found = {bare_spelling(text)} | readings_of(text)
    bare = text.strip()
    for pattern, lengths in _CODES:
        if pattern.fullmatch(bare):
            found |= {f"{bare[:n]}…" for n in lengths if n < len(bare)}
    return found - {""}


def answers_of(texts: Sequence[str]) -> list[set[str]]:
    """Return for each text of a column whether it says yes or no, if nearly all say one of them.

    >>> answers_of(["ja", "Yes", "0", "pos."])
    [{'= yes'}, {'= yes'}, {'= no'}, {'= yes'}]
    >>> answers_of(["x", "y", "z", "w"])
    [set(), set(), set(), set()]
    """
    bare = [text.strip(" .'\"").casefold() for text in texts]
    said = [{word for word, all_ in _ANSWERS.items() if each in all_} for each in bare]
    both = {word for each in said for word in each}
    few = len(both) < len(_ANSWERS) or sum(map(bool, said)) < _NEARLY_ALL * len(said)
    return [set() if few else {f"= {word}" for word in each} for each in said]


def meanings_of(texts: Sequence[str]) -> list[set[str]]:
    """Return for each text of a column what it means in whatever language, if nearly all are known.

    >>> meanings_of(["veuf", "Widowed", "ledig", "single"])
    [{'= widowed'}, {'= widowed'}, {'= single'}, {'= single'}]
    >>> meanings_of(["single", "album", "live"])
    [set(), set(), set()]
    """
    bare = [_words_of(text) for text in texts]
    for meanings in _meanings():
        said = [meanings.get(each) for each in bare]
        if sum(map(bool, said)) >= _NEARLY_ALL * len(said):
            return [{f"= {word}"} if word else set() for word in said]
    return [set() for _ in texts]


@lru_cache(maxsize=1)
def _meanings() -> tuple[Mapping[str, str], ...]:
    """Return for each list of values what each way to say one means."""
    found = []
    for text in read_lists(Path(__file__).with_name("synonyms.txt")).values():
        ways = [line.split("/") for line in text.splitlines()]
        found.append({_words_of(way): some[0] for some in ways for way in some})
    return tuple(found)


def _words_of(text: str) -> str:
    return " ".join(_IDLE.sub(" ", _DASHES.sub("-", _plain(text))).split())


_NEARLY_ALL = 0.8


def terms_of(texts: Sequence[str]) -> list[set[str]]:
    """Return for each text of a column the shorter terms that it qualifies.

    `HIV (B20)`, `HIV pos.` and `acute HIV` are all HIV if that is how one of them begins before its
    brackets or its colon, or if HIV alone is a value of the column. No list of words says so: a
    term is what the column itself writes without the rest. Where it never does, as in `HIV stage A`
    and `HIV since 2012`, numbers, letters and words for stages, courses and doubt are left out.
    What is said not to be, is not: `no HIV`.

    >>> [sorted(found) for found in terms_of(["HIV (B20)", "HIV pos.", "Hives", "flu", "flu"])]
    [['hiv …'], ['hiv …'], [], [], []]
    >>> [sorted(found) for found in terms_of(["HIV stage A", "HIV since 2012", "flu"])]
    [['hiv …'], ['hiv …'], []]
    >>> terms_of(["type A", "type B", "C", "C#", "married", "never-married"])
    [set(), set(), set(), set(), set(), set()]
    """
    words = [_words(text) for text in texts]
    terms = {_bare(each) for each in words if each}
    heads = (text[: found.start()] for text in texts if (found := _BEYOND.search(text)))
    terms |= {_bare(_words(head)) for head in heads if len(head) <= _LONGEST_HEAD}
    terms |= {_core_of(each) for each in words if len(each) <= _MOST_WORDS}
    # A number names nothing, and a long text is nothing that others qualify.
    terms = {t for t in terms if len(t) <= _LONGEST and any(map(str.isalpha, "".join(t)))}
    spelt = {each for each in words if len(each) <= _MOST_WORDS}
    held = {each: _parts_among(each, terms) for each in spelt}
    several = Counter(term for found in held.values() for term in found)
    return [
        {f"{' '.join(term)} …" for term in held.get(each, ()) if several[term] > 1}
        for each in words
    ]


_BEYOND = late(r"[\[({:]")
"""Where what only qualifies a text begins: its first bracket or colon."""

_LONGEST_HEAD = 400
"""The most characters before it: what is longer is prose."""

_LONGEST = 6
"""The most words of a term."""

_MOST_WORDS = 30
"""Longer texts are prose."""


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text, each with the signs that make another of it.

    A mark before a word says that a hyphen joins it to the one before.
    """
    marked = _HYPHEN.sub(f" {_JOINED}", _DASHES.sub("-", _plain(text)))
    # HIV+ is said of HIV; C++ is no C, and A+ no A.
    marked = _RUN_ON.sub(" ", _POSITIVE.sub(" ", marked))
    return tuple(_IDLE.sub(" ", marked).split())


def _bare(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.removeprefix(_JOINED) for word in words)


def _core_of(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is left of some words without what only qualifies; nothing if all of it does.

    >>> [_core_of(words) for words in (("krebs", "stadium", "ii"), ("acute", "hepatitis", "c"))]
    [('krebs',), ('hepatitis',)]
    >>> _core_of(("a", "1"))
    ()
    """
    bare = _bare(words)
    first = next((at for at, word in enumerate(bare) if not _qualifies(word)), len(bare))
    rest = bare[first:]
    end = next((at for at, word in enumerate(rest) if _qualifies(word) or word in _SIDES), None)
    # A number at the end of a word that others precede is that of a stage.
    named = [word.rstrip("0123456789") if at else word for at, word in enumerate(rest[:end])]
    if named and named[-1] in _QUALIFIERS:
        named.pop()
    while named and named[-1] in _LINKS:
        named.pop()
    return tuple(named) if any(len(word) > 2 for word in named) else ()


def _qualifies(word: str) -> bool:
    """Return whether a word is a number, a letter, or one that says which of a kind."""
    return len(word) < 2 or word.isdigit() or word in _QUALIFIERS or bool(_ROMAN.fullmatch(word))


_ROMAN = late("(?:i{1,3}|iv|vi{0,3}|ix|x)[abc]?")


def _list_of(heading: str) -> frozenset[str]:
    return frozenset(read_lists(Path(__file__).with_name("qualifiers.txt"))[heading].split())


_QUALIFIERS = _list_of("qualifiers")
_SIDES = _list_of("sides")
_LINKS = _list_of("links")
_NEGATIONS = _list_of("negations")

_ANSWERS = {word: _list_of(word) for word in ("yes", "no")}

_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_POSITIVE = re.compile(r"(?<=[^\W\d_]{3})\++(?=\s|$)")
_RUN_ON = re.compile(r"(?<=[^\W\d_]{3})(?=\d{3})|(?<=\d\d)(?=[^\W\d_]{3})")
"""Where a number that stands for a case begins or ends in `hiv1234` and `173gout`; not in `B12`."""

_JOINED = "\N{WORD JOINER}"


def _parts_among(
    words: tuple[str, ...], terms: Collection[tuple[str, ...]]
) -> set[tuple[str, ...]]:
    """Return the terms that stand in some words, in one piece.

    None begins with what a hyphen joins to a word before: never-married is not married, nor is who
    was never married.
    """
    bare = _bare(words)
    starts = [
        at
        for at, word in enumerate(words)
        if not word.startswith(_JOINED) and not (at and bare[at - 1] in _NEGATIONS)
    ]
    runs = {bare[at:end] for at in starts for end in range(at + 1, at + _LONGEST + 1)}
    return runs.intersection(terms)


def is_branch(part: str) -> bool:
    """Return whether a part begins the codes of one branch, or is a term of several values."""
    return part.endswith("…")


def bare_spelling(text: str) -> str:
    """Return a text as it looks, without accents and the signs that make no other value of it.

    >>> {bare_spelling(t) for t in ("HIV-1", "hiv 1", "«HIV_1»", "НIV1", "H.I.V. 1")}
    {'hiv1'}
    >>> [bare_spelling(t) for t in ("A+", "A-", "<5", "1-2", "Ménière")]
    ['a+', 'a-', '<5', '1-2', 'meniere']
    """
    return _IDLE.sub("", _DASHES.sub("-", _plain(text)))


@lru_cache(maxsize=65_536)
def _plain(text: str) -> str:
    if text.isascii():
        return text.lower()
    split = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    seen = "".join(c for c in split if not unicodedata.category(c).startswith(("M", "Cf")))
    # A word is in one alphabet; what looks Latin beside Latin letters is meant to be.
    mixed = any("a" <= c <= "z" for c in seen)
    return seen.translate(_LOOKS) if mixed else seen
