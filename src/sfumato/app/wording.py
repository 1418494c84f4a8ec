"""Promises, methods and losses in plain words, and where their sliders begin and end.

Nothing here decides anything: the classes themselves say what they do and take, and refuse the
rest.
"""

import csv
import inspect
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import Field
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from sfumato.app.texts import Translator
from sfumato.dataclasses import dataclass
from sfumato.losses import AGGREGATES, LOSSES
from sfumato.models import MODELS, PrivacyModel
from sfumato.models.t_closeness import CATEGORY, DISTANCES
from sfumato.partition import PARTITIONERS
from sfumato.policy.parts import default_of, descriptions, every_method, is_required, parameters
from sfumato.registry import first_sentence
from sfumato.text import percent

AGAINST: Mapping[str, str] = {
    "finding": "Against finding a person",
    "learning": "Against learning what is sensitive",
    "comparing": "Against learning more than the whole table shows",
    "presence": "Against learning who is in the data",
}
"""What promises are against, in the order in which they are offered."""

Scale = tuple[float, float, float]
"""Where a slider begins and ends, and its step."""

_SCALES: Mapping[str, Scale] = {
    "k": (2, 50, 1),
    "l": (2, 12, 1),
    "m": (1, 5, 1),
    "p": (2, 12, 1),
    "t": (0, 0.99, 0.01),
    "c": (0.5, 10, 0.5),
    "alpha": (0.05, 0.95, 0.05),
    "beta": (0.1, 5, 0.1),
    "delta": (0.1, 5, 0.1),
    "risk": (0.01, 0.5, 0.01),
    "share": (0.01, 0.99, 0.01),
    "minimum": (0, 1, 0.01),
    "maximum": (0, 1, 0.01),
    "rounds": (0, 100, 1),
    "fraction": (0.001, 1, 0.001),
    "confidence": (0.5, 0.999, 0.001),
}

_STARTS: Mapping[str, float] = {
    "k": 5, "l": 2, "m": 2, "p": 2, "t": 0.3, "c": 3.0, "alpha": 0.5, "beta": 1.0, "delta": 1.0,
    "risk": 0.2, "share": 0.5, "minimum": 0.0, "maximum": 0.5, "e": 1.0, "within": 1.0,
    "fraction": 0.01, "confidence": 0.99,
}  # fmt: skip
"""What a promise begins with when it is added; the sliders are there for the rest."""

_CHOICES: Mapping[str, Sequence[str]] = {
    "distance": (*DISTANCES, CATEGORY),
    "weight": ("rows", "distinct"),
    "aggregate": tuple(AGGREGATES),
}


@dataclass(frozen=True)
class Knob:
    """A parameter as a page shows it."""

    name: str
    means: str
    kind: Literal["number", "column", "choice", "tick", "lists", "list", "text"]
    text: str
    """Its value, as a field holds it."""

    scale: Scale | None = None
    """Where its slider begins and ends; None if it has no slider."""

    whole: bool = False
    choices: Sequence[str] = ()
    needed: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is shown at once; the others are for few."""
        return self.kind in ("column", "number") and (self.scale is not None or self.text != "")

    @property
    def on(self) -> bool:
        """Whether it is ticked."""
        return self.text == "yes"


def knobs_of(kind: type, made: object | None, columns: Sequence[str] = ()) -> list[Knob]:
    """Return the parameters of a member of a family, with the values of one that is made.

    Args:
        kind: The class.
        made: One whose values are shown; None shows what it begins with.
        columns: What `column` may be.

    >>> from sfumato.models import KAnonymity
    >>> [(knob.name, knob.text, knob.scale) for knob in knobs_of(KAnonymity, KAnonymity(7))]
    [('k', '7', (2, 50, 1))]
    """
    found = []
    known, means = _declared_parameters(kind)
    sliders: Mapping[str, Scale] = getattr(kind, "sliders", {})
    for each, (field, hint) in known.items():
        value = _start(each, None if is_required(field) else default_of(field))
        value = value if made is None else getattr(made, each)
        found.append(_knob(sliders, each, hint, value, means.get(each, each), columns))
    return found


@cache
def _declared_parameters(kind: type) -> tuple[dict[str, tuple[Field[Any], Any]], dict[str, str]]:
    """Return the parameters of a class and what they mean; a page asks for all there are."""
    return parameters(kind), descriptions(kind)


def _start(name: str, default: object) -> object:
    return _STARTS.get(name, default) if default is None else default


def _knob(
    sliders: Mapping[str, Scale],
    name: str,
    hint: Any,  # noqa: ANN401 - a type
    value: object,
    means: str,
    columns: Sequence[str],
) -> Knob:
    options = [each for each in _members(hint) if each is not NoneType]
    needed = NoneType not in _members(hint)
    if name == "column":
        return Knob(name, means, "column", str(value or ""), choices=columns, needed=True)
    if bool in options:
        return Knob(name, means, "tick", "yes" if value else "")
    choices = _CHOICES.get(name, _literals(hint))
    if choices:
        return Knob(name, means, "choice", str(value), choices=choices)
    if int in options or float in options:
        scale = sliders.get(name, _SCALES.get(name))
        text = "" if value is None else show(value)
        return Knob(name, means, "number", text, _around(scale, value), int in options)
    if any(get_origin(each) is tuple for each in options):
        inner = get_args(next(each for each in options if get_origin(each) is tuple))[0]
        kind: Literal["lists", "list"] = "lists" if get_origin(inner) is tuple else "list"
        return Knob(name, means, kind, _write_lists(value, kind), needed=needed)
    return Knob(name, means, "text", "" if value is None else str(value))


def _members(hint: Any) -> tuple[Any, ...]:  # noqa: ANN401 - a type
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _literals(hint: Any) -> tuple[str, ...]:  # noqa: ANN401 - a type
    return get_args(hint) if get_origin(hint) is Literal else ()


def _around(scale: Scale | None, value: object) -> Scale | None:
    """Return a scale that has the value on it."""
    if scale is None or not isinstance(value, int | float):
        return scale
    return min(scale[0], value), max(scale[1], value), scale[2]


def show(value: object) -> str:
    """Return a number as a field holds it.

    >>> show(5), show(0.25), show(2.0)
    ('5', '0.25', '2')
    """
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _write_lists(value: object, kind: str) -> str:
    if not isinstance(value, tuple):
        return ""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(value if kind == "lists" else [value])
    return text.getvalue().rstrip("\n")


def read_knobs(kind: type, given: Mapping[str, str]) -> dict[str, object]:
    """Return the settings that a form has, for a policy to read and to judge.

    What is no number stays as it was written, so that the policy says what is wrong with it.

    >>> from sfumato.models import KAnonymity
    >>> read_knobs(KAnonymity, {"k": "7"}), read_knobs(KAnonymity, {"k": "many"})
    ({'k': 7}, {'k': 'many'})
    """
    found: dict[str, object] = {}
    for knob in knobs_of(kind, None):
        text = given.get(knob.name, "").strip()
        if knob.kind == "tick":
            found[knob.name] = bool(text)
        elif text:
            found[knob.name] = _read(knob, text)
    return found


def _read(knob: Knob, text: str) -> object:
    if knob.kind == "number":
        return read_number(text)
    if knob.kind in ("lists", "list"):
        lines = [[cell.strip() for cell in line] for line in csv.reader(text.splitlines())]
        full = [[cell for cell in line if cell] for line in lines if any(line)]
        return full if knob.kind == "lists" else [cell for line in full for cell in line]
    return text


def read_number(text: str) -> object:
    """Return a number, or the text if it is none.

    >>> read_number("5"), read_number("0,5"), read_number("five")
    (5, 0.5, 'five')
    """
    if re.fullmatch(r"[+-]?\d{1,15}", text):
        return int(text)
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return text
    return number if math.isfinite(number) else text


def sentence_of(t: Translator, kind: type[PrivacyModel], values: Mapping[str, object]) -> str:
    """Return what a model promises, in one sentence with its numbers.

    >>> from sfumato.models import MaximumRisk
    >>> sentence_of(lambda text, **names: text.format(**names), MaximumRisk, {"risk": 0.2})
    "Who knows a person's details picks the right row with a chance of 20 % at most."
    """
    text = kind.promise_in_words(values)
    if not kind.in_words:
        return text
    named = values.get("protected")
    names: dict[str, object] = {"n": len(named)} if isinstance(named, tuple) else {}
    for name, value in values.items():
        names[name] = show(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            names |= {
                f"{name}_percent": percent(value),
                # A chance "at most" is rounded up: 1 in 8 is not 12 % at most.
                f"{name}_chance": percent(math.ceil(100 / value) / 100) if value else "–",
                f"{name}_times": show(round(1 + value, 6)),
                f"{name}_factor": f"{math.exp(min(value, 50)):.3g}",
            }
    return t(text, **names)


@cache
def limits_of(kind: type) -> str:
    """Return what a model does not promise, as its class says it; nothing if it does not say.

    >>> from sfumato.models import MaximumRisk
    >>> limits_of(MaximumRisk)[:40]
    'that the rows of a class differ in what '
    """
    text = inspect.getdoc(kind) or ""
    found = re.search(r"Does not promise:(.*?)(?:\n\n|\Z)", text, re.DOTALL)
    return "" if found is None else " ".join(found[1].replace("`", "").split())


def against(kind: type[PrivacyModel]) -> str:
    """Return what a model is against, a key of `AGAINST`, by what its class declares."""
    if kind.counts_presence:
        return "presence"
    if kind.of_weights or "column" not in _declared_parameters(kind)[0]:
        return "finding"
    return "comparing" if kind.compares_with_table else "learning"


def method_words() -> dict[str, str]:
    """Return every method there is, each with what it does."""
    found = every_method(PARTITIONERS)
    return {name: kind.in_words or first_sentence(kind) for name, kind in found.items()}


def measure_words() -> dict[str, str]:
    """Return every loss there is, each with what it measures."""
    return {name: kind.describe_kind() for name, kind in LOSSES.items()}


def words() -> list[str]:
    """Return what the families say of themselves, for the catalogues."""
    promises = [
        text
        for kind in MODELS.values()
        for name, text in vars(kind).items()
        if name.startswith("in_words")
    ]
    return [*promises, *AGAINST.values(), *method_words().values(), *measure_words().values()]


def meanings() -> list[str]:
    """Return what all parameters mean that a page may show, for the catalogues."""
    families = (MODELS, LOSSES, every_method(PARTITIONERS))
    kinds = [kind for family in families for kind in family.values()]
    return list(dict.fromkeys(text for kind in kinds for text in descriptions(kind).values()))
