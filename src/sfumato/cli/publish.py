"""Commands on a ledger: publish increments, show headroom, look into it."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.command import BROKEN, command
from sfumato.cli.options import (
    ForceOption,
    JsonOption,
    KeyOption,
    QuietOption,
    refuse_existing,
    signing_key,
    split_names,
    write_text,
)
from sfumato.cli.output import clean, finish, progress_bar, say, show, write_json
from sfumato.errors import InputError, ParameterError

if TYPE_CHECKING:
    from sfumato.ledger.publishing.increments import Publication
    from sfumato.ledger.publishing.ledger import OpenOptions
    from sfumato.ledger.publishing.streams import StreamPublication
    from sfumato.ledger.store import RowsPerPerson

LedgerOption = Annotated[
    Path, typer.Option("--ledger", "-l", metavar="FILE", help="The ledger; private, keep it so.")
]


@command(
    examples="sfumato publish decoupled/ --ledger clinic.ledger --alpha 0.5 -p policy.yaml\n"
    "sfumato publish new.csv --ledger clinic.ledger -o increment-2/\n"
    "sfumato publish new.csv --ledger clinic.ledger --dry-run\n"
    "sfumato publish --ledger clinic.ledger --delete withdrawn.csv -o release-3/\n"
    "sfumato publish 'duckdb:///clinic.db?table=new' --ledger clinic.ledger -o table:april\n"
    "sfumato publish visits.csv --ledger clinic.ledger --since seen --every month -o releases/\n"
    "sfumato publish inbox/ --ledger clinic.ledger --since files --start 2026-04.csv -o releases/",
    python='ledger = sf.Ledger.start("decoupled", "clinic.ledger", alpha=0.5)\n'
    'print(ledger.publish("new.csv", output="increment-2"))',
)
def publish(  # noqa: PLR0917 - options of a command line
    ledger: LedgerOption,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[RELEASE_OR_ROWS]",
            help="A decoupled release to start a ledger with, or new rows: a file, or the address "
            "of a table in DuckDB, PostgreSQL or Spark; with --since also a folder of files.",
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="The most a new ledger's tables may tell."),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("-k", metavar="ROWS", help="Fewest rows of a group; else what is promised."),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", "-p", metavar="FILE", help="What new rows are generalised by."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="DATA", help="What the first release was made of, if hierarchies depend on it."
        ),
    ] = None,
    rows_per_person: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|any",
            help="Where people have several rows: how many of a person a new ledger publishes, "
            "alpha being for all of them together; or any number, and alpha is for each row.",
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER|table:NAME",
            help="Write the tables there, or into the database that the rows are in. With --since "
            "each increment has a folder in it, or {window} stands for its name.",
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|files",
            help="Publish what is new since the last time, by a column that only grows, or the new "
            "files of a folder.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE|beginning",
            help="With --since, the first time: the first value, or file, that is new.",
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="With --since: only what is before this value."),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            metavar="WINDOW",
            help="With --since: an increment per day, week, month, quarter, year, 1000 (of a "
            "column of numbers), or file.",
        ),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(metavar="ZONE", help="With --every: the time zone of days; UTC if not said."),
    ] = None,
    stream: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --since: which of several streams this is."),
    ] = None,
    late: Annotated[
        bool,
        typer.Option(
            "--late", help="With --since: also rows before what was taken, of people who are new."
        ),
    ] = False,
    delete: Annotated[
        str | None, typer.Option(metavar="DATA", help="Rows to remove, as they were published.")
    ] = None,
    correct: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Rows to change; old_… columns hold what was published."),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=LEVEL",
            help="Generalise all groups to that level of a quasi-identifier, and publish all.",
        ),
    ] = None,
    above: Annotated[
        bool,
        typer.Option("--above", help="Start also if groups tell more than alpha already."),
    ] = False,
    at_once: Annotated[
        bool,
        typer.Option(
            "--at-once", help="Rows to remove leave now, and who cannot be told from them too."
        ),
    ] = False,
    whole: Annotated[
        bool, typer.Option("--whole", help="Write all tables, not only those of the newcomers.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Take rows that were given before.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Decide and report, and change nothing.")
    ] = False,
    format: Annotated[  # noqa: A002 - the word users know
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="csv, parquet, feather, sav, dta or xlsx; csv if not said.",
        ),
    ] = None,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long to wait for another publish.")
    ] = 10.0,
    key: KeyOption = None,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="HASH",
            help="The hash that the last publish showed: an old or rewritten ledger is refused.",
        ),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Publish new rows, and remove or correct others, without ever telling more than alpha.

    Those who join a group together hide each other, and so do those who leave it: they are at least
    k, and no value is more frequent among them than alpha. All others wait. The exit code is 0
    also if rows wait or are refused: deciding that is what the command is for.
    """
    from sfumato.ledger.publishing.ledger import Ledger, start_ledger

    settings: OpenOptions = {
        "alpha": alpha,
        "k": k,
        "policy": policy,
        "rows_per_person": _parse_rows(rows_per_person),
    }
    if since is not None:
        _require_nothing_else(
            "with --since",
            delete=delete,
            correct=correct,
            again=again or None,
            at_once=at_once or None,
        )
        with progress_bar("Publishing what is new", quiet=quiet or json):
            found = Ledger.open(ledger, **settings).publish_since(
                data,
                since,
                start=start,
                until=until,
                every=every,
                zone=zone,
                stream=stream or "",
                late=late,
                output=output,
                whole=whole,
                dry_run=dry_run,
                format=format,
                wait=wait,
                key=signing_key(key),
                head=head,
            )
        _show(found, json=json, quiet=quiet)
        return
    _require_nothing_else(
        "without --since",
        start=start,
        until=until,
        every=every,
        zone=zone,
        stream=stream,
        late=late or None,
    )
    if level and ledger.exists():
        _require_nothing_else(
            "with --level",
            "it is a release of its own",
            data=data,
            delete=delete,
            correct=correct,
            again=again or None,
            at_once=at_once or None,
        )
        with progress_bar("Generalising all groups", quiet=quiet or json):
            done = Ledger.open(ledger, **settings).generalise(
                _parse_levels(level),
                output=output,
                dry_run=dry_run,
                format=format,
                wait=wait,
                key=signing_key(key),
                head=head,
            )
    elif ledger.exists():
        signer = signing_key(key)
        with progress_bar("Deciding who may be published", quiet=quiet or json):
            done = Ledger.open(ledger, **settings).publish(
                data,
                output=output,
                delete=delete,
                correct=correct,
                at_once=at_once,
                whole=whole,
                again=again,
                dry_run=dry_run,
                format=format,
                wait=wait,
                key=signer,
                head=head,
            )
    else:
        _require_nothing_else(
            "when a ledger is started",
            "nothing was published yet",
            delete=delete,
            correct=correct,
            output=output,
            key=key,
            head=head,
            level=level,
        )
        with progress_bar("Starting the ledger", quiet=quiet or json):
            done = start_ledger(
                data, ledger, source=source, above=above, dry_run=dry_run, **settings
            )
    _show(done, json=json, quiet=quiet)


def _show(done: "Publication | StreamPublication", *, json: bool, quiet: bool) -> None:
    finish(done, json=json, quiet=quiet)
    if json:
        return
    if quiet:
        for remark in (*getattr(done, "notes", ()), *done.content().remarks):
            say(clean(remark))
        return
    place, sequence = done.place or done.folder, done.sequence
    if place is not None:
        say(f"Written: {clean(place)}")
    if done.head:
        say(f"Entry {sequence}, hash {done.head}: keep it, and give it next time as --head.")


def _parse_rows(text: str | None) -> "RowsPerPerson | None":
    """Read how many rows a person may have."""
    if text is None:
        return None
    if text == "any":
        return "any"
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise ParameterError("rows-per-person", text, "a whole number, or any")
    return int(text)


def _parse_levels(texts: list[str]) -> dict[str, int]:
    """Read `column=level`."""
    found = {}
    for name, value in _parse_values(split_names(texts)).items():
        if value is None or not value.isdecimal():
            raise ParameterError("level", f"{name}={value}", "column=level, as in age=2")
        found[name] = int(value)
    return found


def _require_nothing_else(when: str, why: str = "", **given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise ParameterError(name, value, f"left out {when}", why=why)


def _warn_of_access(ledger: Path) -> None:
    from sfumato.files.private import describe_access

    if ledger.is_file():
        for warning in describe_access(ledger):
            say(clean(f"Warning: {warning}"))


# `sfumato headroom`: how many more rows the groups of a ledger take.


@command(
    examples="sfumato headroom clinic.ledger\n"
    "sfumato headroom clinic.ledger --group 'age=30 to 39' --values illness=flu,pay=low\n"
    "sfumato headroom clinic.ledger --draw headroom.svg",
    python='print(sf.Ledger.open("clinic.ledger").headroom([{"illness": "flu"}]))',
)
def headroom(
    ledger: Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger.")],
    values: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE,…", help="A combination to look at in every group."),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=LABEL", help="Only groups with this label."),
    ] = None,
    most: Annotated[
        int | None, typer.Option(metavar="N", help="Show only this many, the closest to the limit.")
    ] = 20,
    draw: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a drawing as SVG there.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Show how close each published group is to alpha.

    For the likeliest combination of every group, for those asked for and those rows wait for:
    what it tells, by how much the last release raised that, and how many more rows may have it.
    """
    from sfumato.ledger.publishing.ledger import Ledger

    if draw is not None:
        refuse_existing(draw, force=force, private="the drawing")
    _warn_of_access(ledger)
    asked = [_parse_values(split_names([text])) for text in values or ()]
    wanted = _parse_values(group or [])
    with progress_bar("Measuring the groups", quiet=json):
        found = Ledger.open(ledger).headroom(asked, group=wanted, most=most)
    if draw is not None:
        write_text(draw, found.svg(), force=force, private="the drawing")
        say(f"Written: {clean(draw)}")
    finish(found, json=json)


def _parse_values(texts: list[str]) -> dict[str, str | None]:
    """Read `column=value`; with nothing after the sign it is a missing value."""
    found: dict[str, str | None] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise InputError(f"{text!r} does not say which column. Write it as column=value.")
        found[name] = value or None
    return found


# `sfumato ledger`: look into a ledger, and check that it was not edited.


class Action(StrEnum):
    """What to do with a ledger."""

    LOG = "log"
    SHOW = "show"
    VERIFY = "verify"


@command(
    examples="sfumato ledger log clinic.ledger\n"
    "sfumato ledger show clinic.ledger --draw timeline.svg\n"
    "sfumato ledger show clinic.ledger --release 2\n"
    "sfumato ledger verify clinic.ledger --head 3f5a…",
    python='ledger = sf.Ledger.open("clinic.ledger")\nprint(ledger.overview(), ledger.verify())',
)
def ledger(
    action: Annotated[
        Action,
        typer.Argument(
            metavar="ACTION",
            help="log: all releases. show: who joined when, and who waits. verify: was it edited?",
        ),
    ],
    file: Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger.")],
    release: Annotated[
        int | None, typer.Option(metavar="N", help="With show: the groups after that release.")
    ] = None,
    draw: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With show: write a timeline as SVG there."),
    ] = None,
    force: ForceOption = False,
    head: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="With verify: the last hash as it was kept elsewhere."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the releases of a ledger, show who is in it, or recompute its chain of hashes.

    The exit code of verify is 1 if something is not as it was written.
    """
    from sfumato.ledger.publishing.ledger import Ledger, history_content
    from sfumato.showing.content import Content, Sentence

    if draw is not None:
        refuse_existing(draw, force=force, private="the drawing")
    found = Ledger.open(file)
    _warn_of_access(file)
    if action is Action.LOG:
        entries = found.history
        write_json(entries) if json else show(history_content(entries))
        return
    if action is Action.SHOW:
        overview = found.overview()
        if draw is not None:
            write_text(draw, overview.svg(), force=force, private="the drawing")
            say(f"Written: {clean(draw)}")
        finish(overview if release is None else found.contents(release), json=json)
        return
    with progress_bar("Recomputing the chain", quiet=json):
        faults = found.verify(head)
    if json:
        write_json({"holds": not faults, "faults": faults})
    elif faults:
        show(
            Content("the ledger is damaged, or was edited", tuple(map(Sentence, faults)), "broken")
        )
    else:
        show(Content("the ledger is as it was written", verdict="holds"))
    if faults:
        raise typer.Exit(BROKEN)
