"""What is asked of the releases: a form of l-diversity of one sensitive column."""

from typing import Any, NamedTuple

from sfumato.models import (
    EntropyLDiversity,
    PrivacyModel,
    ProbabilisticLDiversity,
    RecursiveCLDiversity,
)


class Demand(NamedTuple):
    """How diverse a sensitive column must be.

    Example:
        >>> Demand("salary-class", "recursive", 2, 4).words
        'recursive, c = 4, l = 2'
    """

    sensitive: str
    form: str
    l: int | float
    c: float | None = None

    @property
    def words(self) -> str:
        """Say what is asked for."""
        ratio = "" if self.c is None else f"c = {self.c:g}, "
        return f"{self.form}, {ratio}l = {self.l:g}"

    @property
    def model(self) -> PrivacyModel:
        """What generalisation must keep."""
        if self.form == "probabilistic":
            return ProbabilisticLDiversity(self.sensitive, l=int(self.l))
        if self.form == "entropy":
            return EntropyLDiversity(self.sensitive, l=self.l)
        return RecursiveCLDiversity(self.sensitive, c=self.c or 0, l=int(self.l))

    @property
    def parameters(self) -> dict[str, Any]:
        """The same, as slicing is told."""
        plain: dict[str, Any] = {"l": self.l, "form": self.form}
        return plain if self.c is None else {**plain, "c": self.c}

    @property
    def record(self) -> dict[str, Any]:
        """The same, as it stands in the results."""
        return dict(self._asdict())


OCCUPATION, SALARY = "occupation", "salary-class"

DEMANDS = (
    *(Demand(OCCUPATION, "probabilistic", l) for l in range(2, 9)),
    # Three in four have the same salary class, so that one in two is too much to ask.
    Demand(SALARY, "probabilistic", 2),
    *(Demand(SALARY, "recursive", 2, c) for c in (4, 6, 9, 19)),
    *(Demand(SALARY, "entropy", l) for l in (1.3, 1.5, 1.7, 2)),
)
