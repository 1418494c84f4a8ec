"""Any dataclass with ordinary type hints can be written in a policy, ours or a plug-in's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import jsonschema
import pytest
import yaml

from sfumato.policy.document import Fault, Plain, cell, parse, read, resolve, to_text, type_schema
from sfumato.policy.parts import choose, family_schema, member_settings


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True)
class Everything:
    """One field of each kind.

    Args:
        text: A text
            over two lines.
    """

    name: ClassVar[str] = "everything"

    text: str
    number: float = 0.5
    flag: bool = False
    colour: Colour = Colour.RED
    level: Literal["low", 3, True] = "low"
    file: Path = Path("a.csv")
    weights: Mapping[str, float] = field(default_factory=dict)
    words: frozenset[str] = frozenset()
    pair: tuple[int, str] = (1, "a")
    rows: Sequence[Sequence[int]] = ()
    maybe: Annotated[int | None, "a note"] = None
    mark: int | float | str | date | None = None
    anything: Any = None
    bare: list = ()
    secret: int = field(default=0, init=False)


FAMILY = {"everything": Everything}

FULL = """
kind: everything
text: 2020
number: 3
flag: true
colour: blue
level: 3
file: b/c.csv
weights: {a: 1, b: 2.5}
words: [no, yes]
pair: [2, 3]
rows: [[1, 2], [3]]
maybe: 7
mark: 2020-01-31
anything: {a: [1, 1.50, no, null]}
bare: [1, x]
"""


def settings(text):
    return parse(text, origin="test").root


def test_every_kind_of_field_is_read():
    assert choose(FAMILY, "kind", settings(FULL)) == Everything(
        text="2020",
        number=3.0,
        flag=True,
        colour=Colour.BLUE,
        level=3,
        file=Path("b/c.csv"),
        weights={"a": 1.0, "b": 2.5},
        words=frozenset({"no", "yes"}),
        pair=(2, "3"),
        rows=((1, 2), (3,)),
        maybe=7,
        mark="2020-01-31",
        anything={"a": [1, "1.50", "no", None]},
        bare=(1, "x"),
    )


def test_what_is_written_reads_back():
    made = choose(FAMILY, "kind", settings(FULL))
    assert choose(FAMILY, "kind", settings(to_text(member_settings(made, "kind")))) == made


def test_only_what_differs_from_the_defaults_is_written():
    assert member_settings(Everything("x"), "kind") == {"kind": "everything", "text": "x"}


def test_the_schema_takes_it_too():
    validator = jsonschema.Draft202012Validator(family_schema(FAMILY, "kind"))
    content = yaml.load(FULL, Loader=yaml.BaseLoader)
    content = {**content, **{k: resolve(Plain(content[k])) for k in ("number", "flag", "maybe")}}
    content |= {"level": 3, "weights": {"a": 1}, "pair": [2, "3"], "rows": [[1, 2], [3]]}
    assert not list(validator.iter_errors(content))
    assert list(validator.iter_errors({**content, "pair": [2]}))
    assert list(validator.iter_errors({**content, "weights": {"a": "much"}}))


@pytest.mark.parametrize(
    ("change", "path", "text"),
    [
        ("text: [a]", ("text",), "must be a text, got a list of 1"),
        ("text:", ("text",), "must be a text, got nothing"),
        ("number: 1_000", ("number",), "must be a number, got '1_000'"),
        ("flag: yes", ("flag",), "must be true or false, got 'yes'"),
        ("colour: rad", ("colour",), "no choice 'rad' here. Did you mean 'red'? Known: 'red',"),
        ("level: 1", ("level",), "no choice 1 here. Known: 'low', '3', 'True'."),
        ("file: {}", ("file",), "must be a file name, got a mapping with the keys (none)"),
        ("weights: 3", ("weights",), "must be a mapping, got 3"),
        ("weights: {a: x}", ("weights", "a"), "must be a number, got 'x'"),
        ("words: no", ("words",), "must be a list of texts, got 'no'"),
        ("pair: [1]", ("pair",), "must be a list of 2, got a list of 1"),
        ("rows: [[1], [2, x]]", ("rows", 1, 1), "must be a whole number, got 'x'"),
        ("rows: [1]", ("rows", 0), "must be a list of whole numbers, got 1"),
        ("maybe: x", ("maybe",), "must be a whole number, got 'x'"),
        (
            "mark: [1]",
            ("mark",),
            "must be a whole number or a number or a text or a date or nothing,",
        ),
        ("secret: 1", ("secret",), "everything has no parameter 'secret'."),
    ],
)
def test_a_wrong_value_is_told_where_it_stands(change, path, text):
    base = "kind: everything\n" if change.startswith("text") else "kind: everything\ntext: x\n"
    with pytest.raises(Fault) as caught:
        choose(FAMILY, "kind", settings(base + change))
    assert caught.value.path == path
    assert caught.value.text.startswith(text)


def test_the_meaning_of_a_missing_parameter_is_told():
    with pytest.raises(Fault, match=r"everything needs 'text': A text over two lines\."):
        choose(FAMILY, "kind", {"kind": "everything"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-7", -7),
        ("+7", "+7"),
        ("00", "00"),
        ("9" * 18, int("9" * 18)),
        ("9" * 19, "9" * 19),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e5", 1e5),
        ("1e99999", float("inf")),
        ("1e999999", "1e999999"),
        ("0x1F", "0x1F"),
        ("0o17", "0o17"),
        ("12:30:45", "12:30:45"),
        ("٣", "٣"),  # a digit, but not one of ours
        ("TRUE", True),
        ("tRue", "tRue"),
        ("y", "y"),
        ("Null", None),
        ("-.inf", float("-inf")),
    ],
)
def test_bare_text_is_a_number_only_where_nobody_could_mean_anything_else(text, value):
    assert resolve(Plain(text)) == value
    assert type(resolve(Plain(text))) is type(value)
    assert resolve(text) == text


def test_a_cell_in_quotes_is_text_whatever_it_looks_like():
    assert cell(settings("['5', 5, \"no\"]")) == ["5", 5, "no"]


def test_a_number_no_float_can_hold_is_refused():
    with pytest.raises(Fault, match="too large"):
        read(float, 10**400)


def test_an_unknown_type_is_taken_from_python_and_open_in_the_schema():
    assert read(date, date(2020, 1, 31)) == date(2020, 1, 31)
    assert type_schema(date) == {}
    with pytest.raises(Fault, match="must be a date, got '2020-01-31'"):
        read(date, Plain("2020-01-31"))
