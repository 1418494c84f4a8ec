"""What came out of a decoupling: several tables with weak links, and what they keep."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.broken import Broken
from sfumato.errors import some
from sfumato.fragment import fragment
from sfumato.release import figures, promise_text
from sfumato.verifier import Verdict


@dataclass(frozen=True, eq=False)
class Decoupled:
    """A verified decoupled release: a folder on disk, tables in memory or in a database.

    `manifest` is what stands in `manifest.json`, `verdict` what the independent verifier found
    when it recomputed the promises from the published tables.
    """

    manifest: Mapping[str, Any]
    """What stands in `manifest.json`."""

    verdict: Verdict
    """What the verifier found."""

    broken: Broken
    """The same as counts: groups with their labels, and how often each value is in them."""

    folder: Path | None = None
    """Where it is; None for a release in memory."""

    tables: Mapping[str, Any] | None = None
    """The published tables by name, of the kind that was given; None for a release on disk. In a
    database, what opens them."""

    left_out: tuple[str, ...] = ()
    """Columns of the table that are not published; the manifest names only those of a release."""

    place: str | None = None
    """The address of the first table, if it is in a database; no password is in it."""

    @property
    def method(self) -> str:
        """How the table was decoupled."""
        return str(self.manifest["kind"])

    @property
    def slices(self) -> tuple[tuple[str, ...], ...]:
        """The columns that are published side by side, if the table was sliced."""
        return tuple(tuple(f["columns"]) for f in self.manifest["files"] if "columns" in f)

    @property
    def suppressed(self) -> int:
        """How many rows were left out."""
        return int(self.manifest["rows"]["suppressed"])

    @property
    def warnings(self) -> tuple[str, ...]:
        """What holds and still deserves a second look before publishing."""
        left_out = self.manifest["left_out"]
        found = _left_out(self.left_out or left_out["columns"])
        found += [
            f"{name} is not promised any more: it is not what these tables alone can show"
            for name in left_out["models"]
        ]
        found += self.manifest.get("notes", ())
        found += self._exposed()
        if self.manifest["reproducible"]:
            found.append(
                "the order of the rows and the labels of the groups come from a seed that others "
                "may know: not for publication"
            )
        return tuple(found)

    def _exposed(self) -> list[str]:
        broken = self.broken
        alone = int((broken.sizes == 1).sum())
        found = []
        if alone:
            found.append(
                f"{alone} of {broken.total} people are alone in their group, which hides nothing "
                "of them: anonymise the table first, with sf.anonymize"
            )
        for table in broken.sensitive:
            same = table.largest(len(broken)) == broken.sizes
            rows = int(broken.sizes[same & (broken.sizes > 1)].sum())
            if rows:
                found.append(
                    f"{rows} people are in groups where everybody has the same "
                    f"{table.column.name!r}: who knows the group knows it"
                )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        return {
            "folder": None if self.folder is None else str(self.folder),
            **({} if self.place is None else {"place": self.place}),
            "warnings": list(self.warnings),
            "manifest": dict(self.manifest),
            "verdict": self.verdict.to_dict(),
        }

    def _repr_html_(self) -> str:
        tables = [[_held(file), file["rows"]] for file in self.manifest["files"]]
        headline = str(self).splitlines()[0]
        return fragment(headline, ["table", "rows"], tables, notes=self.warnings)

    def __repr__(self) -> str:
        return f"<Decoupled {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        rows, classes = self.manifest["rows"], self.manifest["classes"]
        files = [f"  {_held(f)}: {f['rows']} rows" for f in self.manifest["files"]]
        promises = [
            f"  {promise_text(model)}: measured {figures(model['measured'])}"
            for model in self.manifest["models"]
        ]
        headline = (
            f"{rows['published']} rows in {classes['count']} groups, decoupled by {self.method}"
        )
        return "\n".join([headline, "Tables:", *files, "Promises:", *promises])


def _left_out(columns: Sequence[str]) -> list[str]:
    """Say once for all columns that they are not published.

    >>> _left_out(["name"])[0]
    "column 'name' is neither quasi-identifier nor sensitive and is left out: beside either it
    would tie rows together again"
    """
    if not columns:
        return []
    one = len(columns) == 1
    which = f"column {columns[0]!r} is" if one else f"columns {some(columns, most=12)} are"
    rest = "is left out: beside either it" if one else "are left out: beside either they"
    text = (
        f"{which} neither quasi-identifier nor sensitive and {rest} would tie rows together again"
    )
    return [text]


def _held(file: Mapping[str, Any]) -> str:
    """Name a table, and what it holds where its name does not say it."""
    columns = ", ".join(file.get("columns", ()))
    return f"{file['name']} ({columns})" if columns else str(file["name"])
