"""A release is held to the levels of a policy by its labels, not by its manifest."""

import datetime as dt
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import VerificationError
from sfumato.hierarchy import BUILDERS, EXAMPLE_FOLDER, Dates, Intervals, Masking
from sfumato.partition import PARTITIONERS
from sfumato.recode import deciding
from sfumato.recoding import Lattice
from sfumato.releases.levels import find_places
from sfumato.text import text_of


def examples():
    for kind in (BUILDERS[name] for name in BUILDERS):
        builder = kind.example()
        if hasattr(builder, "relative_to"):
            builder = builder.relative_to(EXAMPLE_FOLDER)
        yield builder, kind.example_values()
    yield Intervals(widths=[5, 10]), [3, -7, 104, 31]
    yield Intervals(widths=[5, 10]), [3.5, -7.25, 104, 31]
    yield Intervals(widths=[0.1, 1]), [0.15, 2.37]
    yield Intervals(bounds=[[18, 65]]), [17, 18.5, 70]
    yield Intervals(bounds=[[18, 65]]), [17, 18, 70]
    yield Intervals(widths=[5, 10], upper=90, lower=10), [23, 95, 4]
    yield Intervals(widths=["7d", "28d"]), ["2020-02-29", "2021-11-05"]
    yield Intervals(widths=[10], start=3), [5, 17]
    yield Masking(), ["22030", "9"]
    yield Masking(length=6), ["22030", "9"]
    yield Masking(side="left"), ["22030", "22031"]
    yield Masking(step=2, keep=1, char="#"), ["220301", "220399"]
    yield Dates(levels=["day", "month", "quarter", "year", "decade", "century"]), ["1987-03-14T10"]
    yield Dates(levels=["quarter", "century"]), [dt.date(1987, 5, 5)]


READABLE = [
    (builder, values)
    for builder, values in examples()
    if builder.fixed_height is not None or builder.labels_show_level
]


@pytest.mark.parametrize(("builder", "values"), READABLE, ids=str)
def test_every_label_is_found_at_its_level(builder, values):
    for level, labels in enumerate(builder.build("x", values).labels):
        texts = [text_of(label) for label in labels]
        found = find_places(builder, "x", texts)
        for text in texts:
            lowest, highest = found[text]
            assert lowest <= level <= highest, (level, text)


def table() -> pa.Table:
    ages = [20 + i % 12 for i in range(96)]
    zips = [str(24060 + i % 3) for i in range(96)]
    return pa.table({"age": ages, "zip": zips, "ill": ["flu", "gout", "hiv", "ulcer"] * 24})


def policy(levels=None, widths=(5, 10), method=None, **more) -> sf.Policy:
    age = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": list(widths)}}
    found = sf.Policy(
        columns={
            "age": age if levels is None else age | {"levels": levels},
            "zip": {"role": "quasi-identifier", "hierarchy": "masking"},
            "ill": "sensitive",
        },
        models=[sf.models.KAnonymity(2)],
        suppression=0.2,
        **more,
    )
    return found if method is None else found.with_method(method)


def check_of(release, said):
    return sf.verify(release, said, attacks=False)["policy"]


def test_exact_ages_are_finer_than_the_agreed_level(tmp_path):
    sf.anonymize(table(), policy(), output=tmp_path / "r", format="csv")
    found = check_of(tmp_path / "r", policy([1, 3]))
    assert found.status == "broken"
    assert "of 'age' is finer than level 1" in found.detail


def test_a_manifest_that_says_another_level_is_not_believed(tmp_path):
    sf.anonymize(table(), policy(), output=tmp_path / "r", format="csv")
    path = tmp_path / "r" / "manifest.json"
    plain = json.loads(path.read_text(encoding="utf-8"))
    plain["columns"][0]["level"] = 1
    path.write_text(json.dumps(plain), encoding="utf-8")
    assert "finer than level 1" in check_of(tmp_path / "r", policy([1, 3])).detail


def test_a_release_may_be_too_coarse_and_of_other_widths():
    release = sf.anonymize(table(), policy([2, 2]))
    assert "coarser than level 1" in check_of(release, policy([0, 1])).detail
    assert "no label of 'age' by its hierarchy" in check_of(release, policy(widths=[7])).detail
    assert check_of(release, policy([1, 2])).status == "holds"


@pytest.mark.parametrize("kind", ["break-merge", "anatomy", "bucketization", "slicing"])
def test_decoupled_tables_are_held_to_levels_too(kind):
    coarse = sf.anonymize(table(), policy([1, 2]))
    fine = sf.anonymize(table(), policy())
    decoupling = {"anatomy": sf.decouplings.Anatomy(2), "slicing": sf.decouplings.Slicing(l=2)}
    for release, seen in ((coarse, False), (fine, True)):
        parts = sf.decouple(release, decoupling.get(kind, kind))
        assert ("finer than level 1" in check_of(parts, policy([1, 2])).detail) is seen


@pytest.mark.parametrize("place", ["memory", "folder"])
def test_the_maker_publishes_nothing_at_a_level_that_is_not_allowed(tmp_path, monkeypatch, place):
    def every_node(_policy, ladders):
        return Lattice((0,) * len(ladders), tuple(ladder.height for ladder in ladders))

    monkeypatch.setattr(deciding, "lattice_of", every_node)
    output = tmp_path / "r" if place == "folder" else None
    with pytest.raises(VerificationError, match=r"not at the levels of the policy: .*finer than"):
        sf.anonymize(table(), policy([1, 3]), output=output)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("method", ["full-domain", "regional", *PARTITIONERS])
@pytest.mark.parametrize("rows", ["remove", "star"])
def test_what_a_policy_made_holds_by_it_with_every_method(method, rows):
    said = policy([1, 2], method=method)
    said = sf.Policy.from_yaml(
        said.to_yaml().replace("suppression: 0.2", f"suppression: {{limit: 0.2, rows: {rows}}}")
    )
    found = check_of(sf.anonymize(table(), said), said)
    assert found.status == "holds", found.detail
    assert "not to be seen in the files: how it was made" in found.detail


def test_levels_that_labels_do_not_show_are_named():
    said = sf.Policy(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": "auto", "levels": [1, 1]},
            "zip": {"role": "quasi-identifier", "hierarchy": "masking"},
            "ill": "sensitive",
        },
        models=[sf.models.KAnonymity(2)],
    )
    found = check_of(sf.anonymize(table(), said), said)
    assert found.status == "holds"
    assert "the levels of 'age'" in found.detail


@pytest.mark.parametrize("method", PARTITIONERS)
def test_a_short_value_beside_the_top_may_stand_at_many_levels(method):
    """It keeps its name until the mask reaches it, and the top does not tell when that is."""
    figures = pa.table({"figure": ["38"] * 5 + ["251234", "777777", "91"]})
    rule = {"role": "quasi-identifier", "hierarchy": "masking", "levels": [2, 6]}
    asked = sf.Policy(
        columns={"figure": rule}, models=[{"model": "k-anonymity", "k": 3}], method=method
    )
    assert {*sf.anonymize(figures, asked).table["figure"].to_pylist()} == {"38", "*"}


@pytest.mark.parametrize("method", ["full-domain", "regional"])
def test_people_of_a_population_may_have_longer_values(tmp_path, method):
    pq.write_table(pa.table({"figure": ["38"] * 4 + ["251234"] * 2}), tmp_path / "people.parquet")
    rule = {"role": "quasi-identifier", "hierarchy": "masking", "levels": [1, 2]}
    asked = sf.Policy(
        columns={"figure": rule},
        models=[{"model": "k-anonymity", "k": 2}, {"model": "k-map", "k": 3}],
        method=method,
        suppression={"limit": 0.5},
        population=str(tmp_path / "people.parquet"),
    )
    release = sf.anonymize(pa.table({"figure": ["38", "38", "251234"]}), asked)
    assert release.table["figure"].to_pylist() == ["38", "38"]
