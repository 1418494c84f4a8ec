"""A report as Markdown: for wikis, pull requests and terminals."""

import re

from sfumato.reports.content import (
    Beside,
    Cell,
    Content,
    Drawing,
    Figures,
    Heading,
    Listing,
    Part,
    Section,
    Sentence,
    Table,
    is_number,
    said,
    shown,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]!|~^$@]|:(?=//)|(?<=www)\.)")
"""What means something anywhere in a line, addresses included."""

_STARTS = re.compile(r"^(\d*)([-+#.)=](?=\s|$)|[-=#]{2})")
"""What makes a line a list, a heading or a rule."""


def to_markdown(content: Content) -> str:
    """Write a report as Markdown; drawings become what they say in words.

    >>> print(to_markdown(Content("Report", "yes", "For all.", True, (), (), "1")))
    # Report
    <BLANKLINE>
    **May it be published? Yes.**
    <BLANKLINE>
    For all.
    <BLANKLINE>
    Written by sfumato 1.
    <BLANKLINE>
    """
    lines = [f"# {escaped(content.title)}"]
    lines.append(f"**May it be published? {content.answer.capitalize()}.**")
    lines.append(escaped(content.scope))
    for section in content.sections:
        lines += _section(section)
    if content.left_out:
        lines.append("## What is not in this report")
        lines.append(
            "\n".join(f"- {escaped(title)}: {escaped(why)}." for title, why in content.left_out)
        )
    lines.append(f"Written by sfumato {escaped(content.version)}.")
    return "\n\n".join(lines) + "\n"


def escaped(text: str) -> str:
    r"""Write a text so that nothing in it is a sign of Markdown, nor of HTML.

    >>> print(escaped("<b> a|b *c*"))
    &lt;b&gt; a\|b \*c\*
    """
    text = said(text).strip().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = _SPECIAL.sub(r"\\\1", text)
    # Some signs matter only where a line begins; elsewhere text should stay readable.
    return _STARTS.sub(r"\1\\\2", text)


def _section(section: Section) -> list[str]:
    lines = [f"## {escaped(section.title)}", f"*{escaped(section.how_to_read)}*"]
    for part in section.parts:
        lines += _part(part)
    return lines


def _part(part: Part) -> list[str]:
    if isinstance(part, Sentence):
        return [f"**{escaped(part.text)}**" if part.loud else escaped(part.text)]
    if isinstance(part, Listing):
        more = [f"- and {shown(part.more)} more"] if part.more else []
        return ["\n".join([*(f"- {escaped(item)}" for item in part.items), *more])]
    if isinstance(part, Figures):
        headings = (Heading("figure"), Heading("value"), Heading("how to read it"))
        return _table(Table(part.caption, headings, part.items))
    if isinstance(part, Table):
        return _table(part)
    drawings = part.drawings if isinstance(part, Beside) else (part,)
    return [line for drawing in drawings for line in _drawing(drawing)]


def _drawing(drawing: Drawing) -> list[str]:
    return [f"**{escaped(drawing.title)}.** {escaped(drawing.description)}"]


def _table(table: Table) -> list[str]:
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.headings)
    sides = ["---:" if column and all(map(is_number, column)) else "---" for column in columns]
    rows = [[_cell(cell) for cell in row] for row in table.rows]
    grid = [[_cell(heading.name) for heading in table.headings], sides, *rows]
    lines = [f"**{escaped(table.caption)}**", "\n".join(f"| {' | '.join(row)} |" for row in grid)]
    if table.more:
        lines.append(f"And {shown(table.more)} more.")
    told = [f"- {escaped(h.name)}: {escaped(h.meaning)}" for h in table.headings if h.meaning]
    return [*lines, "\n".join(told)] if told else lines


def _cell(cell: Cell) -> str:
    return escaped(shown(cell)).replace("\n", " ") or " "
