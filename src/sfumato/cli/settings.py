"""Settings that are given as `--option NAME=VALUE`."""

from collections.abc import Iterable

from sfumato.errors import ParameterError


def settings(given: Iterable[str]) -> dict[str, object]:
    """Read settings as a policy file would: numbers as numbers, and text in brackets as a list.

    >>> from sfumato.policy.values import resolve
    >>> resolve(settings(["l=3", "columns=[age, zip]", "label=a=b"]))
    {'l': 3, 'columns': ('age', 'zip'), 'label': 'a=b'}
    """
    found: dict[str, object] = {}
    for each in given:
        name, equals, value = (part.strip() for part in each.partition("="))
        if not name or not equals:
            raise ParameterError("option", each, "NAME=VALUE", why="for example l=3")
        if name in found or name == "method":
            raise ParameterError("option", each, "a setting of the method, each once")
        found[name] = _value(value)
    return found


def _value(text: str) -> object:
    from sfumato.policy.document import Plain

    if text.startswith("[") and text.endswith("]"):
        return [_value(item.strip()) for item in text[1:-1].split(",") if item.strip()]
    return Plain(text)
