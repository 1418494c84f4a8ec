"""The guards find nothing, and would find what is planted."""

import json
import random
import sys
import time

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from sfumato.models import MODELS
from tests.fuzz.canaries import bytes_of_folder, find_canaries, unpublished
from tests.fuzz.every import GUARDS
from tests.fuzz.guards import CORPUS, Fault, Guard, hunt, keep, try_case
from tests.fuzz.kills import Kills
from tests.fuzz.readers import TARGETS, seeds
from tests.fuzz.recount import CLASS_MODELS, PEOPLE_MODELS, SET_MODELS, TABLE_MODELS, recount
from tests.fuzz.releases import Releases

pytestmark = pytest.mark.usefixtures("warm")

SEED = 20
"""Of the full lane; `make fuzz` draws its own."""


@pytest.fixture(scope="module")
def guards():
    """Guards that keep what they damage for all cases."""
    made = {name: kind() for name, kind in GUARDS.items()}
    yield made
    for guard in made.values():
        guard.close()


def found():
    """Return the kept cases; those that need a server are marked by it."""
    for path in sorted(CORPUS.rglob("*.json")):
        needs = GUARDS[path.parent.name].needs
        marks = [getattr(pytest.mark, needs)] if needs else []
        yield pytest.param(path, marks=marks, id=f"{path.parent.name}/{path.name}")


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("path", list(found()))
def test_what_was_found_once_is_mended(path, guards, request, monkeypatch):
    guard = guards[path.parent.name]
    if hasattr(type(guard), "database") and guard.needs:
        monkeypatch.setattr(type(guard), "database", request.getfixturevalue(guard.needs))
    fault = try_case(guard, json.loads(path.read_text(encoding="utf-8")))
    assert fault is None, str(fault)


def nothing_found(guard, tmp_path, some):
    cases = some(1 + guard.few // 5, of=guard.few)
    sys.stdout.write(f"seed {SEED}, {cases} cases\n")
    try:
        outcome = hunt(guard, SEED, cases=cases, corpus=tmp_path)
    finally:
        guard.close()
    assert outcome.runs == cases
    assert not outcome.faults, "\n".join(outcome.faults.values())


HERE = [kind for kind in GUARDS.values() if kind.needs is None and not issubclass(kind, Kills)]


@pytest.mark.parametrize("kind", HERE, ids=lambda kind: kind.name)
def test_nothing_slips_past(kind, tmp_path, some, patience):
    nothing_found(kind(), tmp_path, some)


def nothing_found_in(database, kind, folder, monkeypatch, some):
    monkeypatch.setattr(kind, "database", database)
    try:
        nothing_found(kind(), folder, some)
    finally:
        # The next test expects it empty.
        database.clear()


def test_nothing_slips_past_in_postgres(postgres, tmp_path, monkeypatch, some):
    nothing_found_in(postgres, GUARDS["postgres-releases"], tmp_path, monkeypatch, some)


def test_nothing_slips_past_in_spark(spark, tmp_path, monkeypatch, some):
    nothing_found_in(spark, GUARDS["spark-releases"], tmp_path, monkeypatch, some)


class Planted(Guard):
    """A guard with a fault: three sevens."""

    name = "planted"

    def draw(self, rng):
        return {"rows": [rng.randrange(10) for _ in range(40)]}

    def attempt(self, case, folder):
        assert not list(folder.iterdir())
        if case["rows"].count(7) >= 3:
            raise Fault("three sevens")
        if not case["rows"]:
            raise KeyError("nothing there")


def test_a_fault_is_found_made_small_kept_and_found_again(tmp_path):
    outcome = hunt(Planted(), 1, cases=50, corpus=tmp_path)
    assert outcome.runs == 50
    assert list(outcome.faults) == ["three sevens"]
    [path] = (tmp_path / "planted").iterdir()
    case = json.loads(path.read_text(encoding="utf-8"))
    assert case == {"rows": [7, 7, 7]}
    assert f"python -m tests.fuzz --replay {path}" in outcome.faults["three sevens"]
    assert try_case(Planted(), case).kind == "three sevens"


def test_what_is_no_fault_of_its_own_is_an_internal_error():
    found = try_case(Planted(), {"rows": []})
    assert found.kind == "internal error KeyError in test_guards.py:attempt"


class Endless(Planted):
    patience = 1

    def attempt(self, case, folder):
        while True:
            time.sleep(0.01)


@pytest.mark.usefixtures("patience")
def test_what_never_ends_is_a_fault():
    assert try_case(Endless(), {}).kind == "no end"


def test_a_budget_of_no_seconds_is_kept(tmp_path):
    assert hunt(Planted(), 1, seconds=-1, corpus=tmp_path).runs == 0


def test_a_case_can_be_kept_and_drawn_again_from_its_seed(tmp_path):
    one, other = (Releases().draw(random.Random("releases/3/5")) for _ in range(2))
    path = keep(Releases(), one, tmp_path)
    assert json.loads(path.read_text(encoding="utf-8")).keys() == other.keys()
    assert keep(Releases(), other, tmp_path) == path


def test_every_model_is_counted_again():
    assert {*CLASS_MODELS, *TABLE_MODELS, *PEOPLE_MODELS, *SET_MODELS} == set(MODELS)


def test_few_items_that_find_few_rows_are_seen():
    model = {"model": "km-anonymity", "k": 2, "m": 2}
    rows = [{"age": "A", "ill": ill} for ill in ("flu;gout", "flu;gout", "flu", None)]
    recount(rows, ["age"], [model], sets=["ill"])
    with pytest.raises(Fault, match="km-anonymity does not hold"):
        recount([*rows, {"age": "A", "ill": "gout;hiv"}], ["age"], [model], sets=["ill"])
    with pytest.raises(Fault, match="km-anonymity does not hold"):
        recount(rows[:1] + rows[2:], ["age"], [model], sets=["ill"])


@pytest.mark.parametrize(
    "model",
    [
        {"model": "k-anonymity", "k": 3},
        {"model": "maximum-risk", "risk": 0.4},
        {"model": "average-risk", "risk": 0.4},
        {"model": "distinct-l-diversity", "column": "ill", "l": 3},
        {"model": "probabilistic-l-diversity", "column": "ill", "l": 2.5},
        {"model": "entropy-l-diversity", "column": "ill", "l": 2.1},
        {"model": "recursive-cl-diversity", "column": "ill", "c": 1, "l": 2},
        {"model": "t-closeness", "column": "ill", "t": 0.2},
        {"model": "alpha-k-anonymity", "column": "ill", "alpha": 0.4, "k": 2},
        {"model": "p-sensitive-k-anonymity", "column": "ill", "p": 2, "k": 3},
        {"model": "basic-beta-likeness", "column": "ill", "beta": 0.5},
        {"model": "enhanced-beta-likeness", "column": "ill", "beta": 0.5},
        {"model": "delta-disclosure", "column": "ill", "delta": 3},
    ],
    ids=lambda model: model["model"],
)
def test_a_promise_that_is_broken_is_seen(model):
    cells = [("A", "flu"), ("A", "gout"), ("B", "flu"), ("B", "hiv")]
    rows = [{"age": age, "ill": ill} for age, ill in cells]
    recount(rows, ["age"], [{"model": "k-anonymity", "k": 2}])
    with pytest.raises(Fault, match=f"{model['model']} does not hold"):
        recount(rows, ["age"], [model])


def test_a_missing_value_that_matches_any_is_counted_with_whom_it_may_be():
    rows = [{"age": age, "ill": "x"} for age in ("A", "A", None, None)]
    recount(rows, ["age"], [{"model": "k-anonymity", "k": 2}], missing="matches-any")
    recount(rows[:3], ["age"], [{"model": "k-anonymity", "k": 1}], missing="matches-any")
    with pytest.raises(Fault):
        recount(rows[:3], ["age"], [{"model": "k-anonymity", "k": 2}], missing="matches-any")


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd", "gzip", "lz4"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_a_canary_is_found_in_compressed_pages_and_dictionaries(tmp_path, codec, version):
    cells = ["WRGKWJJ" if i == 7 else f"other {i % 5}" for i in range(400)]
    table = pa.table({"a": pa.array(cells), "b": pa.array(range(400))})
    pa.parquet.write_table(
        table, tmp_path / "x.parquet", compression=codec, data_page_version=version
    )
    find_canaries(["MISSING"], bytes_of_folder(tmp_path))
    with pytest.raises(Fault, match=r"canary in x\.parquet"):
        find_canaries(["WRGKWJJ"], bytes_of_folder(tmp_path))


def test_a_canary_is_found_among_entries_that_no_row_uses(tmp_path):
    column = pa.DictionaryArray.from_arrays([0, 0], ["x", "WRGKWJJ"])
    pa.feather.write_feather(pa.table({"a": column}), tmp_path / "x.feather")
    with pytest.raises(Fault, match="canary"):
        find_canaries(["WRGKWJJ"], bytes_of_folder(tmp_path))


def test_published_texts_side_by_side_are_no_canary():
    # As Arrow keeps them: MGGZKMMGGZKM.
    assert unpublished(["MMGGZK", "WRGKWJJ"], ["MGGZKM", None, "WRG"]) == ["WRGKWJJ"]
    assert unpublished(["MMGGZK", "MGGZKM"], ["MGGZKM"]) == []
    assert unpublished(["MMGGZK"], ["M*****", "GGZKM"]) == ["MMGGZK"]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("target", TARGETS)
def test_readers_take_what_they_begin_with(target, tmp_path):
    for data in seeds(target):
        TARGETS[target](data, tmp_path)
