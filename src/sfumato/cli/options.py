"""Options that several commands have."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

DataArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, Parquet or Feather file, or the address of a table in DuckDB, PostgreSQL or "
        "Spark.",
    ),
]

PublishedArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="RELEASE_OR_FILE",
        help="A release folder, a CSV, Parquet or Feather file, or the address of a table in "
        "DuckDB, PostgreSQL or Spark.",
    ),
]

ReleaseArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="RELEASE",
        help="The folder of a release, or the address of one in DuckDB, PostgreSQL or Spark.",
    ),
]

OriginalArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="ORIGINAL", help="The table that was released: a CSV, Parquet or Feather file."
    ),
]

ReleasesArgument: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="RELEASE_OR_FILE...", help="Release folders, decoupled or not, or published files."
    ),
]

SeedOption: TypeAlias = Annotated[
    int, typer.Option(metavar="N", help="Where all that is drawn comes from.")
]

RolesOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--policy", "-p", metavar="FILE", help="Take the roles from a policy."),
]

QiOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--qi", metavar="COLUMNS", help="The quasi-identifiers, between commas."),
]

SensitiveOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="What nobody should learn, between commas."),
]

SupportOption: TypeAlias = Annotated[
    int | None,
    typer.Option(metavar="ROWS", help="Fewest rows behind a rule; else the k promised, or 5."),
]

FormatOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--format", metavar="csv|parquet|feather", help="If not the input's."),
]

ReplaceOption: TypeAlias = Annotated[
    bool, typer.Option("--force", help="Replace a release that is there; nothing else.")
]

KeyOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--key", metavar="FILE", help="Sign it with this private key."),
]

JsonOption: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON document to stdout, and nothing else.")
]

ForceOption: TypeAlias = Annotated[
    bool, typer.Option("--force", help="Replace what is already there.")
]

QuietOption: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="Say nothing unless something is wrong.")
]
