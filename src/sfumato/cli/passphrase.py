"""Keys for commands: a passphrase comes from the environment or from whoever sits there."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sfumato.errors import InputError

if TYPE_CHECKING:
    from sfumato.evidence import SigningKey

VARIABLE = "SFUMATO_PASSPHRASE"


def signing_key(path: Path | None) -> "SigningKey | None":
    """Read a private key; ask for its passphrase if it has one."""
    if path is None:
        return None
    from sfumato.evidence import SigningKey
    from sfumato.evidence.keys import is_locked

    return SigningKey.load(path, passphrase() if is_locked(path) else None)


def passphrase(*, new: bool = False) -> str:
    """Get a passphrase without it being seen; never as an argument, which others can read."""
    given = os.environ.get(VARIABLE)
    if given:
        return given
    if not sys.stdin.isatty():
        raise InputError(f"there is nobody to ask for the passphrase. Put it into {VARIABLE}.")
    return str(typer.prompt("Passphrase", hide_input=True, confirmation_prompt=new, err=True))
