"""The files with all numbers: one record per line, so that a change can be read."""

import json
import sys
from collections.abc import Iterable, Iterator, Sized
from pathlib import Path
from time import strftime
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"

Record: TypeAlias = dict[str, Any]


def load(path: Path = RESULTS) -> Record:
    """Read what was computed last."""
    results: Record = json.loads(path.read_text(encoding="utf-8"))
    return results


def say(what: str) -> None:
    """Tell how far it is, and when."""
    sys.stderr.write(f"{strftime('%H:%M:%S')}  {what}\n")
    sys.stderr.flush()


def told(what: str, items: Iterable[T], n: int | None = None) -> Iterator[T]:
    """Go through items, and tell which of how many it is.

    Args:
        what: What an item is.
        items: They.
        n: How many there are, where they have no length.
    """
    n = len(items) if isinstance(items, Sized) else n
    for at, item in enumerate(items, 1):
        say(f"  {what}: {at} of {n}")
        yield item


def duration(seconds: float) -> str:
    """Write how long something takes.

    >>> duration(40), duration(100), duration(4000)
    ('40 seconds', '2 minutes', '67 minutes')
    """
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"


def text_of(results: Record) -> str:
    """Write results as JSON.

    Example:
        >>> print(text_of({"a": {"x": 1}, "b": [{"y": 1}, {"y": 2}]}), end="")
        {
        "a": {"x": 1},
        "b": [
         {"y": 1},
         {"y": 2}
        ]
        }
    """
    parts = [f"{json.dumps(key)}: {_value(value)}" for key, value in results.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _value(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return (
            "[\n" + ",\n".join(f" {json.dumps(one, ensure_ascii=False)}" for one in value) + "\n]"
        )
    return json.dumps(value, ensure_ascii=False)


def where(records: list[Record], **wanted: object) -> list[Record]:
    """Keep the records that have all these values.

    Example:
        >>> where([{"k": 3, "x": 1}, {"k": 4, "x": 2}], k=4)
        [{'k': 4, 'x': 2}]
    """
    return [one for one in records if all(one[key] == value for key, value in wanted.items())]


def values(records: list[Record], what: str, **wanted: object) -> list[Any]:
    """Give one value of each record that has all of some other values."""
    return [one[what] for one in where(records, **wanted)]
