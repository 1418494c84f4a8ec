"""The files with all numbers: one record per line, so that a change can be read."""

import json
import sys
from pathlib import Path
from typing import Any, TypeAlias

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"

Record: TypeAlias = dict[str, Any]


def load(path: Path = RESULTS) -> Record:
    """Read what was computed last."""
    results: Record = json.loads(path.read_text(encoding="utf-8"))
    return results


def say(what: str) -> None:
    """Tell how far it is."""
    sys.stderr.write(f"{what}\n")
    sys.stderr.flush()


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
