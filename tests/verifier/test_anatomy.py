"""An anatomised release is believed in nothing: its buckets are formed and judged anew."""

from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.verifier import verify_folder
from sfumato.verifier.counting import count, open_source
from sfumato.verifier.decoupled import _count_values
from sfumato.verifier.models import ModelGroups, check_model
from tests.verifier.anatomy_releases import PRINTED_PEOPLE, PROMISES, write_anatomy
from tests.verifier.releases import edit_manifest, seal
from tests.verifier.test_broken import cell, change, failing, widen

VALUES = "sensitive_disease.csv"


@pytest.fixture
def folder(tmp_path):
    return write_anatomy(tmp_path / "buckets")


def test_the_printed_buckets_have_two_values_and_a_guess_of_two_in_three(folder):
    verdict = verify_folder(folder)
    assert verdict.holds, str(verdict)
    names = ["manifest", "files", "sha256", "metadata", "columns", "rows", "buckets", "counts"]
    assert [check.name for check in verdict.checks][:8] == names
    assert verdict["distinct-l-diversity"].found == {"l": 2}
    assert verdict["probabilistic-l-diversity"].found == {"l": 1.5}


@pytest.mark.parametrize(
    ("position", "l", "found"),
    [(0, 3, "distinct-l-diversity"), (1, 2, "probabilistic-l-diversity")],
)
def test_more_than_the_printed_buckets_keep_cannot_be_promised(folder, position, l, found):
    edit_manifest(folder, lambda m: m["models"][position].update(l=l))
    assert failing(folder) == [found]
    assert verify_folder(folder)[found].worst.keys() == {"bucket"}


@pytest.mark.parametrize(
    ("name", "edit", "found"),
    [
        # Buckets that are in one table only.
        ("qi.csv", cell(0, 0, "4"), ["buckets", "counts", "models"]),
        (VALUES, cell(0, 0, "4"), ["buckets", "counts", "models"]),
        (VALUES, lambda _, rows: rows.__delitem__(slice(0, 2)), ["buckets", "models"]),
        # Counts that do not add up.
        ("qi.csv", cell(0, 0, "2"), ["counts", "models"]),
        (VALUES, cell(0, 2, "3"), ["counts", "models"]),
        (VALUES, cell(0, 0, "2"), ["counts", "models"]),
        (VALUES, cell(0, 1, "ProstateCancer"), ["counts", "models"]),
        (VALUES, lambda _, rows: rows.append(rows[0]), ["counts", "models"]),
        (VALUES, lambda _, rows: rows.__delitem__(-1), ["counts", "models"]),
        # What is no count, and no bucket.
        *((VALUES, cell(0, 2, wrong), ["data"]) for wrong in ("0", "-1", "1.5", "", "x")),
        ("qi.csv", cell(0, 0, ""), ["data"]),
        (VALUES, cell(0, 0, ""), ["data"]),
        # A column more.
        ("qi.csv", widen, ["columns"]),
        (VALUES, widen, ["columns"]),
        # Sums are right, and a bucket lost its diversity: a missing value is none.
        (VALUES, cell(1, 1, ""), ["distinct-l-diversity", "probabilistic-l-diversity"]),
    ],
)
def test_tables_that_do_not_agree_are_found_under_a_new_checksum(folder, name, edit, found):
    change(folder, name, edit)
    assert failing(folder) == found


@pytest.mark.parametrize(
    ("edit", "found"),
    [
        (lambda m: m["files"].pop(), ["manifest", "files"]),
        (lambda m: m["files"].pop(0), ["manifest", "files"]),
        (lambda m: m["files"][1].update(table="qi"), ["manifest"]),
        (lambda m: m["columns"][0].update(role="sensitive"), ["manifest"]),
        (lambda m: m["columns"][3].update(role="plain"), ["manifest"]),
        (lambda m: m.update(group="zip"), ["manifest"]),
        (lambda m: m.update(kind="anatomie"), ["manifest"]),
        (lambda m: m["rows"].update(published=8), ["manifest"]),
        (lambda m: m["files"][1].update(rows=5), ["rows"]),
        (lambda m: m["models"].pop(), ["models"]),
        (lambda m: m["models"][0].update(column="zip"), ["distinct-l-diversity", "models"]),
        (lambda m: m["models"][0].update(measured={"l": 3}), ["distinct-l-diversity"]),
        # Whoever takes buckets for classes claims what nobody should believe.
        (lambda m: m["models"].append({"model": "k-anonymity", "k": 3}), ["k-anonymity"]),
        # Groups of one kind of release are not those of the other.
        (lambda m: m.update(kind="break-merge"), ["groups", "models"]),
    ],
)
def test_a_manifest_that_says_something_else_is_found(folder, edit, found):
    edit_manifest(folder, edit)
    assert failing(folder) == found


def test_two_sensitive_columns_are_no_anatomy(tmp_path):
    data = pa.table({"age": ["a", "a"], "ill": ["x", "y"], "pay": ["1", "2"]})
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill", "pay"], "format": "csv"}
    folder = sf.decouple(data, output=tmp_path / "broken", **roles).folder
    edit_manifest(folder, lambda m: m.update(kind="anatomy"))
    assert failing(folder) == ["manifest"]


def test_a_file_that_is_not_there_or_changed_is_found(folder):
    (folder / VALUES).write_text((folder / VALUES).read_text() + "\n")
    assert failing(folder) == ["sha256"]
    (folder / VALUES).unlink()
    assert failing(folder) == ["data"]


def test_exact_quasi_identifiers_may_be_anything(folder):
    change(folder, "qi.csv", cell(0, 1, ""))
    assert not failing(folder)


def test_a_table_in_memory_that_was_tampered_with_is_found():
    data = pa.table({"age": list("abcd"), "ill": list("xyxz")})
    options = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    release = sf.decouple(data, {"method": "anatomy", "l": 2}, **options)
    assert sf.verify(release).verdict.holds
    release.tables["sensitive_ill"] = release.tables["sensitive_ill"].slice(1)
    assert not sf.verify(release).verdict.holds


BUCKETS = st.lists(
    st.dictionaries(st.sampled_from(["flu", "gout", "hiv", ""]), st.integers(1, 4), min_size=1),
    min_size=1,
    max_size=5,
)


@given(BUCKETS)
def test_buckets_are_judged_as_their_definition_says(tmp_path_factory, buckets):
    people = [
        [str(label), *PRINTED_PEOPLE[0][1:]]
        for label, values in enumerate(buckets)
        for _ in range(sum(values.values()))
    ]
    values = [[str(i), v, str(n)] for i, bucket in enumerate(buckets) for v, n in bucket.items()]
    models = [{**model, "measured": None} for model in PROMISES]
    folder = write_anatomy(tmp_path_factory.mktemp("x") / "buckets", people, values, models=models)
    seal(folder)
    verdict = verify_folder(folder)
    known = [Counter({v: n for v, n in bucket.items() if v}) for bucket in buckets]
    distinct = min(map(len, known))
    shares = [Fraction(sum(k.values()), max(k.values())) if k else Fraction(0) for k in known]
    assert verdict["distinct-l-diversity"].found == {"l": distinct}
    assert verdict["probabilistic-l-diversity"].found == {"l": pytest.approx(float(min(shares)))}
    assert verdict.holds == (distinct >= 2 and min(shares) >= Fraction(3, 2))


@given(
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.sampled_from(["hiv", "HIV", "flu", None])),
        min_size=1,
        max_size=20,
    )
)
def test_buckets_with_equal_counts_are_judged_as_each_by_itself(people):
    folded = [(label, value and value.lower()) for label, value in people]
    buckets = {label: Counter(v for l, v in people if l == label) for label, _ in people}
    sizes = {(label,): sum(counts.values()) for label, counts in buckets.items()}
    values = {(label,): dict(counts) for label, counts in buckets.items()}
    groups = ModelGroups.from_parts(sizes, {"ill": values}, ["bucket"])
    literal = {(label,): Counter(v for l, v in folded if l == label) for label, _ in people}
    assert {group.key: group.values["ill"] for group in groups.groups} == literal
    assert groups.reference["ill"] == Counter(value for _, value in folded)
    known = [Counter({v: n for v, n in each.items() if v}) for each in literal.values()]
    shares = [each.total() / max(each.values()) if each else 0 for each in known]
    for model, least in (
        ("distinct-l-diversity", min(map(len, known))),
        ("probabilistic-l-diversity", min(shares)),
    ):
        found = check_model({"model": model, "column": "ill", "l": 1}, groups)
        assert found.found["l"] == pytest.approx(least)


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.sampled_from("12")),
        min_size=1,
        max_size=8,
    )
)
def test_values_of_buckets_are_those_of_their_rows(rows):
    names = ["bucket", "ill", "count"]
    table = pa.table([pa.array(each) for each in zip(*rows, strict=True)], names)
    # Coded, and as combinations that are spelt out.
    coded = count(open_source(table), names)
    for counts in (coded, coded._replace(combinations=dict(coded.combinations.items()))):
        found, repeated = _count_values(counts, "t", 3, "bucket", several=False)
        literal = {}
        for label, value, number in {*rows}:
            of_label = literal.setdefault(label, Counter())
            of_label[value] += int(number)
        assert found == literal
        assert bool(repeated) == (len({row[:2] for row in rows}) < len(rows))
