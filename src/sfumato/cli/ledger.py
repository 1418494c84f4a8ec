"""`sfumato ledger …`: start a ledger, publish increments, show headroom, look into it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from sfumato.cli.command import BROKEN, command
from sfumato.cli.options import (
    DrawOption,
    EvenSoOption,
    ForceOption,
    JsonOption,
    KeyOption,
    refuse_existing,
    signing_key,
    split_names,
    write_text,
)
from sfumato.cli.output import clean, finish, is_quiet, note, progress_bar, say, write_json
from sfumato.cli.output import show as show_contents
from sfumato.errors import InputError, ParameterError

if TYPE_CHECKING:
    from sfumato.ledger.publishing.increments import Publication
    from sfumato.ledger.publishing.ledger import Ledger
    from sfumato.ledger.publishing.streams import StreamPublication
    from sfumato.ledger.store import RowsPerPerson

_REMOVED = "Rows to remove, as they were published."

LedgerArgument: TypeAlias = Annotated[
    Path, typer.Argument(metavar="LEDGER", help="The ledger; private, keep it so.")
]
OutputOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER|table:NAME",
        help="Write the tables there, or into the database that the rows are in.",
    ),
]
AlphaOption: TypeAlias = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE", help="Highest probability that anyone may assign to a person's value."
    ),
]
KOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "-k", metavar="ROWS", help="Smallest group; by default the k that the release promises."
    ),
]
RulesOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--policy", "-p", metavar="FILE", help="What new rows are generalised by."),
]
RowsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|any",
        help="Where people have several rows: how many of a person are published, alpha being for "
        "all of them together; or any number, and alpha is for each row.",
    ),
]
WholeOption: TypeAlias = Annotated[
    bool, typer.Option("--whole", help="Write all tables, not only those of the newcomers.")
]
AgainOption: TypeAlias = Annotated[
    bool, typer.Option("--again", help="Take rows that were given before.")
]
AtOnceOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--at-once", help="Remove these rows now, even if others of their cell must leave too."
    ),
]
LeftOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--say-left",
        help="Say how many people of each group are counted although they left; writes all tables.",
    ),
]
DryOption: TypeAlias = Annotated[
    bool, typer.Option("--dry-run", help="Decide and report, and change nothing.")
]
TablesOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="csv, parquet, feather, sav, dta or xlsx; csv if not said.",
    ),
]
WaitOption: TypeAlias = Annotated[
    float, typer.Option(metavar="SECONDS", help="How long to wait for another publisher.")
]
HeadOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="HASH",
        help="The hash that was shown last: an old or rewritten ledger is refused.",
    ),
]


@command(
    examples="sfumato ledger start clinic.ledger decoupled/ --alpha 0.5 -p policy.yaml\n"
    "sfumato ledger start clinic.ledger decoupled/ --alpha 0.5 -k 3 --dry-run",
    python='ledger = sf.Ledger.start("decoupled", "clinic.ledger", alpha=0.5)',
    group="ledger",
)
def start(  # noqa: PLR0917 - options of a command line
    ledger: LedgerArgument,
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="A decoupled release: a folder or an address.")
    ],
    alpha: AlphaOption = None,
    k: KOption = None,
    policy: RulesOption = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="DATA", help="What the release was made of, if hierarchies depend on it."
        ),
    ] = None,
    rows_per_person: RowsOption = None,
    hide_waiting: Annotated[
        bool,
        typer.Option(
            "--hide-waiting",
            help="Keep what waiting reveals within alpha, too: newcomers of a group are decided on "
            "together and once, and those who cannot be published never are.",
        ),
    ] = False,
    above: Annotated[
        bool,
        typer.Option(
            "--above", help="Start even if groups exceed alpha; their people get no guarantee."
        ),
    ] = False,
    dry_run: DryOption = False,
    json: JsonOption = False,
) -> None:
    """Start a ledger with a decoupled release that was published.

    From then on the ledger decides what may be added to the release, removed from it and changed.
    """
    from sfumato.ledger.publishing.ledger import start_ledger

    with progress_bar("Starting the ledger", quiet=json):
        done = start_ledger(
            release,
            ledger,
            source=data,
            above=above,
            dry_run=dry_run,
            alpha=alpha,
            k=k,
            policy=policy,
            rows_per_person=_parse_rows(rows_per_person),
            hide_waiting=hide_waiting,
        )
    _show(done, json=json)


@command(
    examples="sfumato ledger add clinic.ledger new.csv -o increment-2/\n"
    "sfumato ledger add clinic.ledger new.csv --dry-run\n"
    "sfumato ledger add clinic.ledger new.csv --remove withdrawn.csv -o increment-2/\n"
    "sfumato ledger add clinic.ledger 'duckdb:///clinic.db?table=new' -o table:april",
    python='ledger = sf.Ledger.open("clinic.ledger")\n'
    'print(ledger.publish("new.csv", output="increment-2"))',
    group="ledger",
)
def add(  # noqa: PLR0917 - options of a command line
    ledger: LedgerArgument,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="New rows: a file, or the address of a table in DuckDB, PostgreSQL or Spark.",
        ),
    ],
    output: OutputOption = None,
    remove: Annotated[str | None, typer.Option(metavar="DATA", help=_REMOVED)] = None,
    correct: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Rows to change; old_… columns hold what was published."),
    ] = None,
    at_once: AtOnceOption = False,
    whole: WholeOption = False,
    say_left: LeftOption = False,
    again: AgainOption = False,
    dry_run: DryOption = False,
    alpha: AlphaOption = None,
    k: KOption = None,
    policy: RulesOption = None,
    rows_per_person: RowsOption = None,
    format: TablesOption = None,  # noqa: A002 - the word users know
    wait: WaitOption = 10.0,
    key: KeyOption = None,
    even_so: EvenSoOption = False,
    head: HeadOption = None,
    json: JsonOption = False,
) -> None:
    """Add rows, and keep every belief at or below alpha.

    Those who join a group together hide each other, and so do those who leave it: they are at least
    k, and no value is more frequent among them than alpha. All others wait. The exit code is 0
    also if rows wait or are refused: deciding that is what the command is for.
    """
    with progress_bar("Deciding who may be published", quiet=json):
        done = _open(ledger, alpha, k, policy, rows_per_person).publish(
            data,
            output=output,
            delete=remove,
            correct=correct,
            at_once=at_once,
            whole=whole,
            say_left=say_left,
            again=again,
            dry_run=dry_run,
            format=format,
            wait=wait,
            key=signing_key(key),
            even_so=even_so,
            head=head,
        )
    _show(done, json=json)


@command(
    examples="sfumato ledger remove clinic.ledger withdrawn.csv -o release-3/\n"
    "sfumato ledger remove clinic.ledger withdrawn.csv --at-once --dry-run",
    python='ledger = sf.Ledger.open("clinic.ledger")\n'
    'print(ledger.publish(delete="withdrawn.csv", output="release-3"))',
    group="ledger",
)
def remove(  # noqa: PLR0917 - options of a command line
    ledger: LedgerArgument,
    data: Annotated[str, typer.Argument(metavar="DATA", help=_REMOVED)],
    output: OutputOption = None,
    at_once: AtOnceOption = False,
    whole: WholeOption = False,
    say_left: LeftOption = False,
    again: AgainOption = False,
    dry_run: DryOption = False,
    format: TablesOption = None,  # noqa: A002 - the word users know
    wait: WaitOption = 10.0,
    key: KeyOption = None,
    even_so: EvenSoOption = False,
    head: HeadOption = None,
    json: JsonOption = False,
) -> None:
    """Remove rows that were published.

    Those who leave a group together hide each other; who would be told apart waits, unless all
    leave at once.
    """
    with progress_bar("Deciding who may leave", quiet=json):
        done = _open(ledger).publish(
            delete=data,
            output=output,
            at_once=at_once,
            whole=whole,
            say_left=say_left,
            again=again,
            dry_run=dry_run,
            format=format,
            wait=wait,
            key=signing_key(key),
            even_so=even_so,
            head=head,
        )
    _show(done, json=json)


@command(
    examples="sfumato ledger correct clinic.ledger corrections.csv -o release-4/",
    python='ledger = sf.Ledger.open("clinic.ledger")\n'
    'print(ledger.publish(correct="corrections.csv", output="release-4"))',
    group="ledger",
)
def correct(  # noqa: PLR0917 - options of a command line
    ledger: LedgerArgument,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="Rows as they should be; old_… columns hold what was published."
        ),
    ],
    output: OutputOption = None,
    whole: WholeOption = False,
    say_left: LeftOption = False,
    again: AgainOption = False,
    dry_run: DryOption = False,
    format: TablesOption = None,  # noqa: A002 - the word users know
    wait: WaitOption = 10.0,
    key: KeyOption = None,
    even_so: EvenSoOption = False,
    head: HeadOption = None,
    json: JsonOption = False,
) -> None:
    """Correct rows that were published: each leaves as it was, and joins as it should be."""
    with progress_bar("Deciding what may change", quiet=json):
        done = _open(ledger).publish(
            correct=data,
            output=output,
            whole=whole,
            say_left=say_left,
            again=again,
            dry_run=dry_run,
            format=format,
            wait=wait,
            key=signing_key(key),
            even_so=even_so,
            head=head,
        )
    _show(done, json=json)


@command(
    examples="sfumato ledger stream clinic.ledger visits.csv --since seen --every month "
    "-o releases/\n"
    "sfumato ledger stream clinic.ledger inbox/ --since files --start 2026-04.csv -o releases/",
    python='ledger = sf.Ledger.open("clinic.ledger")\n'
    'print(ledger.publish_since("visits.csv", "seen", every="month", output="releases"))',
    group="ledger",
)
def stream(  # noqa: PLR0917 - options of a command line
    ledger: LedgerArgument,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="What grows: a file, an address, or a folder of files."
        ),
    ],
    since: Annotated[
        str,
        typer.Option(
            metavar="COLUMN|files",
            help="How to find new rows: by a column that only grows, or by the files of a folder.",
        ),
    ],
    start: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE|beginning", help="The first time: the first value, or file, that is new."
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="VALUE", help="Take only rows before this value.")
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(
            metavar="WINDOW",
            help="An increment per day, week, month, quarter, year, 1000 (of a column of numbers), "
            "or file.",
        ),
    ] = None,
    zone: Annotated[
        str | None,
        typer.Option(metavar="ZONE", help="With --every: the time zone of days; UTC if not said."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--stream", metavar="NAME", help="Which of several streams this is."),
    ] = None,
    late: Annotated[
        bool,
        typer.Option(
            "--late", help="Also take rows older than the last ones, if the person is new."
        ),
    ] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER|table:NAME",
            help="Each increment has a folder in it, or {window} stands for its name; or the "
            "database that the rows are in.",
        ),
    ] = None,
    whole: WholeOption = False,
    dry_run: DryOption = False,
    alpha: AlphaOption = None,
    k: KOption = None,
    policy: RulesOption = None,
    rows_per_person: RowsOption = None,
    format: TablesOption = None,  # noqa: A002 - the word users know
    wait: WaitOption = 10.0,
    key: KeyOption = None,
    even_so: EvenSoOption = False,
    head: HeadOption = None,
    json: JsonOption = False,
) -> None:
    """Add what is new since the last time, an increment for each window of time.

    It is the same command every night: what was taken before is not taken again.
    """
    with progress_bar("Publishing what is new", quiet=json):
        found = _open(ledger, alpha, k, policy, rows_per_person).publish_since(
            data,
            since,
            start=start,
            until=until,
            every=every,
            zone=zone,
            stream=name or "",
            late=late,
            output=output,
            whole=whole,
            dry_run=dry_run,
            format=format,
            wait=wait,
            key=signing_key(key),
            even_so=even_so,
            head=head,
        )
    _show(found, json=json)


@command(
    examples="sfumato ledger generalise clinic.ledger --level age=2 -o release-5/",
    python='ledger = sf.Ledger.open("clinic.ledger")\n'
    'print(ledger.generalise({"age": 2}, output="release-5"))',
    group="ledger",
)
def generalise(  # noqa: PLR0917 - options of a command line
    ledger: LedgerArgument,
    level: Annotated[
        list[str],
        typer.Option(metavar="COLUMN=LEVEL", help="The level of a quasi-identifier; may repeat."),
    ],
    output: OutputOption = None,
    dry_run: DryOption = False,
    format: TablesOption = None,  # noqa: A002 - the word users know
    wait: WaitOption = 10.0,
    key: KeyOption = None,
    even_so: EvenSoOption = False,
    head: HeadOption = None,
    json: JsonOption = False,
) -> None:
    """Generalise all groups to a level, and publish all tables: larger groups take more rows."""
    with progress_bar("Generalising all groups", quiet=json):
        done = _open(ledger).generalise(
            _parse_levels(level),
            output=output,
            dry_run=dry_run,
            format=format,
            wait=wait,
            key=signing_key(key),
            even_so=even_so,
            head=head,
        )
    _show(done, json=json)


@command(
    examples="sfumato ledger compact clinic.ledger",
    python='sf.Ledger.open("clinic.ledger").compact()',
    group="ledger",
)
def compact(ledger: LedgerArgument, wait: WaitOption = 10.0, head: HeadOption = None) -> None:
    """Remove the exact values that a ledger does not need any more.

    They are those of quasi-identifiers that came with people, also with those who were withdrawn
    or erased since, and whose labels the policy gives again without them.
    """
    with progress_bar("Removing"):
        removed = _open(ledger).compact(wait=wait, head=head)
    say(f"{removed} values removed from {clean(str(ledger))}")


@command(
    examples="sfumato ledger as-printed decoupled/ new.csv --alpha 0.6 -o printed/\n"
    "sfumato ledger as-printed decoupled/ new.csv --alpha 0.6 --known government\n"
    "sfumato ledger as-printed decoupled/ new.csv --alpha 0.6 --reading printed",
    python='print(sf.tools.append("decoupled", "new.csv", alpha=0.6, output="printed"))',
    group="ledger",
)
def as_printed(
    release: Annotated[
        str,
        typer.Argument(metavar="RELEASE", help="A release decoupled by break-merge: a folder."),
    ],
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="New rows, generalised to the same groups; their order counts."
        ),
    ],
    alpha: Annotated[
        float, typer.Option(metavar="SHARE", help="The largest likelihood a row's values may have.")
    ],
    known: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The sensitive column an adversary knows; else any one of them."
        ),
    ] = None,
    reading: Annotated[
        str,
        typer.Option(
            metavar="one-known|printed",
            help="What is multiplied: all shares but the one known; or all, as Algorithm 3 is "
            "printed, and the first refusal ends it.",
        ),
    ] = "one-known",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Write the tables there: no release, a study."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Study Incremental Break-Merge as it is printed: its tables, and what they leak.

    Rows are appended one by one to the tables of a decoupled release, each if the likelihood of
    its values is then at most alpha. A reader who compares the tables with those from before sees
    the newcomers by themselves, so this is not for publication: sfumato ledger add is. No ledger
    is read or changed. The exit code is 0: this studies, and judges nothing.
    """
    from sfumato.tasks.append import append

    with progress_bar("Appending rows", quiet=json):
        done = append(
            release,
            data,
            alpha=alpha,
            known=known,
            reading=reading,  # type: ignore[arg-type] # anything else is refused there
            output=output,
        )
    finish(done, json=json)
    if not json and not is_quiet():
        show_contents(done.tables_content())
    if output is not None:
        note(f"Written: {clean(output)}, which is for study and not for publication.")


def _open(
    ledger: Path,
    alpha: float | None = None,
    k: int | None = None,
    policy: Path | None = None,
    rows_per_person: str | None = None,
) -> "Ledger":
    """Open a ledger; what is given must be what it was started with."""
    from sfumato.ledger.publishing.ledger import Ledger

    return Ledger.open(
        ledger, alpha=alpha, k=k, policy=policy, rows_per_person=_parse_rows(rows_per_person)
    )


def _show(done: "Publication | StreamPublication", *, json: bool) -> None:
    finish(done, json=json)
    if json:
        return
    if is_quiet():
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


def _warn_of_access(ledger: Path) -> None:
    from sfumato.files.private import describe_access

    if ledger.is_file():
        for warning in describe_access(ledger):
            say(clean(f"Warning: {warning}"))


@command(
    examples="sfumato ledger headroom clinic.ledger\n"
    "sfumato ledger headroom clinic.ledger --group 'age=30 to 39' --values illness=flu,pay=low\n"
    "sfumato ledger headroom clinic.ledger --draw headroom.svg",
    python='print(sf.Ledger.open("clinic.ledger").headroom([{"illness": "flu"}]))',
    group="ledger",
)
def headroom(
    ledger: LedgerArgument,
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
    draw: DrawOption = None,
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
        note(f"Written: {clean(draw)}")
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


@command(
    examples="sfumato ledger show clinic.ledger --draw timeline.svg\n"
    "sfumato ledger show clinic.ledger --log\n"
    "sfumato ledger show clinic.ledger --release 2",
    python='ledger = sf.Ledger.open("clinic.ledger")\nprint(ledger.overview(), ledger.history)',
    group="ledger",
)
def show(
    ledger: LedgerArgument,
    log: Annotated[bool, typer.Option("--log", help="List all releases and their hashes.")] = False,
    release: Annotated[
        int | None, typer.Option(metavar="N", help="Show the groups after that release.")
    ] = None,
    draw: DrawOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Show who joined when, and who waits."""
    from sfumato.ledger.publishing.ledger import history_content

    if draw is not None:
        refuse_existing(draw, force=force, private="the drawing")
    found = _open(ledger)
    _warn_of_access(ledger)
    with progress_bar("Reading the ledger", quiet=json):
        overview = None if draw is None and (log or release is not None) else found.overview()
    if draw is not None and overview is not None:
        write_text(draw, overview.svg(), force=force, private="the drawing")
        note(f"Written: {clean(draw)}")
    if log:
        entries = found.history
        write_json(entries) if json else show_contents(history_content(entries))
        return
    asked = overview if release is None else found.contents(release)
    assert asked is not None  # noqa: S101 - it was made above unless a release is asked for
    finish(asked, json=json)


@command(
    examples="sfumato ledger verify clinic.ledger --head 3f5a…",
    python='print(sf.Ledger.open("clinic.ledger").verify())',
    group="ledger",
)
def verify(
    ledger: LedgerArgument,
    head: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="The last hash, from the copy you keep elsewhere."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Recompute the chain of hashes: was the ledger edited?

    The exit code is 1 if something is not as it was written.
    """
    from sfumato.showing.content import Content, Sentence

    found = _open(ledger)
    _warn_of_access(ledger)
    with progress_bar("Recomputing the chain", quiet=json):
        faults = found.verify(head)
    if json:
        write_json({"holds": not faults, "faults": faults})
    elif faults:
        show_contents(
            Content("the ledger is damaged, or was edited", tuple(map(Sentence, faults)), "broken")
        )
    else:
        show_contents(Content("the ledger is as it was written", verdict="holds"))
    if faults:
        raise typer.Exit(BROKEN)
