"""From recoded rows to the columns that are published."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import ibis

from sfumato.engines.base import Suppression
from sfumato.engines.ibis.coarse import CoarseCounted
from sfumato.engines.ibis.counting import Counted
from sfumato.engines.ibis.database import Database
from sfumato.engines.ibis.full_domain import FullDomainRecoder
from sfumato.engines.ibis.local import LocalRecoder
from sfumato.engines.ibis.recoded import SUPPRESSED
from sfumato.engines.ibis.solved import SolvedRecoder
from sfumato.recoding import LocalRecoding, Recoding, SolvedRecoding
from sfumato.text import STAR

if TYPE_CHECKING:
    from ibis.expr.types import Table as Query


class Publication(NamedTuple):
    """A statement whose result is published, and what must come of it."""

    query: "Query"
    rows: int
    suppressed_rows: int


def publication(
    database: Database,
    recoding: Recoding,
    columns: Sequence[str],
    *,
    suppression: Suppression,
    as_text: bool,
    coarse: bool = False,
) -> Publication:
    """Check the rows against a recoding and build what publishes them.

    Args:
        database: Where the rows are; what the statement needs is uploaded to it.
        recoding: What the rows become.
        columns: What to publish, in order.
        suppression: What becomes of suppressed rows.
        as_text: Whether recoded columns must be text.
        coarse: Whether to count no finer than a full-domain recoding tells values apart.
    """
    number = {field.name: i for i, field in enumerate(database.fields)}
    positions = [number[name] for name in looked_at(recoding)]
    recoder: FullDomainRecoder | LocalRecoder | SolvedRecoder
    if isinstance(recoding, LocalRecoding):
        recoder = LocalRecoder(database, recoding, Counted(database, positions))
    elif isinstance(recoding, SolvedRecoding):
        recoder = SolvedRecoder(database, recoding)
    elif coarse:
        recoder = FullDomainRecoder(
            database, recoding, CoarseCounted(database, positions, recoding)
        )
    else:
        recoder = FullDomainRecoder(database, recoding, Counted(database, positions))
    star = suppression == "star"
    # A star is text, so a column that may get one must be text from its first row on.
    as_text = as_text or (star and recoder.suppresses)
    plain = sorted({number[name] for name in (*columns, *looked_at(recoding))})
    query, labels = recoder.recoded(plain, as_text=as_text)
    if recoder.suppressed_rows and not star:
        query = query.filter(~query[SUPPRESSED])
    starred = bool(recoder.suppressed_rows) and star
    published = {
        f"o{at}": _cell(query, labels.get(name), number[name], starred=starred)
        for at, name in enumerate(columns)
    }
    left = recoder.rows - (0 if star else recoder.suppressed_rows)
    return Publication(query.select(**published), left, recoder.suppressed_rows)


def looked_at(recoding: Recoding) -> list[str]:
    """Name the columns a recoding must know of a row."""
    if isinstance(recoding, SolvedRecoding):
        return list(recoding.columns)
    others = recoding.others if isinstance(recoding, LocalRecoding) else ()
    return [column.column for column in recoding.columns] + [column.name for column in others]


def _cell(query: Any, label: str | None, position: int, *, starred: bool) -> Any:  # noqa: ANN401
    cell = query[label or f"c{position}"]
    if not starred:
        return cell
    return ibis.ifelse(query[SUPPRESSED], STAR if label else ibis.null(), cell)
