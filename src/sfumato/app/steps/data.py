"""Data: open or drop a file, a table of a database or the bundled patients; see what is in it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from starlette.responses import Response

from sfumato.app.desk import DATABASE_ENDINGS, GIVEN, Desk, TableSource
from sfumato.app.fields import Fields
from sfumato.app.jobs import Job
from sfumato.app.project import ENDING, Project, open_project, save_project, saved_projects
from sfumato.app.steps import ALL, Answer, Context
from sfumato.errors import EncodingError, InputError, hide_passwords
from sfumato.files import refuse_special
from sfumato.files.reading import Reading
from sfumato.tables.formats import data_endings
from sfumato.text import date_of, number_of

if TYPE_CHECKING:
    import pyarrow as pa

step = ALL["data"]

TEXTS = ("number", "date", "yes or no", "list", "text")
"""What types are called."""

_ENCODINGS = ("windows-1252", "windows-1250", "windows-1251", "mac-roman", "cp850", "utf-16")
"""What is offered where no word of a file tells encodings apart."""

_PREVIEW = 12
_PATIENTS = 1000


@step.page
def show(desk: Desk, asked: Fields) -> Context:
    """Return what can be opened, and what is open."""
    job = None
    if desk.source is not None:
        job = desk.start_reading()
        # A small table is read before the page is shown.
        job.wait(0.4)
    return {
        "files": [path for path in desk.data_files() if not _is_database(path)],
        "databases": {
            path.name: _tables_in(path) for path in desk.data_files() if _is_database(path)
        },
        "releases": desk.releases(),
        "projects": saved_projects(desk),
        "policies": _list_policies(desk),
        "given": desk.settings.get(GIVEN, ""),
        "project_name": Path(desk.source.name).stem if desk.source else "",
        "job": job,
        "again": "again" in asked,
        "strange": _strange_ending(desk.source),
        "encodings": _list_encodings(job),
    }


def _strange_ending(source: TableSource | None) -> str:
    """Return how the name of a file ends that is of no kind which is read; else nothing."""
    if source is None or source.kind == "database" or source.name.lower().endswith(data_endings()):
        return ""
    return Path(source.name).suffix


def _list_encodings(job: Job | None) -> list[tuple[str, str]]:
    """Return the encodings that the table may be in, each with a word of it as it reads there.

    Where no word tells them apart, the common ones are listed without any. Nothing is returned of
    a table that fails for another reason.
    """
    fault = None if job is None else job.fault
    if not isinstance(fault, EncodingError):
        return []
    return list(fault.readings) or [(name, "") for name in _ENCODINGS]


@step.part("preview")
def preview(desk: Desk, asked: Fields) -> Context:
    """Return the first rows, the type of each column, and what is odd about the table."""
    from sfumato.files.reading import listening
    from sfumato.tables import open_table

    source = desk.require_source()
    notes: list[str] = []
    policy = desk.policy
    try:
        with listening(notes.append):
            table = open_table(source.address, source.reading if policy is None else policy.reading)
            head = table.head(_PREVIEW)
    except InputError as error:
        raise InputError(str(error).replace(source.address, source.name)) from error
    notes += table.notes
    live = desk.live
    return {
        "columns": [(name, _kind(head.column(name))) for name in head.column_names],
        "rows": [[_cell(value) for value in row.values()] for row in head.to_pylist()],
        "total": None if live is None else live.rows,
        "notes": list(dict.fromkeys(notes)),
        "reasons": desk.reasons,
        "labels": {} if live is None else live.labels,
    }


@step.action("open")
def open_file(desk: Desk, asked: Fields) -> Answer:
    """Open a file of the folder."""
    path = desk.inside(asked.text("file"))
    refuse_special(path)
    if not path.is_file():
        raise InputError(f"there is no file {asked.text('file')!r} in the folder any more")
    return _take(desk, TableSource(str(path), path.name))


@step.action("encoding")
def choose_encoding(desk: Desk, asked: Fields) -> Answer:
    """Open the table once more, with its letters read as somebody chose."""
    source = desk.require_source()
    known = Reading(encoding=asked.text("encoding")).encoding or ""
    return _take(desk, replace(source, encoding=known))


@step.action("database")
def open_database(desk: Desk, asked: Fields) -> Answer:
    """Open a table of a database: of a file in the folder, or of a server by its address."""
    if "file" in asked:
        from sfumato.tables.sql.database import address_in_file

        path, table = desk.inside(asked.text("file")), asked.text("table")
        address = address_in_file("duckdb", path, table)
        return _take(desk, TableSource(address, f"{path.name} · {table}", "database"))
    typed = asked.text("address").strip()
    return _take(desk, TableSource(typed, hide_passwords(typed), "database"))


@step.action("sample")
def open_sample(desk: Desk, asked: Fields) -> Answer:
    """Open the bundled patients, as the tour does."""
    import pyarrow.csv

    from sfumato.samples import synthetic

    desk.settings["tour"] = "on"
    with desk.receiving("patients.csv") as path:
        pyarrow.csv.write_csv(synthetic(_PATIENTS, seed=1), path)
    desk.take_received(path, "sample")
    return None


@step.action("project")
def open_saved(desk: Desk, asked: Fields) -> Answer:
    """Open a project that lies in the folder."""
    path = desk.inside(asked.text("file"))
    if path not in saved_projects(desk):
        raise InputError(f"there is no project {asked.text('file')!r} in the folder any more")
    open_project(desk, path)
    return "data"


@step.action("save")
def save(desk: Desk, asked: Fields) -> Answer:
    """Write the project into the folder."""
    path = save_project(desk, asked.text("name").strip())
    desk.say("done", f"{path.name} is saved: your choices with their history, and no rows.")
    return "data"


@step.file("give")
def give_project(desk: Desk, asked: Fields) -> Response:
    """Give the project as a file, to be kept or sent."""
    text = Project.of(desk).to_text()
    name = quote(Path(desk.require_source().name).stem + ENDING)
    headers = {"content-disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(text, media_type="application/octet-stream", headers=headers)


@step.action("policy")
def choose_policy(desk: Desk, asked: Fields) -> Answer:
    """Use a policy of the folder for the table that is opened next, if it fits."""
    path = desk.inside(asked.text("file"))
    if path not in _list_policies(desk):
        raise InputError(f"there is no policy {asked.text('file')!r} in the folder any more")
    desk.settings[GIVEN] = path.name
    desk.save()
    desk.say("done", f"{path.name} is used for the table that you open next, if it fits.")
    return "data"


def _list_policies(desk: Desk) -> list[Path]:
    """Return what may be policies in the folder, by name."""
    found = [p for p in desk.folder.iterdir() if p.suffix in (".yaml", ".yml") and p.is_file()]
    return sorted(p for p in found if not p.name.startswith(".") and desk.leads_inside(p))


@step.action("release")
def open_release(desk: Desk, asked: Fields) -> Answer:
    """Open a release that lies in the folder, to be judged."""
    path = desk.inside(asked.text("folder"))
    if path not in desk.releases():
        raise InputError(f"{asked.text('folder')!r} is no release")
    desk.release = path
    desk.save()
    return "verdict"


@step.action("redraft")
def redraft(desk: Desk, asked: Fields) -> Answer:
    """Draft the policy once more; what was there can be had back with undo."""
    from sfumato.tasks.draft import draft

    policy = desk.policy
    said = None if policy is None else cast("Mapping[str, object]", policy.input.to_plain())
    drafted = draft(desk.require_source().address, input=said)
    desk.reasons, desk.uncertain = dict(drafted.reasons), drafted.uncertain
    desk.change(drafted.text, "data", "drafted again")
    return "roles"


def _take(desk: Desk, source: TableSource) -> Answer:
    desk.take(source)
    return None


def _is_database(path: Path) -> bool:
    return path.name.lower().endswith(DATABASE_ENDINGS)


def _tables_in(path: Path) -> list[str]:
    """Return the names of the tables of a DuckDB file; none if it cannot be read."""
    try:
        import duckdb
    except ImportError:
        return []
    try:
        # As tables are opened: connections of a process to a file have the same rights, or fail.
        own = duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"})
        with own as found:
            return [str(row[0]) for row in found.execute("SHOW TABLES").fetchall()]
    except duckdb.Error:
        return []


def _kind(column: "pa.ChunkedArray") -> str:
    """Return what people call a type; numbers and dates may be written as text."""
    arrow = str(column.type)
    if arrow.startswith(("int", "uint", "float", "double", "decimal", "halffloat")):
        return "number"
    if arrow.startswith(("date", "timestamp")):
        return "date"
    if arrow.startswith("bool"):
        return "yes or no"
    if arrow.startswith(("list", "large_list")):
        return "list"
    known = [value for value in column.to_pylist() if value not in (None, "")]
    padded = any(str(value).startswith("0") and str(value)[1:2].isdigit() for value in known)
    if known and not padded and all(number_of(value) is not None for value in known):
        return "number"
    return "date" if known and all(date_of(value) is not None for value in known) else "text"


def _cell(value: object) -> str | None:
    return None if value is None else str(value)[:200]
