"""Publishing rows that were recoded already, where they are."""

from typing import Any

from sfumato.engines.ibis.database import Database
from sfumato.engines.ibis.recoded import SUPPRESSED, Recoded
from sfumato.recoding import SolvedRecoding


class SolvedRecoder:
    """Builds the statement that chooses what is published of them.

    Args:
        database: Where they are.
        recoding: What is known of them.
    """

    def __init__(self, database: Database, recoding: SolvedRecoding) -> None:
        self._database = database
        self._recoding = recoding
        self.rows = recoding.rows
        self.suppressed_rows = recoding.suppressed
        self.suppresses = recoding.suppressed > 0

    def recoded(self, plain: list[int], *, as_text: bool) -> Recoded:
        """Build it.

        Args:
            plain: Columns that are needed as they are; here all of them are there.
            as_text: Whether recoded columns must be text.
        """
        number = {field.name: i for i, field in enumerate(self._database.fields)}
        raw = {} if as_text else self._recoding.raw
        labels = {name: f"c{number[raw.get(name, name)]}" for name in self._recoding.columns}
        query: Any = self._database.rows
        starred = query[f"c{number[self._recoding.note]}"].notnull()
        return Recoded(query.mutate(**{SUPPRESSED: starred}), labels)
