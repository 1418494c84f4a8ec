"""What stands in a release tells nothing beyond the published rows, to anybody who reads it."""

import json
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato.losses import LOSSES
from sfumato.releases.manifest import Manifest
from sfumato.verifier import verify_folder

TREE = {"kind": "taxonomy", "tree": {"mild": ["flu", "cold"], "grave": ["hiv", "gout", "rare"]}}
AGES = {
    "widths": {"kind": "intervals", "widths": [10, 20]},
    "automatic": {"kind": "auto"},
    "none": None,
    "star": "star",
}
ZIPS = {
    "masking": "masking",
    "length": {"kind": "masking", "length": 6},
    "automatic": {"kind": "auto"},
}
METHODS = ["full-domain", "regional", "top-down", "mondrian", "bottom-up", "mdav"]
ROWS = st.lists(
    st.tuples(
        st.sampled_from([31, 32, 33, 41, 42, 44, 71, None]),
        st.sampled_from(["24064", "24065", "24164", "9", "990001"]),
        st.sampled_from(["flu", "cold", "hiv", "gout", "rare"]),
    ),
    min_size=6,
    max_size=14,
)


def table_of(rows) -> pa.Table:
    age, zipcode, ill = zip(*rows, strict=True)
    return pa.table({"age": pa.array(age, pa.int64()), "zip": zipcode, "ill": ill})


def policy_of(age, zipcode, **settings) -> sf.Policy:
    return sf.Policy(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": age},
            "zip": {"role": "quasi-identifier", "hierarchy": zipcode},
            "ill": {"role": "sensitive", "hierarchy": TREE},
        },
        models=[
            sf.models.KAnonymity(2),
            sf.models.TCloseness("ill", t=0.9, distance="hierarchical"),
        ],
        **settings,
    )


def published(release) -> tuple:
    return tuple(sorted(map(str, map(dict.values, release.table.to_pylist()))))


def near(rows, rng, n):
    """Give tables that differ from this one in one value of one row."""
    yield rows
    for _ in range(n):
        at, column = rng.integers(len(rows)), int(rng.integers(3))
        other = rows[int(rng.integers(len(rows)))][column]
        extra = ([34, 55, 99], ["24066", "1", "9900012"], ["rare"])[column]
        value = other if rng.random() < 0.5 else extra[int(rng.integers(len(extra)))]
        row = list(rows[at])
        row[column] = value
        yield [*rows[:at], tuple(row), *rows[at + 1 :]]


@pytest.mark.usefixtures("patience")
@settings(max_examples=40)
@given(
    rows=ROWS,
    seed=st.integers(0, 10**6),
    age=st.sampled_from(sorted(AGES)),
    zipcode=st.sampled_from(sorted(ZIPS)),
    method=st.sampled_from(METHODS),
    missing=st.sampled_from(["own-value", "suppress", "matches-any"]),
    star=st.sampled_from(["remove", "star"]),
    loss=st.sampled_from(sorted(LOSSES)),
)
def test_equal_rows_have_equal_manifests(rows, seed, age, zipcode, method, missing, star, loss):
    policy = policy_of(
        AGES[age],
        ZIPS[zipcode],
        suppression={"limit": 4, "rows": star},
        missing=missing,
        loss=loss,
    )
    policy = policy.with_method(method)
    found = defaultdict(set)
    for table in near(rows, np.random.default_rng(seed), 8):
        try:
            release = sf.anonymize(table_of(table), policy, seed=1)
        except SfumatoError:
            continue
        told = json.dumps(release.manifest.to_dict(), sort_keys=True)
        found[published(release), release.suppressed].add(told)
    assert all(len(manifests) == 1 for manifests in found.values())


@pytest.mark.usefixtures("patience")
def test_a_label_at_several_levels_tells_nothing_of_who_is_suppressed():
    """By one table 9 is cut at level 0, by the other at the level of all: published is 9."""
    one = [(99, "24064", "hiv"), (44, "9", "cold"), (44, "24164", "hiv"), (44, "9", "rare")]
    one += [(None, "24064", "gout"), (42, "24065", "hiv"), (33, "9", "rare")]
    other = [(None, *one[0][1:]), *one[1:4], (34, *one[4][1:]), *one[5:]]
    policy = policy_of(AGES["widths"], ZIPS["length"], suppression=4, loss="entropy")
    made = [sf.anonymize(table_of(t), policy.with_method("regional"), seed=1) for t in (one, other)]
    assert published(made[0]) == published(made[1])
    assert made[0].manifest.to_dict() == made[1].manifest.to_dict()


def fellow(**given):
    """A release in which one person is suppressed: of 71, or as given."""
    person = {"age": 71, "zip": "99999", "ill": "hiv"} | given
    ages = [31, 32, 33, 34, 35] * 4 + [41, 42, 43, 44, 45] * 4
    table = {
        "age": [*ages, person["age"]],
        "zip": [*["24064", "24065"] * 20, person["zip"]],
        "ill": [*["flu", "gout", "cold", "flu"] * 10, person["ill"]],
    }
    policy = policy_of(AGES["widths"], "masking", suppression=2)
    return sf.anonymize(pa.table(table), policy)


OTHERS = [
    {"age": 33},
    {"age": 31},
    {"age": 39},
    {"age": 140},
    {"zip": "24064"},
    {"zip": "9"},
    {"zip": "99999999"},
    {"ill": "rare"},
    {"ill": "flu"},
]


@pytest.mark.parametrize("person", OTHERS, ids=str)
def test_the_manifest_does_not_tell_who_was_suppressed(person):
    one, other = fellow(), fellow(**person)
    if (published(one), one.suppressed) == (published(other), other.suppressed):
        assert one.manifest.to_dict() == other.manifest.to_dict()
    # A longer code changes every masked label, so nothing is to be compared there.
    assert published(one) == published(other) or set(person) == {"zip"}


def test_a_value_that_only_a_suppressed_person_has_stands_nowhere():
    manifest = fellow(ill="rare").manifest.to_json()
    assert "rare" not in manifest
    assert '"hiv"' not in manifest
    assert '"flu"' in manifest


PAIRS = {
    "one": {"kind": "taxonomy", "tree": {"ab": ["a", "b"], "cd": ["c", "d"]}},
    "two": {"kind": "taxonomy", "tree": {"xy": ["x", "y"], "zw": ["z", "w"]}},
}
SEVEN = [("b", "w"), ("b", "x"), ("c", "w"), ("d", "w"), ("a", "z"), ("a", "x"), ("d", "w")]


def test_minimal_nodes_tell_who_was_suppressed_and_are_not_written(tmp_path):
    """The eighth person is suppressed, and the minimal nodes tell whether she is x or y."""
    policy = sf.Policy(
        columns={n: {"role": "quasi-identifier", "hierarchy": tree} for n, tree in PAIRS.items()},
        models=[sf.models.KAnonymity(2)],
        suppression=1,
        search="incognito",
    )
    releases = {}
    for value in "xy":
        one, two = zip(*SEVEN, ("d", value), strict=True)
        folder = tmp_path / value
        releases[value] = sf.anonymize(pa.table({"one": one, "two": two}), policy, seed=1)
        kept = sf.anonymize(pa.table({"one": one, "two": two}), policy, output=folder)
        assert kept.minimal == releases[value].minimal
        assert all(b"minimal" not in file.read_bytes() for file in folder.iterdir())
        assert "minimal" not in json.dumps(kept.manifest.to_dict())
        assert Manifest.from_json(kept.manifest.to_json()).private is None
    x, y = releases["x"], releases["y"]
    assert (published(x), x.suppressed) == (published(y), y.suppressed)
    assert x.manifest.to_dict() == y.manifest.to_dict()
    assert {"one": 2, "two": 0} in x.minimal
    assert {"one": 2, "two": 0} not in y.minimal


def test_the_publisher_knows_more_and_it_is_not_written(tmp_path):
    release = fellow()
    private = release.manifest.private
    assert set(private.losses) == set(LOSSES)
    assert release.loss == private.losses["normalized-loss"] > 0
    assert private.search.checks > 0
    plain = release.manifest.to_dict()
    assert "private" not in plain
    assert {name for name, loss in plain["losses"].items() if loss is not None} == {
        "average-class-size",
        "discernibility",
    }
    assert set(plain["search"]) == {"name", "optimal"}
    # Neither does it come back from the file.
    assert Manifest.from_json(release.manifest.to_json()).private is None


def test_raw_values_under_the_labels_do_not_show():
    policy = sf.Policy(
        columns={
            "age": {"role": "quasi-identifier", "hierarchy": AGES["widths"]},
            "ill": "sensitive",
        },
        models=[sf.models.KAnonymity(4)],
    )
    told = {
        json.dumps(
            sf.anonymize(
                pa.table({"age": ages, "ill": ["flu", "gout"] * 4}), policy
            ).manifest.to_dict()
        )
        for ages in (
            [31, 32, 33, 34, 41, 42, 43, 44],
            [31, 31, 33, 34, 41, 42, 43, 44],
            [31, 31, 31, 31, 41, 42, 43, 44],
            [31, 31, 33, 33, 41, 41, 43, 43],
        )
    }
    assert len(told) == 1


class TestTheVerifier:
    @pytest.fixture
    def folder(self, tmp_path):
        table = {"age": [31, 32, 41, 42, 77], "ill": ["flu", "gout"] * 2 + ["flu"]}
        columns = {
            "age": {"role": "quasi-identifier", "hierarchy": AGES["widths"]},
            "ill": "sensitive",
        }
        policy = sf.Policy(columns=columns, models=[sf.models.KAnonymity(2)], suppression=1)
        sf.anonymize(pa.table(table), policy, output=tmp_path / "r", format="csv")
        return tmp_path / "r"

    def change(self, folder, key, **figures):
        path = folder / "manifest.json"
        plain = json.loads(path.read_text(encoding="utf-8"))
        plain[key].update(figures)
        path.write_text(json.dumps(plain), encoding="utf-8")
        return verify_folder(folder)["figures"]

    def test_recomputes_what_is_said_of_classes_and_losses(self, folder):
        assert verify_folder(folder)["figures"].status == "holds"

    @pytest.mark.parametrize("key", ["count", "smallest", "largest", "average"])
    def test_finds_other_classes(self, folder, key):
        check = self.change(folder, "classes", **{key: 3})
        assert (check.status, check.detail) == ("broken", f"{key} is 2, not 3")

    def test_finds_another_loss(self, folder):
        check = self.change(folder, "losses", discernibility=12.0)
        assert (check.status, check.detail) == ("broken", "discernibility is 13, not 12.0")

    def test_vouches_for_no_loss_that_it_cannot_recompute(self, folder):
        check = self.change(folder, "losses", entropy=0.5)
        assert check.status == "unchecked"
        assert check.detail == "'entropy' cannot be recomputed from the published rows"

    @pytest.mark.parametrize("strange", ["many", True, None, [], float("nan")], ids=repr)
    def test_a_figure_that_is_none_is_broken(self, folder, strange):
        assert self.change(folder, "classes", count=strange).status == "broken"


def test_the_classes_of_decoupled_tables_are_recomputed_too(tmp_path):
    table = pa.table({"zip": ["1", "1", "2", "2"] * 3, "ill": ["a", "b", "c", "d"] * 3})
    sf.decouple(
        table,
        "break-merge",
        quasi_identifiers=["zip"],
        sensitive=["ill"],
        output=tmp_path / "r",
        format="csv",
    )
    path = tmp_path / "r" / "manifest.json"
    plain = json.loads(path.read_text(encoding="utf-8"))
    assert verify_folder(tmp_path / "r")["figures"].status == "holds"
    plain["classes"]["count"] += 1
    path.write_text(json.dumps(plain), encoding="utf-8")
    assert verify_folder(tmp_path / "r")["figures"].status == "broken"


def test_no_builder_states_a_height_that_values_decide():
    from sfumato.hierarchy import BUILDERS

    fixed = Counter()
    for name, kind in BUILDERS.items():
        builder = kind.example()
        if hasattr(builder, "relative_to"):
            from sfumato.hierarchy.base import EXAMPLE_FOLDER

            builder = builder.relative_to(EXAMPLE_FOLDER)
        values = kind.example_values()
        height = builder.fixed_height
        fixed[name] += height is not None
        for some in (values, values[:1], values[1:]):
            if height is not None:
                assert builder.build("x", some).height == height
    assert {name for name, n in fixed.items() if n} >= {"csv", "taxonomy", "intervals", "star"}


def test_a_manifest_in_memory_is_read_like_its_file():
    table = pa.table({"age": [31] * 7 + [38], "ill": ["flu", "gout"] * 4})
    age = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [10]}}
    policy = {
        "columns": {"age": {**age, "levels": [1, 1]}, "ill": "sensitive"},
        "models": [{"model": "k-anonymity", "k": 5}],
    }
    manifest = sf.anonymize(table, policy).manifest
    assert manifest["losses"]["entropy"] is None
    assert {key: manifest[key] for key in manifest.to_dict()} == manifest.to_dict()
