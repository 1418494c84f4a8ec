"""The door to OpenDP: imported on first use, with the command that installs it if it is not there.

Everything that spends a budget is OpenDP's: noise, selection, composition and the conversion
between its measures. What is here gives it our counts in place of rows.
"""

from functools import cache
from typing import Any

from sfumato.dataclasses import dataclass
from sfumato.errors import MissingExtraError, SfumatoError


@dataclass(frozen=True)
class Libraries:
    """The parts of OpenDP and of mbi that are used, imported."""

    dp: Any
    algorithms: Any
    utilities: Any
    arrays: Any
    internal: Any
    mbi: Any


@cache
def libraries() -> Libraries:
    """Import OpenDP with mbi; raise with the install command if one of them is not there.

    It takes seconds, so that nothing imports it before a mechanism runs.
    """
    try:
        import mbi
        import opendp.prelude as dp
        from opendp import _internal
        from opendp.extras import mbi as algorithms
        from opendp.extras import numpy as arrays
        from opendp.extras.mbi import _utilities
    except ImportError:
        raise MissingExtraError("OpenDP with mbi", "synthetic") from None
    dp.enable_features("contrib", "honest-but-curious")
    return Libraries(dp, algorithms, _utilities, arrays, _internal, mbi)


def has_extra() -> bool:
    """Return whether the extra is installed, without importing it."""
    from importlib.util import find_spec

    return all(find_spec(name) is not None for name in ("opendp", "mbi"))


def require_extra() -> None:
    """Raise with the install command if the extra is not installed, without importing it."""
    if not has_extra():
        raise MissingExtraError("OpenDP with mbi", "synthetic")


class MechanismError(SfumatoError, RuntimeError):
    """OpenDP refused to go on: what it spent until then is spent."""
