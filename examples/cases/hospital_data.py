"""Admissions to a hospital that does not exist, drawn from a seed.

Age, sex and season decide what people have; what they have decides the ward, how long they stay and
whether they come again.
"""

import numpy as np
import pandas as pd

FIRST, LAST = np.datetime64("2024-01-01"), np.datetime64("2025-12-31")

# Code, ward, weights by age band (under 15, 15-39, 40-64, 65-79, 80 and more), who can have it,
# middle length of stay in days, chance to come again with the same, share that is in winter.
KINDS = [
    ("J18.9", "medicine", (3, 1, 3, 6, 10), "fm", 7, 0.05, 0.95),
    ("J45.0", "medicine", (5, 3, 2, 1, 0.5), "fm", 3, 0.25, 0.5),
    ("J44.1", "medicine", (0, 0, 3, 7, 6), "fm", 6, 0.45, 0.6),
    ("I21.4", "cardiology", (0, 0.2, 6, 8, 7), "fm", 6, 0.15, 0.5),
    ("I50.1", "cardiology", (0, 0.1, 3, 9, 16), "fm", 8, 0.5, 0.55),
    ("I48.0", "cardiology", (0, 0.3, 3, 7, 7), "fm", 3, 0.35, 0.5),
    ("I63.9", "neurology", (0, 0.2, 2, 6, 9), "fm", 9, 0.1, 0.5),
    ("G40.9", "neurology", (3, 2, 1, 1, 1), "fm", 3, 0.35, 0.5),
    ("E11.9", "medicine", (0, 0.3, 3, 4, 4), "fm", 5, 0.3, 0.5),
    ("E10.9", "medicine", (3, 1.5, 0.5, 0.1, 0), "fm", 4, 0.35, 0.5),
    ("K35.8", "surgery", (6, 6, 2, 0.7, 0.3), "fm", 4, 0.0, 0.5),
    ("K80.2", "surgery", (0, 3, 5, 4, 2), "fm", 4, 0.02, 0.5),
    ("K40.9", "surgery", (2, 1, 4, 4, 2), "m", 2, 0.03, 0.5),
    ("S72.0", "surgery", (0, 0.1, 0.6, 4, 14), "fm", 12, 0.03, 0.55),
    ("S06.0", "surgery", (8, 4, 2, 2, 4), "fm", 1, 0.01, 0.5),
    ("S52.5", "surgery", (6, 2, 2, 3, 3), "fm", 2, 0.02, 0.55),
    ("M16.1", "surgery", (0, 0, 4, 8, 3), "fm", 8, 0.1, 0.5),
    ("C50.9", "oncology", (0, 0.6, 5, 4, 2), "f", 4, 0.65, 0.5),
    ("C61", "oncology", (0, 0, 3, 6, 2), "m", 5, 0.3, 0.5),
    ("C34.1", "oncology", (0, 0, 3, 4, 1), "fm", 6, 0.6, 0.5),
    ("C18.7", "oncology", (0, 0.1, 2, 3, 2), "fm", 8, 0.55, 0.5),
    ("O80", "obstetrics", (0, 22, 0.6, 0, 0), "f", 3, 0.06, 0.5),
    ("O21.0", "obstetrics", (0, 2, 0, 0, 0), "f", 2, 0.1, 0.5),
    ("N39.0", "medicine", (2, 2, 2, 4, 8), "fm", 5, 0.12, 0.5),
    ("F32.1", "psychiatry", (0, 4, 4, 2, 1), "fm", 21, 0.3, 0.55),
    ("F10.2", "psychiatry", (0, 3, 5, 1, 0.1), "fm", 12, 0.5, 0.5),
    ("F20.0", "psychiatry", (0, 2, 1, 0.3, 0), "fm", 28, 0.5, 0.5),
    ("B20", "medicine", (0, 0.5, 0.5, 0.1, 0), "fm", 7, 0.3, 0.5),
    ("A09.9", "medicine", (6, 2, 1, 2, 3), "fm", 3, 0.02, 0.6),
]
TOWNS = {"24103": 22, "24105": 18, "24113": 14, "24145": 9, "24211": 7, "24223": 4}
TOWNS |= {"24340": 3, "24376": 2}


def admissions(people: int = 3000, *, seed: int = 1) -> pd.DataFrame:
    """Return the admissions of two years, a row each, in the order of the days."""
    rng = np.random.default_rng(seed)
    codes = [kind[0] for kind in KINDS]
    weights = np.array([kind[2] for kind in KINDS], float)
    # Children fall and old people fall ill: two bumps.
    old = rng.random(people) < 0.55
    age = np.where(old, rng.normal(68, 14, people), rng.gamma(3, 10, people)).clip(
        0, 99
    )
    sex = rng.choice(["f", "m"], people, p=[0.53, 0.47])
    band = np.searchsorted([15, 40, 65, 80], age, side="right")
    chances = weights[:, band].T.copy()
    for number, kind in enumerate(KINDS):
        chances[:, number] *= np.isin(sex, list(kind[3]))
    chances /= chances.sum(axis=1, keepdims=True)
    first = (rng.random((people, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    town = rng.choice(
        list(TOWNS), people, p=np.array(list(TOWNS.values())) / sum(TOWNS.values())
    )
    again = np.array([kind[5] for kind in KINDS])[first]
    times = 1 + rng.geometric(1 - again * 0.8) - 1
    who = np.repeat(np.arange(people), times.clip(1, 8))
    count = len(who)
    # Three in four come again with what they had.
    same = rng.random(count) < 0.75
    same[np.r_[True, who[1:] != who[:-1]]] = True
    drawn = (rng.random((count, 1)) > chances[who].cumsum(axis=1)).sum(axis=1)
    kind = np.where(same, first[who], drawn)
    days = int((LAST - FIRST) / np.timedelta64(1, "D")) + 1
    day = rng.integers(0, days, count)
    winter = np.array([kind[6] for kind in KINDS])[kind]
    month = (FIRST + day).astype("datetime64[M]").astype(int) % 12
    swap = (rng.random(count) < 2 * winter - 1) & np.isin(month, range(3, 9))
    day = np.where(swap, (day + 182) % days, day)
    middle = np.array([kind[4] for kind in KINDS])[kind]
    stay = np.round(
        middle * rng.lognormal(0, 0.45, count) * (1 + (age[who] > 75) * 0.25)
    ).astype(int)
    born = FIRST - (age * 365.25).astype(int)
    return (
        pd.DataFrame(
            {
                "patient": [
                    f"P{number:05d}" for number in rng.permutation(people)[who]
                ],
                "born": born[who],
                "sex": sex[who],
                "postcode": town[who],
                "admitted": FIRST + day,
                "discharged": FIRST + day + stay,
                "ward": np.array([kind[1] for kind in KINDS])[kind],
                "diagnosis": np.array(codes)[kind],
            }
        )
        .sort_values(["admitted", "patient"])
        .reset_index(drop=True)
    )
