"""Short pieces of HTML for notebooks: self-contained, and safe whatever the data holds."""

import unicodedata
from collections.abc import Sequence
from html import escape
from pathlib import Path

from sfumato.errors import OutputError
from sfumato.text import is_missing, text_of

_MOST_CHARACTERS = 120
_MOST_ROWS = 12
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
_JOINERS = frozenset("\u200c\u200d\u00ad")
"""Some scripts are written with these; they turn nothing around."""

_CELL = "text-align:left;padding:.2em .9em .2em 0;vertical-align:top"


def visible(text: str, *, keep: str = "") -> str:
    r"""Make characters visible that would otherwise command, turn around or break a text.

    >>> visible("age\x1b[2J"), visible("\u202eolleh"), visible("two\nlines", keep="\n")
    ('age\\x1b[2J', '\\u202eolleh', 'two\nlines')
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _harmless(c) or c in keep else repr(c)[1:-1] for c in text)


def _harmless(character: str) -> bool:
    return unicodedata.category(character) not in _HIDDEN or character in _JOINERS


def brief(value: object, most: int = _MOST_CHARACTERS) -> str:
    """Write any value in one short line; of a long text the beginning and the end stay.

    >>> brief(None), brief(39.0), brief("x" * 200, most=7)
    ('(missing)', '39', 'xxx…xxx')
    """
    text = "(missing)" if is_missing(value) else text_of(value)
    if len(text) > most:
        tail = (most - 1) // 2
        text = f"{text[: most - 1 - tail]}…{text[len(text) - tail :]}"
    return visible(text)


def fragment(
    heading: str,
    columns: Sequence[str] = (),
    rows: Sequence[Sequence[object]] = (),
    *,
    notes: Sequence[str] = (),
) -> str:
    """Write a heading, a table of at most a dozen rows and some remarks as HTML.

    >>> print(fragment("2 of 3 hold", ["promise"], [["k < 5"]]))
    <div><p><strong>2 of 3 hold</strong></p><table><thead><tr><th scope="col"
    style="...">promise</th></tr></thead><tbody><tr><td
    style="...">k &lt; 5</td></tr></tbody></table></div>
    """
    parts = [f"<p><strong>{_safe(heading, 400)}</strong></p>"]
    if rows:
        head = "".join(f'<th scope="col" style="{_CELL}">{_safe(name)}</th>' for name in columns)
        body = "".join(
            "<tr>" + "".join(f'<td style="{_CELL}">{_safe(cell)}</td>' for cell in row) + "</tr>"
            for row in rows[:_MOST_ROWS]
        )
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    if len(rows) > _MOST_ROWS:
        parts.append(f"<p>and {len(rows) - _MOST_ROWS} more</p>")
    parts += [f"<p>{_safe(note, 400)}</p>" for note in notes]
    return f"<div>{''.join(parts)}</div>"


def _safe(value: object, most: int = _MOST_CHARACTERS) -> str:
    return escape(brief(value, most))


# Saving a text that somebody asked for under a name of their own.


def save_text(path: str | Path, text: str) -> Path:
    """Write a file in UTF-8; one that is there is replaced.

    >>> save_text("nowhere/at/all.svg", "<svg/>")
    Traceback (most recent call last):
    sfumato.errors.OutputError: cannot write 'nowhere/at/all.svg': No such file or directory. ...
    """
    target = Path(path)
    try:
        target.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(
            f"cannot write {str(target)!r}: {error.strerror or error}. Choose another file."
        ) from None
    return target
