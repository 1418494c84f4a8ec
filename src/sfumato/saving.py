"""Saving a text that somebody asked for under a name of their own."""

from pathlib import Path

from sfumato.errors import OutputError


def save_text(path: str | Path, text: str) -> Path:
    """Write a file in UTF-8; one that is there is replaced.

    >>> save_text("nowhere/at/all.svg", "<svg/>")
    Traceback (most recent call last):
    sfumato.errors.OutputError: cannot write 'nowhere/at/all.svg': No such file or directory. ...
    """
    target = Path(path)
    try:
        target.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(
            f"cannot write {str(target)!r}: {error.strerror or error}. Choose another file."
        ) from None
    return target
