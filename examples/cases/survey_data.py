"""A country that does not exist, and a labour force survey of its households, drawn from a seed.

Households have a size and a region. Age, sex and schooling decide who works as what, and these and
the region what is earned. Small regions are drawn more densely, as statistical offices do, so that
weights differ.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat

REGIONS = {
    1: "Coast",
    2: "Lakes",
    3: "Capital",
    4: "Plains",
    5: "Hills",
    6: "Islands",
}
PEOPLE = (0.19, 0.12, 0.33, 0.2, 0.13, 0.03)
PAY = (1.0, 0.95, 1.25, 0.9, 0.95, 0.85)
DENSITY = (0.016, 0.024, 0.012, 0.016, 0.024, 0.08)
"""The share of the households of a region that is asked."""

SCHOOLS = {
    1: "primary",
    2: "lower secondary",
    3: "upper secondary",
    4: "bachelor",
    5: "master or more",
}
STATES = {1: "employed", 2: "unemployed", 3: "not in the labour force"}
JOBS = {
    1: "managers",
    2: "professionals",
    3: "technicians",
    4: "clerks",
    5: "service and sales",
    6: "agriculture and fishery",
    7: "crafts",
    8: "machine operators",
    9: "elementary",
}
FIRST = np.array([1.9, 1.5, 1.2, 1.0, 0.8, 0.75, 0.95, 0.9, 0.65])
"""What a job pays, of the middle."""

LABELS = {
    "region": REGIONS,
    "sex": {1: "male", 2: "female"},
    "school": SCHOOLS,
    "state": STATES,
    "job": {**JOBS, -1: "does not apply"},
    "income": {-9: "refused", -8: "does not know", -1: "does not apply"},
}
NAMES = {
    "hid": "Number of the household",
    "pid": "Number of the person",
    "region": "Region",
    "sex": "Sex",
    "age": "Age in years",
    "school": "Highest level of schooling",
    "state": "Labour force state",
    "job": "Main job (major group)",
    "hours": "Hours worked last week",
    "income": "Net income per month",
    "weight": "Weight of the person",
}


def country(households: int = 80_000, *, seed: int = 1) -> pd.DataFrame:
    """Return all people from 15 on of the country, with their region and household."""
    rng = np.random.default_rng(seed)
    region = rng.choice(np.array(list(REGIONS)), households, p=PEOPLE)
    size = rng.choice([1, 2, 3, 4, 5], households, p=[0.38, 0.36, 0.13, 0.1, 0.03])
    hid = np.repeat(np.arange(households), size)
    first = np.r_[True, hid[1:] != hid[:-1]]
    place = np.arange(len(hid)) - np.flatnonzero(first)[hid]
    head = np.repeat(rng.triangular(20, 48, 93, households), size)
    # The second is about as old as the first; the others are their children.
    age = np.where(place == 0, head, head + rng.normal(-1, 4, len(hid)))
    age = np.where(place > 1, head - rng.normal(29, 5, len(hid)), age).astype(int)
    sex = rng.choice([1, 2], len(hid))
    sex = np.where(
        place == 1,
        np.where(rng.random(len(hid)) < 0.95, 3 - np.r_[1, sex[:-1]], sex),
        sex,
    )
    adult = age >= 15
    hid, age, sex, region = (
        hid[adult],
        age[adult].clip(15, 97),
        sex[adult],
        region[hid[adult]],
    )
    n = len(hid)
    school = 1 + (rng.random(n)[:, None] > np.cumsum([0.08, 0.2, 0.42, 0.18], 0)).sum(
        1
    )
    school = np.clip(
        school
        + (rng.random(n) < 0.25) * (region == 3)
        - (age > 65) * (rng.random(n) < 0.4),
        1,
        5,
    )
    school = np.where(
        age < 19,
        np.minimum(school, 2),
        np.where(age < 22, np.minimum(school, 3), school),
    )
    works = np.interp(
        age,
        [15, 19, 25, 35, 55, 62, 67, 75],
        [0.05, 0.35, 0.72, 0.86, 0.84, 0.6, 0.12, 0.01],
    )
    works = works - 0.08 * (sex == 2) + 0.03 * (school - 3)
    drawn = rng.random(n)
    looks = (drawn > works) & (drawn < works + 0.055) & (age < 67)
    state = np.where(drawn < works, 1, np.where(looks, 2, 3))
    steep = {1: (1, 2, 5, 8, 22, 8, 18, 16, 20), 3: (4, 7, 16, 15, 22, 4, 18, 9, 5)}
    steep |= {
        2: (2, 3, 9, 11, 24, 6, 20, 14, 11),
        4: (10, 40, 24, 11, 10, 1, 2, 1, 1),
    }
    steep |= {5: (17, 62, 13, 4, 3, 0.3, 0.3, 0.2, 0.2)}
    chances = np.array([steep[level] for level in range(1, 6)], float)[school - 1]
    chances[:, 6:8] *= np.where(sex == 2, 0.15, 1.4)[:, None]
    chances[:, 3:5] *= np.where(sex == 2, 1.5, 0.6)[:, None]
    chances[:, 5] *= np.where(region == 6, 6, np.where(region == 3, 0.2, 1))
    chances = (chances / chances.sum(1, keepdims=True)).cumsum(1)
    job = np.where(
        state == 1, 1 + (rng.random(n)[:, None] > chances[:, :-1]).sum(1), -1
    )
    part = rng.random(n) < np.where(sex == 2, 0.42, 0.1)
    hours = (
        np.where(part, rng.normal(21, 6, n), rng.normal(40, 4, n))
        .clip(1, 80)
        .astype(int)
    )
    rise = 0.75 + 0.45 * np.interp(age, [18, 30, 50, 65], [0, 0.6, 1, 1])
    pay = (
        2300
        * FIRST[np.maximum(job, 1) - 1]
        * rise
        * np.array(PAY)[region - 1]
        * (hours / 40) ** 0.9
    )
    pay = pay * (1 - 0.07 * (sex == 2)) * rng.lognormal(0, 0.28, n)
    pay = np.where(rng.random(n) < 0.004, pay * rng.uniform(3, 8, n), pay)
    return pd.DataFrame(
        {
            "hid": hid + 1,
            "region": region,
            "sex": sex,
            "age": age,
            "school": school,
            "state": state,
            "job": job,
            "hours": np.where(state == 1, hours, 0),
            "income": np.where(state == 1, np.round(pay / 10) * 10, -1).astype(int),
        }
    )


def survey(people: pd.DataFrame, *, seed: int = 2) -> pd.DataFrame:
    """Return those who are asked, with their weights; some do not tell what they earn."""
    rng = np.random.default_rng(seed)
    homes = people[["hid", "region"]].drop_duplicates()
    asked = homes["hid"][
        rng.random(len(homes)) < np.array(DENSITY)[homes["region"] - 1]
    ]
    sample = people[people["hid"].isin(asked)].reset_index(drop=True)
    # Weights are raised so that regions have as many people as the register says.
    counts = people["region"].value_counts() / sample["region"].value_counts()
    sample["weight"] = sample["region"].map(counts).round(2)
    silent = rng.random(len(sample))
    earns = sample["income"] > 0
    sample.loc[earns & (silent < 0.09), "income"] = -9
    sample.loc[earns & (silent > 0.97), "income"] = -8
    sample.insert(0, "pid", rng.permutation(len(sample)) + 1)
    return sample


def write_spss(sample: pd.DataFrame, path: Path) -> None:
    """Write a survey as SPSS does, with labels and codes of missing values."""
    pyreadstat.write_sav(
        sample.astype(float),
        str(path),
        column_labels=NAMES,
        variable_value_labels=LABELS,
        missing_ranges={"income": [-9, -8, -1], "job": [-1]},
    )
