"""Options that several commands have."""

import csv
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from sfumato.cli.output import clean, say
from sfumato.errors import InputError, OutputError, ParameterError
from sfumato.files.reading import Reading

if TYPE_CHECKING:
    from sfumato.evidence import SigningKey
    from sfumato.policy import Policy

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

MadeWithOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--policy", "-p", metavar="FILE", help="The policy the release was made with."),
]

PopulationOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="All people the data was drawn from, for k-map and delta-presence; else the policy's.",
    ),
]

ProfileOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="NAME|FILE",
        help="The rule you answer to: hipaa-safe-harbor, wp216, ema-0070, statistics-office, or a "
        "YAML file.",
    ),
]

ReleaseOutputOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER|table:NAME",
        help="The release folder to write, or a table of the database that the data is in.",
    ),
]

DrawOption: TypeAlias = Annotated[
    Path | None, typer.Option("--draw", metavar="FILE", help="Write a drawing as SVG there.")
]

QiOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--qi", metavar="COLUMNS", help="The quasi-identifiers, between commas."),
]

SensitiveOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="What no adversary should learn, between commas."),
]

PersonOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column that identifies people, if they may have several rows.",
    ),
]

HouseholdOption: TypeAlias = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column that identifies households.")
]

SetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting in place of the policy's: k, l, t …, suppression, loss, search, missing; "
        "may be repeated.",
    ),
]

SupportOption: TypeAlias = Annotated[
    int | None,
    typer.Option(metavar="ROWS", help="Fewest rows behind a rule; else the k promised, or 5."),
]

FormatOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--format", metavar="csv|parquet|feather|sav|dta|xlsx", help="If not the input's."
    ),
]

ReplaceOption: TypeAlias = Annotated[
    bool, typer.Option("--force", help="Replace a release that is there; nothing else.")
]

KeyOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--key", metavar="FILE", help="Sign it with this private key."),
]

EvenSoOption: TypeAlias = Annotated[
    bool, typer.Option("--even-so", help="Sign it although the answer of verify is no.")
]
BecauseOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--because",
        metavar="TEXT",
        help="With --even-so: the reason, which the evidence carries. It is public.",
    ),
]

AccountOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--account",
        metavar="FILE",
        help="The account of the source, which keeps what noise spends and refuses what is beyond "
        "its limit; sfumato account opens one.",
    ),
]

OutsideOption: TypeAlias = Annotated[
    str | None, typer.Option(metavar="FILE", help="A list of people to link with it.")
]
EarlierOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="RELEASE",
        help="A release or table of the same people before this one, to compare the two; may be "
        "repeated.",
    ),
]
PeopleFileOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The private people file of a release that counts people; anonymize writes it.",
    ),
]

InputOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=VALUE",
        help="Override how text files are read: delimiter, encoding, quote, "
        "decimal, thousands, missing or skip, as in decimal=, or missing=NA; may be repeated.",
    ),
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

# Lists of column names on the command line.


def split_names(texts: Iterable[str]) -> list[str]:
    """Split at commas; a name that holds one stands in double quotes.

    >>> split_names(["age, sex", '"pay, net"'])
    ['age', 'sex', 'pay, net']
    """
    given = list(texts)
    try:
        rows = list(csv.reader(given, skipinitialspace=True))
    except csv.Error:
        why = "one that holds a comma or a break of lines stands in double quotes"
        raise ParameterError("columns", given, "names between commas", why=why) from None
    return [name.strip() for row in rows for name in row if name]


# How text files are read, given as `--input NAME=VALUE`.


def read_input(given: Iterable[str]) -> Reading:
    """Read what is said about text files.

    >>> read_input(["decimal=,", "missing=NA", "missing=?"]).missing
    ('NA', '?')
    """
    said: dict[str, Any] = {}
    known = [each.name for each in fields(Reading) if each.name != "numbers"]
    for text in given:
        name, sign, value = text.partition("=")
        if name not in known or not sign:
            raise ParameterError("input", text, f"NAME=VALUE with one of {', '.join(known)}")
        if name == "missing":
            said["missing"] = (*said.get("missing", ()), value)
        elif name == "skip":
            said["skip"] = int(value) if value.isdecimal() and len(value) < 10 else value
        else:
            said[name] = value
    return Reading(**said)


# Settings that are given as `--option NAME=VALUE`.


def settings(given: Iterable[str], option: str = "option") -> dict[str, object]:
    """Read settings as a policy file would: numbers as numbers, lists and mappings in brackets.

    >>> from sfumato.policy.document import resolve
    >>> resolve(settings(["l=3", "columns=[age, zip]", "label=a=b"]))
    {'l': 3, 'columns': ('age', 'zip'), 'label': 'a=b'}
    >>> settings(["noise={epsilon: 1, delta: 1e-9}"])
    {'noise': {'epsilon': '1', 'delta': '1e-9'}}
    """
    found: dict[str, object] = {}
    for each in given:
        name, equals, value = (part.strip() for part in each.partition("="))
        if not name or not equals:
            raise ParameterError(option, each, "NAME=VALUE", why="for example l=3")
        if name in found or (name == "method" and option == "option"):
            raise ParameterError(option, each, "a setting, each once")
        found[name] = _value(value)
    return found


def policy_with(policy: Path, given: Iterable[str] | None) -> "Path | Policy":
    """Return a policy with what is said on the command line in place of what it says itself."""
    if not given:
        return policy
    from sfumato.comparison.variations import override
    from sfumato.files.reading import tell
    from sfumato.policy import policy_of

    before = policy_of(policy)
    changed = override(before, settings(given, "set"))
    told = changed.changes_from(before)
    if told:
        tell(f"{told}, as {policy} has it.")
    return changed


def _value(text: str) -> object:
    from sfumato.policy.document import Plain

    if text.startswith("[") and text.endswith("]"):
        return [_value(item.strip()) for item in text[1:-1].split(",") if item.strip()]
    pairs = [item.partition(":") for item in text[1:-1].split(",")]
    if text.startswith("{") and text.endswith("}") and all(colon for _, colon, _ in pairs):
        return {name.strip(): Plain(value.strip()) for name, _, value in pairs}
    return Plain(text)


# Conditions on the command line: `column=value`, `column=a,b` or `column=low..high`.


def conditions(given: Iterable[str]) -> dict[str, object]:
    """Read what is asked of each column, as `sfumato.estimate` takes it.

    A value that holds a comma stands in double quotes; nothing is a missing value.

    >>> conditions(["age=30..45", "pay=[70, 80)", "sex=f,m", "zip=", 'job="cook, baker"'])
    {'age': ['30..45'], 'pay': ['[70, 80)'], 'sex': ['f', 'm'], 'zip': [None],
     'job': ['cook, baker']}
    """
    from sfumato.conditions import split_conditions

    return {name: _split_values(text) for name, text in split_conditions(given).items()}


def _split_values(text: str) -> list[str | None]:
    # The comma of an interval in brackets parts no values.
    interval = re.fullmatch(r"\s*[\[\](][^\[\]()\"]*[,;][^\[\]()\",;]*[\[\])]\s*", text)
    if interval:
        return [text.strip()]
    found: list[str | None] = list(split_names([text]))
    return found or [None]


# Writing a text file: whole or not at all, and never over something without being told.


def refuse_existing(path: Path, *, force: bool, private: str = "") -> None:
    """Raise if a file may not be written, before any work is done.

    Args:
        path: The file.
        force: Whether it may replace another.
        private: What it is, if it is not for publication: no release may hold it.
    """
    from sfumato.files import refuse_release

    if path.is_dir():
        raise OutputError(f"{str(path)!r} is a folder. Give the name of a file.")
    if os.path.lexists(path) and not force:
        raise OutputError(f"{str(path)!r} exists. Choose another name, or replace it with --force.")
    if private:
        refuse_release(path, private)


def write_text(path: Path, text: str, *, force: bool, private: str = "") -> None:
    """Write a file in UTF-8; a private one is for its owner's eyes only."""
    from sfumato.files import write_file

    refuse_existing(path, force=force, private=private)
    write_file(path, text, private=private)


# Keys for commands: the passphrase comes from the environment, or is asked for.


VARIABLE = "SFUMATO_PASSPHRASE"


def signing_key(path: Path | None) -> "SigningKey | None":
    """Read a private key; ask for its passphrase if it has one."""
    if path is None:
        return None
    from sfumato.evidence import SigningKey
    from sfumato.evidence.keys import is_locked
    from sfumato.files.private import is_open

    locked = is_locked(path)
    if not locked and is_open(path):
        say(f"Warning: others on this machine can read {clean(path)}, and sign in your name")
    return SigningKey.load(path, passphrase() if locked else None)


def passphrase(*, new: bool = False) -> str:
    """Get a passphrase without it being seen; never as an argument, which others can read."""
    given = os.environ.get(VARIABLE)
    if given:
        return given
    if not sys.stdin.isatty():
        raise InputError(f"there is no terminal to ask for the passphrase. Put it into {VARIABLE}.")
    return str(typer.prompt("Passphrase", hide_input=True, confirmation_prompt=new, err=True))


# Several releases on the command line, each under a name.


def name_releases(releases: Sequence[str]) -> dict[str, object]:
    """Call each release by its folder or file, and by its whole path where that is not enough.

    >>> name_releases(["out/k5/", "decoupled"])
    {'k5': 'out/k5/', 'decoupled': 'decoupled'}
    >>> list(name_releases(["a/release", "b/release"]))
    ['a/release', 'b/release']
    """
    from sfumato.releases.release import is_stored, public_name

    whole = [public_name(each) if is_stored(each) else str(Path(each)) for each in releases]
    short = [Path(name).name or name for name in whole]
    names = short if len(set(short)) == len(short) else whole
    if len(set(names)) < len(names):
        raise ParameterError("releases", list(releases), "different releases")
    return dict(zip(names, releases, strict=True))


def insisting(even_so: bool, because: str | None) -> bool | str:
    """Return whether a release is signed although the answer is no, or why."""
    if because is None:
        return even_so
    if not even_so:
        raise ParameterError(
            "--because", because, "left out without --even-so", why="it says why you insist"
        )
    if not because.strip():
        raise ParameterError("--because", because, "a reason in words")
    return because.strip()
