"""Noise in the counts of decoupled tables: the budget that a policy asks for."""

from collections.abc import Mapping
from typing import Self, TypeAlias

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_int, require_number, suggest

GivenNoise: TypeAlias = Mapping[str, int | float | str]
"""Noise as policies write it: see `NoiseBudget`."""


@dataclass(frozen=True)
class NoiseBudget:
    """How much one person may change the counts that are published.

    Example:
        >>> NoiseBudget.read({"epsilon": 1, "delta": 1e-9}).contributions
        1
        >>> NoiseBudget.read({"epsilon": 1, "detla": 1e-9})
        Traceback (most recent call last):
        sfumato.errors.ParameterError: noise must be settings that it has, got 'detla': Did you mean
        'delta'? Known: 'epsilon', 'delta', 'rho', 'contributions', 'unit'.
    """

    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None
    contributions: int = 1
    """The most rows of a person that count."""

    unit: str = "person"
    """Whom the promise is about."""

    @classmethod
    def read(cls, given: GivenNoise) -> Self:
        """Read the settings of a policy; raise if they are no budget."""
        known = list(cls.__dataclass_fields__)
        for name in given:
            if name not in known:
                why = suggest(str(name), known)
                raise ParameterError("noise", str(name), "settings that it has", why=why)
        found = cls(**given)  # type: ignore[arg-type]
        if (found.epsilon is None) == (found.rho is None):
            why = "as in noise: {epsilon: 1}, or noise: {rho: 0.05, delta: 1e-9}"
            raise ParameterError("noise", dict(given), "epsilon, or rho in its place", why=why)
        for name in ("epsilon", "delta", "rho"):
            number = getattr(found, name)
            if number is not None:
                require_number(f"noise: {name}", number, at_least=0)
        require_int("noise: contributions", found.contributions, at_least=1)
        if found.unit not in ("person", "household"):
            raise ParameterError("noise: unit", found.unit, "'person' or 'household'")
        return found
