"""One value, one form: as RFC 8785 prints it, and every other form is refused."""

import json
import struct
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError
from sfumato.evidence.document import LARGEST, canonical, read_canonical, read_object

# RFC 8785, appendix B: bits of a number, and how it is written.
PRINTED = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "text"), PRINTED.items())
def test_numbers_are_written_as_the_standard_prints_them(bits, text):
    [number] = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical(number).decode() == text
    assert canonical(read_object(b'{"x":' + text.encode() + b"}")["x"]).decode() == text


def test_texts_and_keys_are_written_as_the_standard_prints_them():
    # RFC 8785, section 3.2.2 and 3.2.3.
    text = "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/"
    assert canonical(text).decode() == '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    order = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical(dict.fromkeys(keys, 0)))) == order


def textbook(value):
    """RFC 8785 word by word: what the library must write, to the byte."""
    if value is None or isinstance(value, bool | str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(textbook, value))}]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return f"{{{','.join(f'{textbook(key)}:{textbook(value[key])}' for key in keys)}}}"


def number(value):
    """Write a number as ECMAScript does: the fewest digits that give it back."""
    if value == 0:
        return "0"
    shortest = Decimal(repr(abs(value))).normalize().as_tuple()
    digits = "".join(map(str, shortest.digits))
    point = len(digits) + int(shortest.exponent)
    sign = "-" if value < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-LARGEST, LARGEST)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), PLAIN, max_size=5)


@given(OBJECTS)
def test_a_value_is_written_byte_for_byte_as_the_standard_says(value):
    assert canonical(value) == textbook(value).encode()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_is_written_as_the_standard_says(value):
    assert canonical(value) == number(value).encode()


@given(OBJECTS)
def test_what_is_written_can_be_read_by_anybody_and_says_the_same(value):
    data = canonical(value)
    # Numbers of JSON are floats to most readers.
    assert json.loads(data, parse_int=float) == value
    assert canonical(read_canonical(data)) == data


@given(OBJECTS, st.sampled_from([{"indent": 1}, {"ensure_ascii": True}, {}]))
def test_every_other_form_is_refused(value, form):
    data = json.dumps(value, **form).encode()
    if data != canonical(value):
        with pytest.raises(InputError):
            read_canonical(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a":1,"a":1}', "more than once: 'a'"),
        (b'{"a":{"b":1,"b":2}}', "more than once: 'b'"),
        (b'{"a":NaN}', "NaN"),
        (b'{"a":-Infinity}', "-Infinity"),
        (b'{"a":1e999}', "not finite"),
        (b'{"a":1' + b"0" * 400 + b"}", "not finite"),
        (b'{"a":1}\n', "canonical"),
        (b'{"a":1}{}', "not JSON"),
        (b'{"a":1}\0', "not JSON"),
        (b' {"a":1}', "canonical"),
        (b'\xef\xbb\xbf{"a":1}', "not JSON"),
        (b'{"b":1,"a":1}', "canonical"),
        (b'{"a":1.0}', "canonical"),
        (b'{"a":1e0}', "canonical"),
        (b'{"a":-0}', "canonical"),
        (b'{"a":9007199254740993}', "canonical"),
        (b'{"a":"\\u0041"}', "canonical"),
        (b'{"a":"\\/"}', "canonical"),
        (b'{"a":"\\ud800"}', "not Unicode"),
        (b'{"\\ud800":1}', "not Unicode"),
        (b'{"a":"\xff"}', "not JSON"),
        (b"[1]", "not a JSON object"),
        (b"", "not JSON"),
        (b'{"a":' * 200_000, "nested too deeply"),
        (b'{"a":' + b"1" * 10_000 + b"}", "not JSON"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(data, words):
    with pytest.raises(InputError, match=words):
        read_canonical(data)


@pytest.mark.parametrize(
    "value", [2**53, -(2**53), float("nan"), float("inf"), b"x", {1, 2}, {1: 2}]
)
def test_what_json_cannot_hold_is_not_written(value):
    with pytest.raises(InputError):
        canonical([value])


def test_nesting_without_end_is_refused():
    value: list = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(InputError, match="nested too deeply"):
        canonical(value)
