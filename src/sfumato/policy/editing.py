"""A text that says another policy: only what differs is written again, and comments stay."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from sfumato.errors import PolicyError
from sfumato.policy.document import parse, to_text
from sfumato.policy.policy import Policy

_WIDTH = 100


def edit_text(text: str, policy: Policy) -> str:
    """Return the text of a policy, changed so that it says another one.

    What both say stays as it was written. Comments stay before what stays in its place, and before
    a column that changed; those of a changed model go, because they may speak of its numbers.

    Args:
        text: A policy as it was written, by hand or by a draft.
        policy: What the text is to say.

    Example:
        >>> text = '''columns:
        ...   age: quasi-identifier  # in years
        ...   # from the ward
        ...   ill: sensitive
        ... models:
        ... - {model: k-anonymity, k: 5}  # as agreed
        ... '''
        >>> policy = Policy.from_yaml(text)
        >>> changed = policy.replace(columns={"age": "quasi-identifier", "ill": "dropped"})
        >>> print(edit_text(text, changed), end="")
        columns:
          age: quasi-identifier  # in years
          # from the ward
          ill: dropped
        models:
        - {model: k-anonymity, k: 5}  # as agreed
    """
    try:
        edited = _edit(text, Policy.from_yaml(text).to_plain(), policy.to_plain())
        same = Policy.from_yaml(edited).to_plain() == policy.to_plain()
    except PolicyError:
        same = False
    # A layout that is not understood here is given up: what is said comes first.
    return edited if same else policy.to_yaml()


class _EntryLines(NamedTuple):
    """An entry with the lines that belong to it."""

    comments: list[str]
    """The lines before it that are empty or begin with `#`."""

    own: list[str]

    @property
    def lines(self) -> list[str]:
        return [*self.comments, *self.own]


def _edit(text: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    found, lines = parse(text, origin="policy").places.lines, text.splitlines()
    tops = [str(path[0]) for path in found if len(path) == 1]
    written: list[str] = []
    for key, piece in zip(tops, _cut(lines, [found[(key,)] for key in tops], 1), strict=True):
        if key not in after:
            continue
        if before.get(key) == after[key]:
            written += piece.lines
            continue
        inner = [path for path in found if len(path) == 2 and path[0] == key]
        starts = [found[path] for path in inner]
        own_lines = bool(starts) and starts[0] > found[(key,)] and _rise(starts)
        if key == "columns" and own_lines:
            end = found[(key,)] + len(piece.own) - 1
            entries = _cut(lines[:end], starts, found[(key,)] + 1)
            names = [str(path[1]) for path in inner]
            kept = dict(zip(names, entries, strict=True))
            written += [*piece.comments, piece.own[0]]
            written += _columns(kept, before[key], after[key])
        elif key == "models" and own_lines:
            end = found[(key,)] + len(piece.own) - 1
            entries = _cut(lines[:end], starts, found[(key,)] + 1)
            written += [*piece.comments, piece.own[0]]
            written += _models(entries, before[key], after[key])
        else:
            written += [*piece.comments, *_write(key, after[key])]
    for key, value in after.items():
        if key not in tops and before.get(key) != value:
            written += _write(key, value)
    return "\n".join(written) + "\n"


def _rise(starts: Sequence[int]) -> bool:
    return all(a < b for a, b in pairwise(starts))


def _cut(lines: Sequence[str], starts: Sequence[int], first: int) -> list[_EntryLines]:
    """Return the piece of each entry; line numbers begin with 1, as `first` does."""
    heads = [_head(lines, start, first if i == 0 else starts[i - 1] + 1)
             for i, start in enumerate(starts)]  # fmt: skip
    ends = [*heads[1:], len(lines) + 1]
    return [
        _EntryLines([*lines[head - 1 : start - 1]], [*lines[start - 1 : end - 1]])
        for head, start, end in zip(heads, starts, ends, strict=True)
    ]


def _head(lines: Sequence[str], start: int, least: int) -> int:
    """Return the line that the comments before an entry begin on."""
    while start > least and lines[start - 2].strip()[:1] in ("", "#"):
        start -= 1
    return least if least == 1 else start


def _columns(
    kept: Mapping[str, _EntryLines], before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[str]:
    indent = min(_indent_of(piece.own[0]) for piece in kept.values())
    written: list[str] = []
    for name, value in after.items():
        piece = kept.get(name)
        if piece is not None and before.get(name) == value:
            written += piece.lines
        else:
            written += [] if piece is None else piece.comments
            written += _move_in(_write(name, value, _WIDTH - indent), indent)
    return written


def _models(kept: Sequence[_EntryLines], before: Sequence[Any], after: Sequence[Any]) -> list[str]:
    indent = min(_indent_of(piece.own[0]) for piece in kept)
    left = list(range(len(kept)))
    written: list[str] = []
    for value in after:
        same = next((i for i in left if before[i] == value), None)
        if same is None:
            written += _move_in(_write_item(value, _WIDTH - indent), indent)
        else:
            left.remove(same)
            written += kept[same].lines
    return written


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _move_in(lines: Iterable[str], indent: int) -> list[str]:
    return [" " * indent + line for line in lines]


def _write(key: str, value: object, width: int = _WIDTH) -> list[str]:
    short = to_text({key: value}, flow=True).strip()[1:-1]
    if len(short) <= width and "\n" not in short:
        return [short]
    return to_text({key: value}).splitlines()


def _write_item(value: dict[str, object], width: int) -> list[str]:
    short = to_text(value, flow=True).strip()
    if len(short) + 2 <= width and "\n" not in short:
        return [f"- {short}"]
    first, *rest = to_text(value).splitlines()
    return [f"- {first}", *(f"  {line}" for line in rest)]
