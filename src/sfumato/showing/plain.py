"""Plain texts made by templates, which lie in the package beside the code that needs them.

What comes from data is only ever a value of a template, and never a part of one.
"""

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.files.dialect import Dialect
from sfumato.showing.content import escape_markdown
from sfumato.text import percent, visible

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = Path(__file__).parent.parent
SAFE_NAME = re.compile(r"[^\W\d][\w .()/%&#:-]{0,60}")
"""Names that recipes are written with: no sign of a quote, a comment or a new line is in them."""

_BLANK = " \t\n\r"

quote = Dialect(text="TEXT", collation="").quote
"""Quotes a name as standard SQL does, whatever is in it."""


def render(template: str, **values: object) -> str:
    """Return the text that a template makes of values.

    Args:
        template: Its place in the package.
        values: Everything that it names; a value that is missing is an error.
    """
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> "Environment":
    # Imported late: few commands write such texts, and all of them start.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from jinja2.ext import Extension

    from sfumato.showing.compiled import CompiledTemplates

    class Continuation(Extension):
        """A backslash at the end of a line of a template: the line goes on in the next."""

        def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
            del name, filename
            return source.replace("\\\n", "")

    environment = Environment(
        loader=FileSystemLoader(_PACKAGE),
        autoescape=False,  # noqa: S701 - no HTML; names are shown by `code` and by `quote`
        undefined=StrictUndefined,
        extensions=[Continuation],
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=CompiledTemplates(__file__),
    )
    environment.filters |= {
        "code": code,
        "quote": quote,
        "escape_markdown": escape_markdown,
        "percent": lambda share: percent(float(share)),
    }
    return environment


def code(name: str) -> str:
    r"""Show a name as it is, whatever it holds, in a cell of a table.

    >>> print(code("a|b"), code("pay `net`"))
    `a\|b` ``` pay `net` ```
    """
    text = " ".join(visible(name, keep=_BLANK).split()).replace("|", "\\|")
    ticks = text.count("`")
    # A fence is longer than any run of ticks.
    fence, space = "`" * (ticks + 1), " " if ticks else ""
    return f"{fence}{space}{text}{space}{fence}"
