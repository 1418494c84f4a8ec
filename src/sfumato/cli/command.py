"""Commands: a function, its examples, the same thing in Python, and the exit codes."""

import os
import re
import sys
import traceback
from collections.abc import Callable, Collection, Mapping
from functools import cached_property, wraps
from inspect import Parameter, signature
from typing import Any, NoReturn, ParamSpec, get_type_hints

import typer

from sfumato.cli.options import InputOption, QuietOption, read_input
from sfumato.cli.output import abandon, hush, say
from sfumato.cli.wording import option_of, with_input, with_options
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, SfumatoError, VerificationError, lacks_memory, reason_of
from sfumato.files.reading import listening, saying, tell

BROKEN = 1
"""The promises do not hold."""

WRONG = 2
"""The request was wrong, or the machine cannot do it."""

FAULT = 70
"""A fault of Sfumato."""

_NO_MEMORY = (
    "there is not enough memory for this, and nothing was left behind. Give it more, close other "
    "programs, or make it smaller: fewer columns, or --memory for anonymize."
)

_NO_PERMISSION = ". Change the permissions, or choose another place."

INTERRUPTED = 130
PIPE_CLOSED = 141

INPUT = "input"
QUIET = "quiet"
_FILES = {"DATA", "RELEASE_OR_FILE", "RELEASE_OR_FILE...", "ORIGINAL"}
"""What arguments are called that may be text files."""

_ROLES = {"qi": "quasi-identifiers", "sensitive": "sensitive columns"}
"""What the command line may say in place of a policy, by option."""

P = ParamSpec("P")


def guard(command: Callable[P, None]) -> Callable[P, None]:
    """Return a command whose errors become a message and an exit code; never a traceback."""
    own = {*signature(command).parameters}

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        reads_text = INPUT in kwargs
        try:
            how = read_input(kwargs.pop(INPUT, None) or ())  # type: ignore[arg-type]
            quiet = bool(kwargs.pop(QUIET, False))
            with hush(quiet), saying(how), listening(_hear(quiet=quiet)):
                _tell_roles(kwargs)
                command(*args, **kwargs)
            sys.stdout.flush()
        except typer.Exit:
            raise
        except VerificationError as error:
            _end(with_options(str(error)), BROKEN)
        except SfumatoError as error:
            _end(_NO_MEMORY if lacks_memory(error) else _in_options(error, own, reads_text), WRONG)
        except BrokenPipeError:
            # The reader closed the pipe: nothing that is written now would be read.
            abandon(sys.stdout)
            raise typer.Exit(PIPE_CLOSED) from None
        except KeyboardInterrupt:
            say("sfumato: interrupted, and nothing was left behind")
            raise typer.Exit(INTERRUPTED) from None
        except OSError as error:
            abandon(sys.stdout)
            named = f"{error.filename}: " if error.filename else ""
            hint = _NO_PERMISSION if isinstance(error, PermissionError) else ""
            _end(f"{named}{reason_of(error)}{hint}", WRONG)
        except Exception as error:  # noqa: BLE001 - the last net: a user never sees a traceback
            if lacks_memory(error):
                _end(_NO_MEMORY, WRONG)
            _confess(error)

    return run


def _in_options(error: SfumatoError, own: Collection[str], reads_text: bool) -> str:
    """Return the text of an error, which names the options of a command and no arguments."""
    text = str(error)
    if isinstance(error, ParameterError) and text.startswith(f"{error.name} "):
        option = option_of(error.name)
        names = (error.name, option.lstrip("-").replace("-", "_"))
        if option != "-p" and any(name in own for name in names):
            text = option + text[len(error.name) :]
    text = with_options(text)
    return with_input(text) if reads_text else text


def _tell_roles(given: Mapping[str, object]) -> None:
    """Pass on which columns the command line names in place of the policy."""
    for option, what in _ROLES.items():
        if given.get("policy") is not None and given.get(option) is not None:
            tell(f"the {what} are those of --{option}, in place of the policy's.")


def _hear(*, quiet: bool) -> Callable[[str], None]:
    """Return what is done with notes on how files are read."""
    return lambda note: None if quiet else say(f"Note: {with_options(note)}")


def _end(text: str, code: int) -> NoReturn:
    say(f"sfumato: error: {_without_passwords(text)}")
    raise typer.Exit(code) from None


def _without_passwords(text: str) -> str:
    """Return a message without the user and password of a database address.

    >>> _without_passwords("no table 'postgres://ann:s3cret@db/clinic?table=x'")
    "no table 'postgres://db/clinic?table=x'"
    """
    return re.sub(r"://[^/\s'\"]*@", "://", text)


def _confess(error: Exception) -> NoReturn:
    """Report a bug. Its text may hold data about people, so only its type is shown."""
    if os.environ.get("SFUMATO_DEBUG") == "1":
        say("".join(traceback.format_exception(error)))
    say(
        f"sfumato: this is a fault of Sfumato ({type(error).__name__}), not of yours, and nothing "
        "was left behind. Please report it. SFUMATO_DEBUG=1 shows the details; look through "
        "them before you pass them on, for they may hold data."
    )
    raise typer.Exit(FAULT) from None


def _with_common(run: Callable[..., None]) -> Callable[..., None]:
    """Return a command with --quiet, and with --input if it reads tables that may be text files."""
    own = signature(run)
    hints = get_type_hints(run, include_extras=True)
    arguments = [each for hint in hints.values() for each in getattr(hint, "__metadata__", ())]
    added: dict[str, Any] = {QUIET: QuietOption}
    if any(getattr(each, "metavar", None) in _FILES for each in arguments):
        added[INPUT] = InputOption
    parameters = [each.replace(annotation=hints[name]) for name, each in own.parameters.items()]
    for name, hint in added.items():
        default = False if name == QUIET else None
        parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint))
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {**hints, **added}
    return run


@dataclass(frozen=True)
class Command:
    """A function for the command line, and what its help ends with."""

    function: Callable[..., None]
    epilog: str
    group: str = ""
    """The command that it is a part of, as `ledger` of `sfumato ledger add`."""

    @property
    def name(self) -> str:
        """The name that users type."""
        return self.function.__name__.replace("_", "-")

    @cached_property
    def run(self) -> Callable[..., None]:
        """What is run: the function with its errors in words, and with the options of all."""
        return _with_common(guard(self.function))


def command(
    *, examples: str, python: str, group: str = ""
) -> Callable[[Callable[..., None]], Command]:
    """Return a decorator that makes a function a command.

    Args:
        examples: Command lines, one per line.
        python: The same thing in Python.
        group: The command that it is a part of.
    """

    def make(function: Callable[..., None]) -> Command:
        parts = {"Examples": examples, "In Python": f"import sfumato as sf\n{python}"}
        # A paragraph that starts with a backspace keeps its lines as they are.
        paragraphs = [
            "\b\n" + "\n".join([f"{title}:", *(f"  {line}" for line in text.splitlines())])
            for title, text in parts.items()
        ]
        return Command(function, "\n\n".join(paragraphs), group)

    return make
