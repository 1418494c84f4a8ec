"""Reference page of errors."""

import inspect

from docs.generator.docstrings import doc_of
from docs.generator.markdown import code, joined, prose, table
from sfumato import errors
from sfumato.cli.command import BROKEN, FAULT, WRONG


def classes() -> list[type[errors.SfumatoError]]:
    """List the errors in the order of their file."""
    return [
        kind
        for kind in vars(errors).values()
        if inspect.isclass(kind) and issubclass(kind, errors.SfumatoError)
    ]


def page() -> str:
    """Write the page."""
    sections = [
        joined(
            f"## {kind.__name__}",
            prose(doc_of(kind).summary),
            *doc_of(kind).paragraphs(),
            f"{_bases(kind)}Exit code {_exit_code(kind)}.",
        )
        for kind in classes()
    ]
    rows = [
        ["0", "all promises hold, or what was asked for was done"],
        [str(BROKEN), "a promise does not hold, or could not be checked"],
        [str(WRONG), "the request was wrong, or the machine cannot do it"],
        [str(FAULT), "a fault of Sfumato; `SFUMATO_DEBUG=1` shows the details"],
    ]
    return joined(
        "# Errors",
        "Every error says what is wrong, what was given, what is allowed and what to try. All are "
        "`sf.SfumatoError` and live in `sfumato.errors`; each is also the built-in error one would "
        "expect. The command line shows the text and ends with an exit code.",
        "## Exit codes",
        table(["code", "meaning"], rows),
        *sections,
    )


def _bases(kind: type) -> str:
    names = [base.__name__ for base in kind.__bases__ if base is not Exception]
    return f"Also {' and '.join(map(code, names))}. " if names else "What all others are. "


def _exit_code(kind: type) -> int:
    return BROKEN if issubclass(kind, errors.VerificationError) else WRONG
