"""How values are written in a ledger: found by their text, shown as what they were."""

import json
from collections.abc import Iterable
from functools import lru_cache

from sfumato.text import text_of
from sfumato.typing import Value


def key_of(value: Value) -> str:
    """Write a value so that equal ones are written alike, and missing is no text.

    >>> key_of("39"), key_of(39.0), key_of(None)
    ('"39"', '"39"', 'null')
    """
    return _key(None if value is None else text_of(value))


@lru_cache(maxsize=1 << 16)
def _key(text: str | None) -> str:
    return json.dumps(text, ensure_ascii=False)


@lru_cache(maxsize=1 << 16)
def split_keys(keys: str) -> tuple[str, ...]:
    """Give the single keys of several, the reverse of `keys_of`.

    >>> split_keys('["30-50", null]')
    ('"30-50"', 'null')
    """
    return tuple(map(_key, json.loads(keys)))


def keys_of(values: Iterable[Value]) -> str:
    """Write several values as one key.

    >>> keys_of(["30-50", None])
    '["30-50", null]'
    """
    return f"[{', '.join(map(key_of, values))}]"


def shown_of(value: Value) -> str:
    """Write a value so that it can be given back as it was; dates and the like become text."""
    plain = (
        value if value is None or isinstance(value, str | bool | int | float) else text_of(value)
    )
    return json.dumps(plain, ensure_ascii=False)


def digest_text(plain: object) -> str:
    """Write plain values in one way only, so that their hash is always the same."""
    return json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
