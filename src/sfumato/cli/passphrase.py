"""Keys for commands: a passphrase comes from the environment or from whoever sits there."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sfumato.cli.show import clean, say
from sfumato.errors import InputError

if TYPE_CHECKING:
    from sfumato.evidence import SigningKey

VARIABLE = "SFUMATO_PASSPHRASE"


def signing_key(path: Path | None) -> "SigningKey | None":
    """Read a private key; ask for its passphrase if it has one."""
    if path is None:
        return None
    from sfumato.evidence import SigningKey
    from sfumato.evidence.keys import is_locked, is_open

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
        raise InputError(f"there is nobody to ask for the passphrase. Put it into {VARIABLE}.")
    return str(typer.prompt("Passphrase", hide_input=True, confirmation_prompt=new, err=True))
