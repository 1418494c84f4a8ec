"""A school register of a town that does not exist, year after year, drawn from a seed.

Pupils come with six, move up a class every year and leave at sixteen; some move away, some move in,
some are corrected. Support and meals go with the district.
"""

import numpy as np
import pandas as pd

DISTRICTS = ("Harbour", "Old town", "North", "Mill", "Garden")
SHARES = (0.28, 0.24, 0.22, 0.16, 0.1)
POOR = (0.45, 0.3, 0.25, 0.2, 0.08)
"""How many families of a district get their meals paid."""

LANGUAGES = ("German", "Turkish", "Arabic", "Polish", "Ukrainian", "other")
SUPPORT = (
    "none",
    "reading",
    "mathematics",
    "language",
    "behaviour",
    "hearing or sight",
)


class Town:
    """All pupils of a town; `register` returns those of a year."""

    def __init__(self, pupils: int = 1200, *, seed: int = 1) -> None:
        self._rng = np.random.default_rng(seed)
        self._next = 1
        ages = self._rng.integers(6, 17, pupils)
        self.year = 2022
        self.present = self._draw(ages)

    def _draw(self, ages: np.ndarray) -> pd.DataFrame:
        """Return new pupils of some ages."""
        rng, n = self._rng, len(ages)
        district = rng.choice(len(DISTRICTS), n, p=SHARES)
        poor = rng.random(n) < np.array(POOR)[district]
        language = rng.choice(
            len(LANGUAGES), n, p=[0.58, 0.12, 0.1, 0.08, 0.06, 0.06]
        )
        chances = np.tile([0.62, 0.12, 0.1, 0.02, 0.09, 0.05], (n, 1))
        chances[:, 3] += 0.2 * (language > 0)
        chances[:, 4] += 0.06 * poor
        chances = (chances / chances.sum(1, keepdims=True)).cumsum(1)
        support = (rng.random((n, 1)) > chances[:, :-1]).sum(1)
        number = np.arange(self._next, self._next + n)
        self._next += n
        return pd.DataFrame(
            {
                "pupil": [f"S{each:05d}" for each in number],
                "born": self.year - ages,
                "sex": rng.choice(["f", "m"], n),
                "district": np.array(DISTRICTS)[district],
                "language": np.array(LANGUAGES)[language],
                "meals": np.where(poor, "paid", "not paid"),
                "support": np.array(SUPPORT)[support],
            }
        )

    def next_year(self) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
        """Return who came, who left, and who was corrected (from `old_support`) in a year."""
        rng, before = self._rng, self.present
        self.year += 1
        old = self.year - before["born"] > 16
        away = rng.random(len(before)) < 0.03
        left = before[old | away]
        stay = before[~(old | away)]
        came = self._draw(np.r_[np.full(120, 6), rng.integers(7, 16, 45)])
        some = stay.sample(12, random_state=int(rng.integers(1 << 31))).index
        corrected = stay.loc[some].assign(old_support=stay.loc[some, "support"])
        corrected["support"] = rng.choice(SUPPORT[1:], len(some))
        corrected = corrected[corrected["support"] != corrected["old_support"]]
        stay = stay.copy()
        stay.loc[corrected.index, "support"] = corrected["support"]
        self.present = pd.concat([stay, came], ignore_index=True)
        return came, left, corrected
