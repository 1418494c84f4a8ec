"""Writes settings as plain values, and those as YAML that reads back the same."""

from collections.abc import Mapping, Set
from enum import Enum
from numbers import Integral, Real
from pathlib import Path

import yaml

from sfumato.policy.document import Plain
from sfumato.policy.values import resolve
from sfumato.text import text_of

_TEXT = "tag:yaml.org,2002:str"
_RESOLVER = yaml.resolver.Resolver()


class _Dumper(yaml.SafeDumper):
    # To us every bare scalar is text, so PyYAML need not guard any of them with a tag.
    yaml_implicit_resolvers = {}  # noqa: RUF012 - declared so by PyYAML

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    # Quotes where we, or other readers of YAML, would take it for something else.
    elsewhere = _RESOLVER.resolve(yaml.ScalarNode, value, (True, False))  # type: ignore[no-untyped-call]
    style = None if resolve(Plain(value)) == value and elsewhere == _TEXT else "'"
    # Some line breaks of Unicode read back only if they are escaped.
    return dumper.represent_scalar(_TEXT, value, style=style if value.isprintable() else '"')


def _number(dumper: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
    text = repr(value).replace("inf", ".inf").replace("nan", ".nan")
    return dumper.represent_scalar(_TEXT, text)


def _word(dumper: yaml.SafeDumper, value: bool | None) -> yaml.ScalarNode:  # noqa: FBT001 - a value
    return dumper.represent_scalar(_TEXT, "null" if value is None else str(value).lower())


_Dumper.add_representer(str, _text)
_Dumper.add_representer(int, _number)
_Dumper.add_representer(float, _number)
_Dumper.add_representer(bool, _word)
_Dumper.add_representer(type(None), _word)


def to_text(settings: dict[str, object]) -> str:
    """Write settings in their order.

    >>> print(to_text({"version": 1, "columns": {"zip": "plain"}, "other": "1e5"}), end="")
    version: 1
    columns: {zip: plain}
    other: '1e5'
    """
    text: str = yaml.dump(
        settings, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None,
        width=100,
    )  # fmt: skip
    return text


def plain(value: object) -> object:  # noqa: PLR0911 - one line per type
    """Write a value with nothing but dicts, lists, text and numbers.

    >>> plain((("a", 2.0), Path("b")))
    [['a', 2], 'b']
    """
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Path):
        return value.as_posix()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted((plain(item) for item in value), key=repr)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return int(number) if number.is_integer() and abs(number) < 1e16 else number
    return text_of(value)
