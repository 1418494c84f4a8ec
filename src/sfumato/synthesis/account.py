"""Accounts: what was spent on a source over all its noisy releases, and what that promises."""

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, OutputError, require_number
from sfumato.files import read_small, write_file
from sfumato.showing.content import Content, ContentTable, Showable
from sfumato.synthesis.budget import PrivacyBudget, epsilon_of

_FORMAT = 1
_MOST_BYTES = 1 << 24
_WHAT = "the account of a budget"
_SLACK = 1e-9
"""Sums of floats: what is exactly the limit is within it."""


@dataclass(frozen=True)
class Spending:
    """What one release spent."""

    what: str
    when: str
    epsilon: float
    delta: float
    rho: float | None
    unit: str
    contributions: int

    @property
    def budget(self) -> PrivacyBudget:
        """What it spent, as a budget."""
        return PrivacyBudget(self.epsilon, self.delta, self.rho)


@dataclass(frozen=True)
class PrivacyAccount(Showable):
    """What was spent on one source, and the most that may be.

    Releases of the same people add up. Of Gaussian noise ρ is added, and ε of the sum computed at
    the account's δ by OpenDP; pure releases count with ε²/2 beside them. Where plain sums of ε and
    of δ promise more, they count.

    Example:
        >>> account = PrivacyAccount(3.0, 0.0)
        >>> account = account.with_spent(PrivacyBudget.of(epsilon=1.0), "ward", when="2026-01-01")
        >>> account = account.with_spent(PrivacyBudget.of(epsilon=1.5), "ward", when="2026-02-01")
        >>> account.spent, account.left
        (2.5, 0.5)
        >>> account.with_spent(PrivacyBudget.of(epsilon=1.0), "ward", when="2026-03-01")
        Traceback (most recent call last):
        sfumato.errors.InputError: with epsilon 1 the releases of this source would promise epsilon
        3.5 together, and its account allows 3. 0.5 is left. Spend less, or publish nothing more.
    """

    epsilon: float
    """The most that all releases together may spend."""

    delta: float
    """The δ at which that is meant; 0 for pure releases only."""

    spendings: tuple[Spending, ...] = ()

    @classmethod
    def of(cls, epsilon: float, delta: float | None = None) -> Self:
        """Return an account of which nothing is spent.

        Args:
            epsilon: The most that all releases together may spend.
            delta: The δ at which that is meant; None for pure releases only.
        """
        require_number("epsilon", epsilon, above=0, at_most=100)
        if delta:
            require_number("delta", delta, above=0, below=1e-3)
        return cls(float(epsilon), float(delta or 0.0))

    @property
    def spent(self) -> float:
        """ε of all releases together, at the account's δ."""
        return epsilon_together(tuple(each.budget for each in self.spendings), self.delta)

    @property
    def left(self) -> float:
        """The limit without what was spent; of releases with δ, more than that may be left."""
        return max(0.0, self.epsilon - self.spent)

    def with_spent(
        self,
        budget: PrivacyBudget,
        what: str,
        *,
        unit: str = "row",
        contributions: int = 1,
        when: str | None = None,
    ) -> Self:
        """Return the account with one more release; raise if that is beyond its limit.

        Args:
            budget: What the release spends.
            what: What it is of, in words.
            unit: Whom its promise is about.
            contributions: The most rows of a unit that count.
            when: The time; None is now.
        """
        others = {each.unit for each in self.spendings} - {unit}
        if others:
            raise InputError(
                f"this account is about each {others.pop()}, and the release about each {unit}: "
                "such promises do not add up. Use the same policy, or another account."
            )
        if budget.delta and not self.delta:
            raise InputError(
                "this account is of pure releases, and the release has a delta. Leave it out, or "
                "open an account with one."
            )
        now = when or datetime.now(UTC).isoformat(timespec="seconds")
        new = Spending(what, now, budget.epsilon, budget.delta, budget.rho, unit, contributions)
        made = type(self)(self.epsilon, self.delta, (*self.spendings, new))
        if made.spent > self.epsilon * (1 + _SLACK):
            raise InputError(
                f"with {budget} the releases of this source would promise epsilon "
                f"{made.spent:.6g} together, and its account allows {self.epsilon:.6g}. "
                f"{self.left:.6g} is left. Spend less, or publish nothing more."
            )
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "format": _FORMAT,
            "limit": {"epsilon": self.epsilon, "delta": self.delta},
            "spent": self.spent,
            "releases": [vars(each) for each in self.spendings],
        }

    def content(self) -> Content:
        """Return what was spent and what is promised together."""
        at = f" at delta {self.delta:.3g}" if self.delta else ""
        told = f"epsilon {self.spent:.4g} of {self.epsilon:.4g} spent{at}"
        rows = [
            [each.when, each.what, str(each.budget), f"each {each.unit}"] for each in self.spendings
        ]
        table = ContentTable.of("", ["when", "of", "spent", "about"], rows, most=None)
        return Content(told, (table,) if rows else ())


def epsilon_together(budgets: tuple[PrivacyBudget, ...], delta: float) -> float:
    """Return the ε that several releases promise together, at δ.

    The least of what sums say: of ε, if their δ together are no more than δ, and of ρ. What is
    ε-private is ε²/2 of zero-concentrated (Bun and Steinke 2016,
    https://doi.org/10.1007/978-3-662-53641-4_24).

    >>> round(epsilon_together((PrivacyBudget(0.5), PrivacyBudget(1.0)), 0.0), 6)
    1.5
    """
    if not budgets:
        return 0.0
    plain = math.fsum(each.epsilon for each in budgets)
    enough = math.fsum(each.delta for each in budgets) <= delta * (1 + _SLACK)
    found = [plain] if enough else []
    if delta:
        rho = math.fsum(each.epsilon**2 / 2 if each.rho is None else each.rho for each in budgets)
        found.append(epsilon_of(rho, delta))
    return min(found, default=math.inf)


def read_account(path: Path) -> PrivacyAccount:
    """Read an account; whatever has not the right shape is an error."""
    try:
        plain = json.loads(read_small(path, _WHAT, _MOST_BYTES))
    except FileNotFoundError:
        raise InputError(
            f"there is no account {str(path)!r}. Open one: sfumato account {path} --epsilon 3 "
            "--delta 1e-6 (sf.tools.account)."
        ) from None
    except OSError as error:
        raise InputError(f"{_WHAT} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{str(path)!r} is damaged: it is not JSON") from None
    try:
        known = plain["format"] == _FORMAT
        limit, said = plain["limit"], float(plain["spent"])
        account = PrivacyAccount.of(limit["epsilon"], limit["delta"])
        spendings = tuple(map(_spending, plain["releases"]))
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        known = not isinstance(plain, dict) or plain.get("format") in (None, _FORMAT)
        if known:
            raise InputError(f"{str(path)!r} is damaged: it is no account of a budget") from None
    if not known:
        raise InputError(f"{str(path)!r} is of a format that is not known here")
    found = PrivacyAccount(account.epsilon, account.delta, spendings)
    if not math.isclose(found.spent, said, rel_tol=1e-6, abs_tol=1e-12):
        raise InputError(
            f"{str(path)!r} is damaged: its releases do not add up to what it says was spent"
        )
    return found


def _spending(plain: Mapping[str, Any]) -> Spending:
    rho = plain["rho"]
    made = Spending(
        str(plain["what"]),
        str(plain["when"]),
        float(plain["epsilon"]),
        float(plain["delta"]),
        None if rho is None else float(rho),
        str(plain["unit"]),
        int(plain["contributions"]),
    )
    numbers = (made.epsilon, made.delta, 1.0 if made.rho is None else made.rho)
    if not all(math.isfinite(each) and each >= 0 for each in numbers) or made.epsilon <= 0:
        raise TypeError
    if (made.delta > 0) != (made.rho is not None):
        raise TypeError
    return made


def write_account(path: Path, account: PrivacyAccount) -> None:
    """Write an account, readable to its owner alone."""
    text = json.dumps(account.to_dict(), indent=2, ensure_ascii=False) + "\n"
    write_file(path, text, private=_WHAT)


@contextmanager
def _hold_lock(path: Path) -> Iterator[None]:
    """Let no other process change an account meanwhile."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        handle = lock.open("x")
    except FileExistsError:
        raise InputError(
            f"{str(path)!r} is in use: another release is being made from it. If none is, remove "
            f"{lock.name!r}."
        ) from None
    except OSError as error:
        raise OutputError(f"cannot write {str(path)!r}: {error.strerror}") from None
    try:
        with handle:
            yield
    finally:
        lock.unlink(missing_ok=True)


def open_account(path: Path, account: PrivacyAccount) -> None:
    """Write a new account; raise if one is there."""
    # A link and what it leads to are one account.
    path = path.resolve()
    with _hold_lock(path):
        if path.exists():
            raise OutputError(
                f"{str(path)!r} exists, and an account is never replaced: what was spent stays "
                "spent. Leave epsilon out to read it, or name another file."
            )
        write_account(path, account)


def spend(
    path: Path, budget: PrivacyBudget, what: str, *, unit: str, contributions: int
) -> PrivacyAccount:
    """Write down what a release spends, before it does; raise if that is beyond the limit.

    What was written down counts as spent, whether or not the release appears.

    Args:
        path: The account.
        budget: What the release spends.
        what: What it is of.
        unit: Whom its promise is about.
        contributions: The most rows of a unit that count.
    """
    path = path.resolve()
    with _hold_lock(path):
        account = read_account(path)
        made = account.with_spent(budget, what, unit=unit, contributions=contributions)
        write_account(path, made)
    return made
