"""Budgets: how much one person may change what is published, and what that means as belief."""

import math
from typing import Any, Self

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_int, require_number
from sfumato.synthesis.opendp import libraries

_LEAST = 1e-15
"""No smaller ρ is looked for: nothing would be seen under its noise."""

_STEPS = 60
"""Halvings until a number is known as exactly as floats hold it."""


@dataclass(frozen=True)
class PrivacyBudget:
    """What a release may spend: ε, or ρ of zero-concentrated differential privacy with δ.

    Without δ the promise is pure: noise is of Laplace's distribution, and ε is spent. With δ noise
    is Gaussian, ρ is spent, and ε follows from it at that δ.

    Example:
        >>> PrivacyBudget.of(epsilon=1.0)
        PrivacyBudget(epsilon=1.0, delta=0.0, rho=None)
        >>> PrivacyBudget.of(epsilon=-1)
        Traceback (most recent call last):
        sfumato.errors.ParameterError: epsilon must be a number above 0 and at most 100, got -1
    """

    epsilon: float
    delta: float = 0.0
    rho: float | None = None

    @classmethod
    def of(
        cls,
        epsilon: float | None = None,
        delta: float | None = None,
        rho: float | None = None,
    ) -> Self:
        """Return the budget that is asked for, converted by OpenDP.

        Args:
            epsilon: ε of the promise; with `delta`, ρ is the largest that leads to no more.
            delta: δ of the promise; None for a pure one.
            rho: In place of ε: ρ itself, which takes δ for what it means.
        """
        if (epsilon is None) == (rho is None):
            given = "neither" if epsilon is None else "both"
            raise ParameterError("epsilon", given, "given, or rho in its place")
        if delta is not None and delta != 0:
            require_number("delta", delta, above=0, below=1e-3, why=_WHY_SMALL)
        else:
            delta = None
        if epsilon is not None:
            require_number("epsilon", epsilon, above=0, at_most=100)
            if delta is None:
                return cls(float(epsilon))
            return cls(float(epsilon), float(delta), largest_rho(float(epsilon), float(delta)))
        require_number("rho", rho, above=0, at_most=1000)
        assert rho is not None  # noqa: S101 - it was required
        if delta is None:
            raise ParameterError("delta", delta, "given with rho, as in 1e-9", why=_WHY_DELTA)
        return cls(epsilon_of(float(rho), float(delta)), float(delta), float(rho))

    @property
    def pure(self) -> bool:
        """Whether nothing but ε is promised."""
        return self.rho is None

    @property
    def spent(self) -> float:
        """What mechanisms divide among themselves: ε of a pure budget, else ρ."""
        return self.epsilon if self.rho is None else self.rho

    def __str__(self) -> str:
        if self.rho is None:
            return f"epsilon {self.epsilon:.6g}"
        return f"epsilon {self.epsilon:.6g} and delta {self.delta:.3g} (rho {self.rho:.6g})"


_WHY_SMALL = (
    "with probability delta there is no promise at all, so it must be far below one in the number "
    "of people"
)
_WHY_DELTA = "rho says what epsilon is at each delta"


def epsilon_of(rho: float, delta: float) -> float:
    """Return the ε that ρ means at δ, by OpenDP's own conversion."""
    lib: Any = libraries().dp
    space = lib.atom_domain(T=float, nan=False), lib.absolute_distance(T=float)
    # A Gaussian of this scale spends ρ on a change of 1; a hair wider, as it is rounded up.
    scale = math.sqrt(0.5 / rho)
    noise = lib.m.make_gaussian(*space, scale=scale)
    return float(lib.c.make_zCDP_to_approxDP(noise).map(1.0).epsilon(delta))


def largest_rho(epsilon: float, delta: float) -> float:
    """Return the largest ρ that means no more than ε at δ."""
    low, high = 0.0, max(epsilon, _LEAST)
    while epsilon_of(high, delta) <= epsilon:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if epsilon_of(middle, delta) <= epsilon:
            low = middle
        else:
            high = middle
    if low < _LEAST:
        raise ParameterError(
            "epsilon", epsilon, "larger, or delta larger", why="no noise is enough"
        )
    return low


def require_contributions(rows: int) -> int:
    """Return the most rows of a person that count; raise if that is no number of rows."""
    require_int("contributions", rows, at_least=1)
    return rows


_WIDEST = 1_000_000


def require_scale(budget: PrivacyBudget, parts: int, contributions: int) -> None:
    """Raise if the noise of a part of a budget would be wider than tables are long.

    As many rows are drawn as noise says that there are.

    Args:
        budget: What may be spent.
        parts: How many equal parts it has.
        contributions: The most rows of a person that count.

    >>> require_scale(PrivacyBudget.of(epsilon=0.01), 18, 1)
    """
    part = budget.spent / parts
    wide = contributions / (part if budget.pure else math.sqrt(2 * part))
    if wide > _WIDEST:
        raise ParameterError(
            "epsilon",
            float(f"{budget.epsilon:.3g}"),
            "larger, or contributions smaller",
            why=f"noise of about {wide:.0e} rows would drown every count",
        )
