"""Commands that make releases: anonymize, protect, decouple, and merge again."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from sfumato.cli.command import BROKEN, command
from sfumato.cli.options import (
    AccountOption,
    BecauseOption,
    DataArgument,
    EvenSoOption,
    ForceOption,
    FormatOption,
    JsonOption,
    KeyOption,
    PublishedArgument,
    QiOption,
    ReleaseOutputOption,
    ReplaceOption,
    SensitiveOption,
    SetOption,
    SupportOption,
    insisting,
    policy_with,
    settings,
    signing_key,
    split_names,
)
from sfumato.cli.output import clean, finish, note, progress_bar
from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.releases.release import DecoupledRelease, Release

KeptPeopleOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Where people are counted: keep who has which rows in this private file (.parquet "
        "or .csv), for sfumato verify.",
    ),
]


@command(
    examples="sfumato anonymize patients.csv -p policy.yaml -o release/\n"
    "sfumato anonymize patients.csv -p policy.yaml -o release/ --method top-down --set k=10\n"
    "sfumato anonymize patients.csv -p policy.yaml -o release/ --key publisher.key\n"
    "sfumato anonymize 'duckdb:///clinic.db?table=patients' -p policy.yaml -o table:released",
    python='release = sf.anonymize("patients.csv", "policy.yaml", output="release")',
)
def anonymize(
    data: DataArgument,
    policy: Annotated[
        Path,
        typer.Option(
            "--policy", "-p", metavar="FILE", help="What must hold; sfumato init drafts one."
        ),
    ],
    output: ReleaseOutputOption,
    *,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="full-domain|regional|top-down|mondrian|bottom-up|mdav",
            help="How rows are recoded, if not as the policy says: all alike, at one level or at a "
            "cut through several, or each only as far as it must be.",
        ),
    ] = None,
    changes: SetOption = None,
    numbers: Annotated[
        list[str] | None,
        typer.Option(
            "--as",
            metavar="COLUMN=text|bounds|midpoint|mean|median",
            help="What is published of a column of ranges: labels, their ends in two columns, the "
            "middle, or the mean or median of a class beside the ends. May be repeated.",
        ),
    ] = None,
    form: FormatOption = None,
    force: ReplaceOption = False,
    key: KeyOption = None,
    even_so: EvenSoOption = False,
    because: BecauseOption = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="How much memory it may take, as in 2GB; if the combinations do not fit, coarser "
            "levels are started from.",
        ),
    ] = None,
    people_file: KeptPeopleOption = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Fix the random order of rows, for experiments. Such a release is not for "
            "publication.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Make a release that keeps a policy.

    The table is generalised until the policy's models hold, with the least possible loss.
    The release is verified before it appears. If anything fails, nothing is written.
    """
    from sfumato.tasks.anonymize import anonymize as task

    with progress_bar(quiet=json) as progress:
        release = task(
            data,
            policy_with(policy, changes),
            method=method,
            as_=_numbers_asked(numbers),
            output=output,
            format=form,
            force=force,
            key=signing_key(key),
            even_so=insisting(even_so, because),
            memory=memory,
            people_file=people_file,
            seed=seed,
            progress=progress,
        )
    finish(release, json=json, note=_where(release))


def _numbers_asked(given: Sequence[str] | None) -> dict[str, str] | None:
    """Read what is published of columns, as in age=bounds; a name may hold a sign of equality."""
    if not given:
        return None
    for each in given:
        if "=" not in each.strip("="):
            raise ParameterError("as", each, "a column and how it is published, as in age=bounds")
    return {name: how for name, _, how in (each.rpartition("=") for each in given)}


def _where(release: "Release | DecoupledRelease", subject: str = "The release is") -> str:
    place = release.folder if release.place is None else release.place
    return f"\n{subject} in {place}; all {len(release.verdict.checks)} checks hold."


# `sfumato protect`: anonymise, detect, mend, and detect again.


@command(
    examples="sfumato protect patients.csv -p policy.yaml -o release/\n"
    "sfumato protect patients.csv -p policy.yaml -o release/ --alpha 0.75 --method bottom-up\n"
    "sfumato protect patients.csv -p policy.yaml -o release/ --until yes --at-most-gone 0.4\n"
    "sfumato protect patients.csv --qi age,zip --sensitive illness -o release/ --until 'with care'",
    python='done = sf.protect("patients.csv", "policy.yaml", output="release")\nprint(done)',
)
def protect(  # noqa: PLR0917 - options of a command line
    data: DataArgument,
    output: ReleaseOutputOption,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            "-p",
            metavar="FILE",
            help="What must hold; without models in it, k = 5 and two values of each sensitive "
            "column. Or name the columns: --qi, --sensitive.",
        ),
    ] = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="yes|'with care'",
            help="Apply the cheapest remedies that lead to this answer, and show what each costs.",
        ),
    ] = None,
    at_most_loss: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Largest normalised loss that remedies may cause."),
    ] = 1.0,
    at_most_gone: Annotated[
        float,
        typer.Option(
            metavar="SHARE",
            help="Largest share of the table that may be gone, columns left out included.",
        ),
    ] = 1.0,
    alpha: Annotated[
        float, typer.Option(metavar="SHARE", help="Repair findings with a probability above this.")
    ] = 0.5,
    support: SupportOption = None,
    method: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="How rows are recoded; if not the policy's."),
    ] = None,
    changes: SetOption = None,
    rounds: Annotated[
        int, typer.Option(metavar="N", help="Most times classes are generalised further.")
    ] = 3,
    keep_together: Annotated[
        bool, typer.Option("--keep-together", help="Never decouple: write one table, and warn.")
    ] = False,
    people_file: KeptPeopleOption = None,
    form: FormatOption = None,
    force: ReplaceOption = False,
    json: JsonOption = False,
) -> None:
    """Make a release, look for what still leaks, and mend it.

    Classes in which quasi-identifiers tell a sensitive value are generalised further. Where
    sensitive columns reveal each other, they are published in tables of their own, unless
    people have several rows: then it is said. What came out is judged as sfumato verify judges it.
    With --until, remedies are tried on counts, and the cheapest chain of them that leads to the
    answer is applied. The exit code is 1 if something is left, or the answer is not reached.
    """
    from sfumato.tasks.protect import protect as task

    with progress_bar(quiet=json) as progress:
        done = task(
            data,
            None if policy is None else policy_with(policy, changes),
            quasi_identifiers=None if qi is None else split_names(qi),
            sensitive=() if sensitive is None else split_names(sensitive),
            until=until,  # type: ignore[arg-type]
            at_most_loss=at_most_loss,
            at_most_gone=at_most_gone,
            method=method,
            alpha=alpha,
            support=support,
            rounds=rounds,
            decouple_with=None if keep_together else "break-merge",
            output=output,
            format=form,
            force=force,
            people_file=people_file,
            progress=progress,
        )
    finish(done, json=json, note=_where(done.release))
    if not done.holds:
        raise typer.Exit(BROKEN)


# `sfumato decouple`: from a release to several tables with weak links.


@command(
    examples="sfumato decouple release/ -o decoupled/\n"
    "sfumato decouple published.csv -o decoupled/ --qi age,zip --sensitive illness,salary\n"
    "sfumato decouple people.csv -o slices/ -p policy.yaml\n"
    "sfumato decouple people.csv -o buckets/ --method anatomy --option l=3 --qi age,zip "
    "--sensitive illness\n"
    "sfumato decouple people.csv -o buckets/ -p policy.yaml --method bucketization --option "
    "column=ward\n"
    "sfumato decouple people.csv -o noisy/ -p policy.yaml --option noise='{epsilon: 1}' --account "
    "clinic.account",
    python='decoupled = sf.decouple("release", "break-merge", output="decoupled")',
)
def decouple(  # noqa: PLR0917 - options of a command line
    what: PublishedArgument,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER|table:NAME",
            help="The folder to write, or tables of the database that the data is in.",
        ),
    ],
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="How to decouple; else as the policy says, or break-merge."
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A setting of --method, a list as [A, B], several as {A: 1}; may be repeated.",
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy", "-p", metavar="FILE", help="Take roles, models and method from a policy."
        ),
    ] = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    form: FormatOption = None,
    force: ReplaceOption = False,
    key: KeyOption = None,
    even_so: EvenSoOption = False,
    because: BecauseOption = None,
    account: AccountOption = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Fix all that is random, for experiments. Such a release is not for publication.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Publish quasi-identifiers and sensitive columns apart.

    With break-merge (breaking, in the literature) one table has a row per person with what others
    may know and a group, and one table per sensitive column counts the values of each group;
    anatomy, bucketization and slicing part rows into buckets; association-hiding keeps rows whole
    and generalises sensitive values. With noise, counts of break-merge are published under
    differential privacy. The tables are verified before they appear. If anything fails, nothing is
    written.
    """
    from sfumato.tasks.decouple import decouple as task

    with progress_bar(quiet=json) as progress:
        release = task(
            what,
            _choose_method(method, option or (), policy),
            output=output,
            quasi_identifiers=None if qi is None else split_names(qi),
            sensitive=None if sensitive is None else split_names(sensitive),
            policy=policy,
            format=form,
            force=force,
            key=signing_key(key),
            even_so=insisting(even_so, because),
            account=account,
            seed=seed,
            progress=progress,
        )
    finish(release, json=json, note=_where(release, "The tables are"))


def _choose_method(
    method: str | None, options: Sequence[str], policy: Path | None
) -> dict[str, object] | None:
    """Return the method with its settings; None leaves both to the policy."""
    if method is None and options and policy is None:
        why = "without a policy nothing else says whose setting it is"
        raise ParameterError("option", options[0], "given together with --method", why=why)
    if method is None:
        return settings(options) or None
    return {"method": method, **settings(options)}


# `sfumato merge`: join the tables of a decoupled release again.


@command(
    examples="sfumato merge decoupled/ -o merged.csv\n"
    "sfumato merge decoupled/ -o merged.parquet --columns illness,salary\n"
    "sfumato merge decoupled/ -o joined.csv --how counts\n"
    "sfumato merge slices/ -o people.csv --how sample",
    python='sf.tools.merge("decoupled", output="merged.csv")\nprint(sf.tools.merge("decoupled"))',
)
def merge(
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE", help="The folder of a decoupled release, or the address of one."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file to write: .csv .parquet .feather"
        ),
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMNS", help="The columns to join; else all of them."),
    ] = None,
    how: Annotated[
        str,
        typer.Option(
            metavar="weights|counts|sample",
            help="All that may be, with the people expected; the count that each table gives as "
            "well; or one draw, a row per person.",
        ),
    ] = "weights",
    seed: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Fixes what a sample draws.")
    ] = None,
    most: Annotated[
        int, typer.Option(metavar="ROWS", help="Refuse to make more rows than this.")
    ] = 10_000_000,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="csv|parquet|feather|sav|dta|xlsx", help="If not by the ending."
        ),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Join decoupled tables on their groups.

    Analysts do so, and adversaries. Every combination that a group may have is a row, with the
    number of people who would have it if the tables had nothing to do with each other: use it as a
    weight. With --how counts the counts of all tables stand beside it, as in the natural join that
    the literature calls merging. With --how sample there is a row per person, in one of all the
    ways to join the tables, drawn at random.
    """
    from sfumato.tasks.merge import merge as task

    with progress_bar() as progress:
        task(
            release,
            columns=None if columns is None else split_names(columns),
            how=how,  # type: ignore[arg-type] # anything else is refused there
            seed=seed,
            output=output,
            format=form,
            most=most,
            force=force,
            progress=progress,
        )
    note(f"Written: {clean(output)}")
