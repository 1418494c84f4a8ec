"""Open the account of a source, or read what was spent on it."""

from os import PathLike
from pathlib import Path

from sfumato.errors import ParameterError
from sfumato.synthesis.account import PrivacyAccount, open_account, read_account


def account(
    path: str | PathLike[str],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
) -> PrivacyAccount:
    """Open an account of what may be spent on a source, or return the one that is there.

    Several releases of the same people tell more than each. `sf.synthesize(..., account=…)`, and
    `sf.decouple` where counts get noise, write down what they spend before they do, and refuse what
    is beyond the limit; the account says what all releases promise together. It is private: it
    tells when releases were tried.

    Args:
        path: The file of the account.
        epsilon: The most that all releases together may spend; None reads an account.
        delta: The delta at which that is meant; None for pure releases only.

    Example:
        >>> import tempfile, pathlib
        >>> file = pathlib.Path(tempfile.mkdtemp(), "clinic.account")
        >>> print(account(file, epsilon=3))
        epsilon 0 of 3 spent
        >>> account(file).left
        3.0
    """
    where = Path(path)
    if epsilon is None:
        if delta is not None:
            raise ParameterError("delta", delta, "given together with epsilon")
        return read_account(where)
    made = PrivacyAccount.of(epsilon, delta)
    open_account(where, made)
    return made
