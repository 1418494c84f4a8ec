"""Invented hospital patients, as many as wanted.

Only uniform draws, table look-ups and exactly rounded arithmetic are used, so that a
seed gives the same people on every platform: logarithms and normal draws would differ
in the last digit between processors or versions.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import require_int
from sfumato.samples import population as pop
from sfumato.typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 2**18
"""People drawn at a time: what is needed besides the result stays small."""


def synthetic(rows: int, *, seed: int, after: int = 0) -> "pa.Table":
    """Invent hospital patients whose columns depend on each other as in life.

    Marital status and education depend on age, occupation on both, diagnosis on age, sex
    and occupation, salary on education, occupation and age, insurance on salary, outcome
    on diagnosis and age; a few per cent of the cells are missing. The same seed gives the
    same table everywhere. Made for trying things out: the people are not real, and no
    conclusion about real ones can be drawn.

    Args:
        rows: How many people.
        seed: Any number from 0 on.
        after: How many patients the hospital had before: their numbers are taken.

    Example:
        >>> people = synthetic(3, seed=1)
        >>> people.column_names[:6]
        ['patient_id', 'name', 'birth_date', 'age', 'sex', 'postcode']
        >>> people.equals(synthetic(3, seed=1))
        True
        >>> synthetic(2, seed=2, after=3)["patient_id"].to_pylist()
        ['P0000004', 'P0000005']
    """
    import pyarrow as pa

    require_int("rows", rows, at_least=1)
    require_int("seed", seed, at_least=0)
    require_int("after", after, at_least=0)
    rng = np.random.Generator(np.random.PCG64(seed))
    starts = range(0, rows, _BATCH)
    return pa.concat_tables(
        [_batch(rng, after + start, min(_BATCH, rows - start)) for start in starts]
    )


def _batch(rng: np.random.Generator, start: int, rows: int) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.compute as pc

    age = _age(rng, rows)
    band = _step(age, pop.BANDS)
    sex = _draw(rng, pop.SEX_BY_BAND, band)
    postcodes, postcode_weights = _postcodes()
    postcode = _draw(rng, [postcode_weights], _same_weights(rows))
    in_city = np.isin(postcode // (pop.TOWNS * pop.DISTRICTS), pop.CITY_REGIONS)
    nationality = _draw(rng, np.array(list(pop.NATIONALITIES.values())).T, in_city)
    marital_status = _draw(rng, pop.MARITAL_BY_BAND, band)
    education = _draw(rng, pop.EDUCATION_BY_BAND, band)
    occupation = _occupation(rng, age, education)
    diagnosis = _diagnosis(rng, band, sex, occupation)
    admitted = _admission_date(rng, diagnosis)
    salary = _salary(rng, age, education, occupation)
    insurance = _draw(rng, pop.INSURANCE_BY_STEP, _step(salary, pop.SALARY_STEPS))
    outcome = _outcome(rng, band, diagnosis)

    def text(name: str, codes: IntArray, values: Sequence[str]) -> "pa.Array":
        return pa.array(values, pa.string()).take(pa.array(codes, mask=_missing(rng, name, rows)))

    numbers = pc.cast(pa.array(np.arange(start + 1, start + rows + 1)), pa.string())
    return pa.table(
        {
            "patient_id": pc.binary_join_element_wise("P", pc.utf8_lpad(numbers, 7, "0"), ""),
            "name": _names(rng, sex),
            "birth_date": pa.array(_birth_date(rng, admitted, age)),
            "age": pa.array(age),
            "sex": text("sex", sex, pop.SEXES),
            "postcode": text("postcode", postcode, postcodes),
            "nationality": text("nationality", nationality, list(pop.NATIONALITIES)),
            "marital_status": text("marital_status", marital_status, pop.MARITAL_STATUS),
            "education": text("education", education, pop.EDUCATION),
            "occupation": text("occupation", occupation, [o.name for o in pop.OCCUPATIONS]),
            "admitted": pa.array(admitted),
            "diagnosis": text("diagnosis", diagnosis, [d.name for d in pop.DIAGNOSES]),
            "outcome": text("outcome", outcome, pop.OUTCOMES),
            "salary": pa.array(salary, mask=_missing(rng, "salary", rows)),
            "insurance": text("insurance", insurance, pop.INSURANCE),
        }
    )


def _draw(rng: np.random.Generator, weights: ArrayLike, given: NDArray[Any]) -> IntArray:
    """Draw one code per person, with the row of weights that `given` points to.

    All rows of cumulative weights stand one after the other, the g-th between g and g + 1,
    so that one search finds the code of each person whatever it depends on.
    """
    cumulative = np.cumsum(np.asarray(weights, dtype=np.float64), axis=1)
    cumulative /= cumulative[:, -1:]
    groups, values = cumulative.shape
    flat = (cumulative + np.arange(groups)[:, None]).ravel()
    found = np.searchsorted(flat, rng.random(len(given)) + given, side="right")
    # A draw just below one, added to a group number, may round up into the next group.
    codes: IntArray = np.minimum(found - given * values, values - 1)
    return codes


def _step(amount: NDArray[Any], steps: Sequence[int]) -> IntArray:
    return np.searchsorted(np.array(steps), amount, side="right")


def _same_weights(rows: int) -> IntArray:
    return np.zeros(rows, dtype=np.int64)


def _missing(rng: np.random.Generator, name: str, rows: int) -> BoolArray | None:
    share = pop.MISSING.get(name)
    return None if share is None else rng.random(rows) < share


def _age(rng: np.random.Generator, rows: int) -> IntArray:
    starts, weights = np.array(pop.AGE_WEIGHTS).T
    years = np.diff(starts, append=pop.OLDEST + 1)
    age: IntArray = starts[0] + _draw(rng, [np.repeat(weights, years)], _same_weights(rows))
    return age


def _postcodes() -> tuple[list[str], FloatArray]:
    """List all postcodes: a digit for the region, two for the town, two for the district."""
    region, town, district = np.indices((10, pop.TOWNS, pop.DISTRICTS)).reshape(3, -1)
    number = region * 10_000 + (7 + 13 * town + 3 * region) % 100 * 100
    number += (1 + 11 * district + 5 * town) % 100
    # Few towns hold most people, and few districts most of a town.
    weights = np.array(pop.REGION_WEIGHTS)[region] / (town + 1) / (district + 1)
    return [f"{code:05d}" for code in number.tolist()], weights


def _occupation(rng: np.random.Generator, age: IntArray, education: IntArray) -> IntArray:
    by_education = np.array([o.weights for o in pop.OCCUPATIONS]).T
    ordinary = (1.0, 1.0, 1.0)
    by_stage = np.array([pop.STAGE_FACTORS.get(o.name, ordinary) for o in pop.OCCUPATIONS]).T
    weights = by_stage[:, None, :] * by_education[None, :, :]
    kind = np.array(pop.EDUCATION_KIND)[education]
    return _draw(rng, _flat(weights), _step(age, pop.STAGES) * len(by_education) + kind)


def _diagnosis(
    rng: np.random.Generator, band: IntArray, sex: IntArray, occupation: IntArray
) -> IntArray:
    fields = sorted({o.field for o in pop.OCCUPATIONS})
    field = np.array([fields.index(o.field) for o in pop.OCCUPATIONS])[occupation]
    by_band = np.array([d.by_band for d in pop.DIAGNOSES]).T
    by_sex = np.array([(d.women, d.men, (d.women + d.men) / 2) for d in pop.DIAGNOSES]).T
    by_field = np.array(
        [[pop.OCCUPATIONAL_RISK.get((f, d.name), 1.0) for d in pop.DIAGNOSES] for f in fields]
    )
    common = np.array([d.weight for d in pop.DIAGNOSES])
    weights = common * by_band[:, None, None] * by_sex[None, :, None] * by_field[None, None, :]
    return _draw(rng, _flat(weights), (band * len(pop.SEXES) + sex) * len(fields) + field)


def _admission_date(rng: np.random.Generator, diagnosis: IntArray) -> NDArray[np.datetime64]:
    first, last = np.datetime64(pop.FIRST_DAY, "D"), np.datetime64(pop.LAST_DAY, "D")
    days = np.arange(first, last + 1)
    month = days.astype("datetime64[M]").astype(np.int64) % 12
    weights = np.array([pop.MONTH_WEIGHTS, pop.WINTER_WEIGHTS])[:, month]
    winter = np.array([d.winter for d in pop.DIAGNOSES])[diagnosis]
    found: NDArray[np.datetime64] = days[_draw(rng, weights, winter)]
    return found


def _birth_date(
    rng: np.random.Generator, admitted: NDArray[np.datetime64], age: IntArray
) -> NDArray[np.datetime64]:
    """Return a last birthday up to a year before admission, less the age in years."""
    days_ago = _draw(rng, np.ones((1, 365)), _same_weights(len(age)))
    birthday = admitted - days_ago
    month = birthday.astype("datetime64[M]")
    day_of_month = birthday - month.astype("datetime64[D]")
    born: NDArray[np.datetime64] = (month - 12 * age).astype("datetime64[D]") + day_of_month
    return born


def _salary(
    rng: np.random.Generator, age: IntArray, education: IntArray, occupation: IntArray
) -> IntArray:
    """Multiply pay, education, experience and luck; round to hundreds."""
    pay = np.array([o.pay for o in pop.OCCUPATIONS])[occupation]
    works = np.array([o.field != "Not working" for o in pop.OCCUPATIONS])[occupation]
    experience = np.where(works, 0.8 + 0.012 * np.minimum(age - pop.AGE_WEIGHTS[0][0], 30), 1.0)
    # The sum of three draws is bell-shaped; its square gives the long tail that salaries have.
    luck = (rng.random(len(age)) + rng.random(len(age)) + rng.random(len(age))) / 3
    amount = pay * np.array(pop.EDUCATION_PAY)[education] * experience * (0.6 + 1.4 * luck * luck)
    rounded: IntArray = np.rint(amount / 100).astype(np.int64) * 100
    return rounded


def _outcome(rng: np.random.Generator, band: IntArray, diagnosis: IntArray) -> IntArray:
    severity = np.array([d.severity for d in pop.DIAGNOSES])
    shows = np.minimum(severity[:, None] * np.array(pop.FRAILTY), 1.0)[:, :, None]
    weights = (1 - shows) * np.array(pop.MILD) + shows * np.array(pop.SEVERE)
    return _draw(rng, _flat(weights), diagnosis * len(pop.FRAILTY) + band)


def _names(rng: np.random.Generator, sex: IntArray) -> "pa.Array":
    import pyarrow as pa
    import pyarrow.compute as pc

    women, men = (pop.GIVEN_NAMES[name] for name in ("female", "male"))
    hers, his = [1] * len(women) + [0] * len(men), [0] * len(women) + [1] * len(men)
    given = _draw(rng, [hers, his, [1] * len(hers)], sex)
    family = _draw(rng, np.ones((1, len(pop.FAMILY_NAMES))), _same_weights(len(sex)))
    first = pa.array([*women, *men], pa.string()).take(pa.array(given))
    second = pa.array(pop.FAMILY_NAMES, pa.string()).take(pa.array(family))
    return pc.binary_join_element_wise(first, second, " ")


def _flat(weights: FloatArray) -> FloatArray:
    """Return the weights with one row per combination of what a value depends on."""
    return weights.reshape(-1, weights.shape[-1])
