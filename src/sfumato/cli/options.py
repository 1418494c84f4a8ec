"""Options that several commands have."""

from typing import Annotated, TypeAlias

import typer

DataArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="DATA", help="A CSV, Parquet or Feather file.")
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
