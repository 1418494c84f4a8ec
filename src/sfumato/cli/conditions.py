"""Conditions on the command line: `column=value`, `column=a,b` or `column=low..high`."""

from collections.abc import Iterable

from sfumato.cli.lists import listed
from sfumato.errors import ParameterError


def conditions(given: Iterable[str]) -> dict[str, object]:
    """Read what is asked of each column, as `sfumato.estimate` takes it.

    A value that holds a comma or two dots stands in double quotes; nothing is a missing value.

    >>> conditions(["age=30..45", "sex=f,m", "ill=flu", "pay=..900", "zip=", 'job="cook, baker"'])
    {'age': ('30', '45'), 'sex': ['f', 'm'], 'ill': ['flu'], 'pay': (None, '900'), 'zip': [None],
     'job': ['cook, baker']}
    """
    found: dict[str, object] = {}
    for each in given:
        name, equals, text = (part.strip() for part in each.partition("="))
        if not name or not equals:
            raise ParameterError(
                "where", each, "COLUMN=VALUE", why="for example age=30..45, sex=f,m or ill=flu"
            )
        if name in found:
            raise ParameterError(
                "where", each, "one condition on each column", why="write several values as a,b"
            )
        found[name] = _wanted(text)
    return found


def _wanted(text: str) -> object:
    low, dots, high = text.partition("..")
    if dots and '"' not in text:
        return low.strip() or None, high.strip() or None
    return listed([text]) or [None]
