"""Columns of several items per row, from the table to the verified release and the attack on it."""

import json
from collections import Counter
from itertools import combinations

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InfeasibleError, InputError, OutputError, PolicyError, SfumatoError
from tests.builders import hold_all

TREE = {"heart": ["I10", "I20"], "lung": {"asthma": ["J45"], "other": ["J40", "J41"]}}
ITEMS = ["I10", "I20", "J40", "J41", "J45"]
SET = {"role": "set", "separator": ";", "hierarchy": {"kind": "taxonomy", "tree": TREE}}
ROWS = st.lists(
    st.tuples(
        st.sampled_from([31, 47]),
        st.sampled_from(["yes", "no"]),
        st.lists(st.sampled_from(ITEMS), max_size=4),
    ),
    min_size=3,
    max_size=14,
)
MANY = [
    (31 if n % 3 else 47, "yes" if n % 2 else "no", [ITEMS[n % 5], ITEMS[(n * n) % 5]])
    for n in range(60)
]


def table_of(rows, *, lists=False):
    cells = [items if lists else ";".join(items) for _, _, items in rows]
    kind = pa.list_(pa.string()) if lists else pa.string()
    return pa.table(
        {
            "age": [row[0] for row in rows],
            "smokes": [row[1] for row in rows],
            "ill": pa.array(cells, kind),
        }
    )


def policy_of(k=2, m=2, **changes):
    columns = {"age": "quasi-identifier", "smokes": "sensitive", "ill": SET}
    models = [{"model": "km-anonymity", "k": k, "m": m}]
    return sf.Policy(**{"columns": columns, "models": models, **changes})


def supports(rows, m):
    """How many rows of a class have each set of up to m items of one of them, by the book."""
    found = Counter()
    for key, items in rows:
        for size in range(m + 1):
            found.update((key, each) for each in combinations(sorted(set(items)), size))
    return found


def published(release):
    rows = release.table.to_pylist()
    return [(row["age"], row["ill"] or []) for row in rows if row["smokes"] is not None]


@pytest.mark.usefixtures("patience")
@given(rows=ROWS, m=st.integers(1, 3))
@hold_all(["full-domain", "top-down", "bottom-up"])
def test_who_knows_up_to_m_items_finds_k_rows_of_the_class(method, rows, m):
    try:
        release = sf.anonymize(table_of(rows), policy_of(m=m, method=method), seed=1)
    except SfumatoError:
        return  # too few rows for any class
    found = supports(published(release), m)
    assert min(found.values()) >= 2
    [promise] = release.manifest.models
    assert promise.measured == {"k": min(found.values())}


@pytest.mark.usefixtures("patience")
@given(rows=ROWS)
def test_lists_and_text_are_the_same_items(rows):
    try:
        one = sf.anonymize(table_of(rows), policy_of(), seed=1)
    except SfumatoError:
        return
    other = sf.anonymize(table_of(rows, lists=True), policy_of(), seed=1)
    assert one.table == other.table


@pytest.mark.parametrize(
    "kind",
    [
        pa.large_list(pa.string()),
        pa.list_(pa.large_string()),
        pa.list_(pa.dictionary(pa.int32(), pa.string())),
        pa.list_view(pa.string()),
        pa.list_(pa.string(), 2),
    ],
    ids=str,
)
def test_lists_of_every_type_are_the_same_items(kind):
    lists = [["J45", "I10"], ["I10", "J45"], ["I10", "I10"], None]
    release = sf.anonymize(
        pa.table({"ill": pa.array(lists, kind)}),
        {"columns": {"ill": "set"}, "models": [{"model": "km-anonymity", "k": 2, "m": 2}]},
    )
    shown = sorted(release.table["ill"].to_pylist(), key=str)
    assert shown == [None, ["I10", "J45"], ["I10", "J45"], ["I10"]]


def test_items_stand_in_order_and_once_and_an_empty_set_is_missing():
    rows = [(31, "yes", ["J45", " I10", "J45", ""]), (31, "no", ["I10", "J45"])] * 2
    rows += [(31, "no", [])] * 2
    release = sf.anonymize(table_of(rows), policy_of(), seed=1)
    shown = release.table["ill"].to_pylist()
    assert sorted(shown, key=str) == [None] * 2 + [["I10", "J45"]] * 4


@pytest.mark.usefixtures("patience")
def test_a_csv_file_has_items_between_separators_and_other_formats_lists(tmp_path):
    sf.anonymize(table_of(MANY), policy_of(), output=tmp_path / "a", format="csv")
    cells = pa_csv.read_csv(tmp_path / "a" / "data.csv")["ill"].to_pylist()
    assert any(";" in cell for cell in cells if cell)
    sf.anonymize(table_of(MANY), policy_of(), output=tmp_path / "b", format="parquet")
    assert pq.read_table(tmp_path / "b" / "data.parquet").schema.field("ill").type == pa.list_(
        pa.string()
    )
    sf.anonymize(table_of(MANY), policy_of(), output=tmp_path / "c", format="feather")
    for name in "abc":
        found = sf.verify(tmp_path / name, policy_of())
        assert found["km-anonymity"].status == "holds"
        assert found.attack("known-items").people == 0


def test_a_table_may_have_nothing_but_items(tmp_path):
    policy = sf.Policy(columns={"ill": SET}, models=[{"model": "km-anonymity", "k": 3, "m": 2}])
    release = sf.anonymize(table_of(MANY).select(["ill"]), policy, output=tmp_path / "release")
    assert release.manifest.classes.count == 1
    assert sf.verify(tmp_path / "release", policy).answer == "yes"


def test_two_columns_of_items_count_together():
    rows = [(["a"], ["x"])] * 3 + [(["a"], ["y"])] + [([], ["y"])] * 3
    table = pa.table({"one": [row[0] for row in rows], "two": [row[1] for row in rows]})
    policy = sf.Policy(
        columns={"one": "set", "two": "set"}, models=[{"model": "km-anonymity", "k": 2, "m": 2}]
    )
    shown = sf.anonymize(table, policy, seed=1).table.to_pylist()
    found = Counter((tuple(row["one"] or ()), tuple(row["two"] or ())) for row in shown)
    # One row alone has a and y: one of the two is left out.
    assert found[("a",), ("y",)] == 0
    other = sf.Policy(
        columns={"one": "set", "two": "set"}, models=[{"model": "km-anonymity", "k": 2, "m": 1}]
    )
    assert sf.anonymize(table, other, seed=1).table["two"].to_pylist().count(["y"]) == 4


def test_nothing_in_a_release_depends_on_items_of_suppressed_rows():
    lonely = [(99, "yes", ["I10", "J40"]), (99, "yes", ["J41", "J45"])]
    policy = policy_of(
        columns={
            "age": {"role": "quasi-identifier", "levels": [0, 0]},
            "smokes": "sensitive",
            "ill": SET,
        },
        suppression={"limit": 1, "rows": "remove"},
    )
    releases = [sf.anonymize(table_of([*MANY, each]), policy, seed=1) for each in lonely]
    one, other = (sorted(map(str, each.table.to_pylist())) for each in releases)
    assert one == other
    assert releases[0].manifest.to_dict() == releases[1].manifest.to_dict()


def test_starred_rows_have_no_items(tmp_path):
    policy = policy_of(
        columns={
            "age": {"role": "quasi-identifier", "levels": [0, 0]},
            "smokes": "sensitive",
            "ill": SET,
        },
        suppression={"limit": 1, "rows": "star"},
    )
    sf.anonymize(
        table_of([*MANY, (99, "yes", ["I10"])]), policy, output=tmp_path / "r", format="parquet"
    )
    rows = pq.read_table(tmp_path / "r" / "data.parquet").to_pylist()
    assert [row["ill"] for row in rows if row["age"] == "*"] == [None]
    assert sf.verify(tmp_path / "r")["km-anonymity"].status == "holds"


def test_an_item_that_one_row_has_is_found_by_the_verifier_and_by_the_attack(tmp_path):
    release = tmp_path / "release"
    sf.anonymize(table_of(MANY), policy_of(), output=release, format="csv")
    lines = (release / "data.csv").read_text().splitlines()
    lines[1] = ",".join([*lines[1].split(",")[:2], "K99"])
    (release / "data.csv").write_text("\n".join(lines) + "\n")
    found = sf.verify(release)
    broken = found["km-anonymity"]
    assert broken.status == "broken"
    assert broken.found == {"k": 1}
    assert "1 row shares ill K99" in broken.detail
    attack = found.attack("known-items")
    assert attack.people == 1
    assert attack.worst[0].who["ill"] == "K99"
    assert found.answer == "no"


def test_items_of_a_release_that_are_out_of_order_are_found(tmp_path):
    release = tmp_path / "release"
    sf.anonymize(table_of(MANY), policy_of(), output=release, format="csv")
    text = (release / "data.csv").read_text()
    line = next(each for each in text.splitlines()[1:] if ";" in each)
    start, _, cell = line.rpartition(",")
    other = ";".join(reversed(cell.split(";")))
    (release / "data.csv").write_text(text.replace(line, f"{start},{other}", 1))
    found = sf.verify(release)
    assert found["km-anonymity"].status == "holds"
    assert found["items"].status == "broken"
    assert "1 cells have items out of order" in found["items"].detail


def test_a_manifest_that_promises_nothing_of_items_is_broken(tmp_path):
    release = tmp_path / "release"
    sf.anonymize(table_of(MANY), policy_of(), output=release, format="csv")
    plain = json.loads((release / "manifest.json").read_text())
    plain["models"] = [{"model": "k-anonymity", "k": 2}]
    (release / "manifest.json").write_text(json.dumps(plain))
    assert "promises nothing of the items of 'ill'" in sf.verify(release)["manifest"].detail


def test_a_plain_table_is_held_to_the_promise_as_it_stands():
    safe = sf.verify(table_of([(31, "yes", ["I10"]), (31, "no", ["I10"])]), policy_of())
    assert safe["km-anonymity"].status == "holds"
    bare = sf.verify(table_of([(31, "yes", ["I10"]), (31, "no", ["I20"])]), policy_of())
    assert bare["km-anonymity"].status == "broken"


REFUSED = {
    "text without a separator": (
        {"age": "quasi-identifier", "ill": "set"},
        pa.table({"age": [1, 1], "ill": ["a;b", "a"]}),
        "nothing says what stands between two items",
    ),
    "numbers": (
        {"age": "quasi-identifier", "ill": "set"},
        pa.table({"age": [1, 1], "ill": [1, 2]}),
        "'ill' has the role set and holds int64: one value per row",
    ),
    "lists of lists": (
        {"age": "quasi-identifier", "ill": "set"},
        pa.table({"age": [1, 1], "ill": [[["a"]], []]}),
        "which has no single value per row",
    ),
    "lists without the role": (
        {"age": "quasi-identifier", "ill": "sensitive"},
        pa.table({"age": [1, 1], "ill": [["a"], []]}),
        "no column has the role set",
    ),
    "an item that the hierarchy does not have": (
        {"age": "quasi-identifier", "ill": SET},
        pa.table({"age": [1, 1], "ill": ["I10", "X"]}),
        "does not cover 1 of its 2 values: 'X'",
    ),
}


@pytest.mark.parametrize(("columns", "table", "text"), list(REFUSED.values()), ids=list(REFUSED))
def test_what_cannot_be_protected_is_refused_with_what_to_do(columns, table, text, tmp_path):
    with pytest.raises(SfumatoError) as caught:
        sf.anonymize(
            table,
            {"columns": columns, "models": [{"model": "km-anonymity", "k": 2, "m": 1}]},
            output=tmp_path / "release",
        )
    assert text in str(caught.value)
    assert not (tmp_path / "release").exists()


def test_lists_without_the_role_say_which_role_there_is():
    policy = sf.Policy(
        columns={"age": "quasi-identifier", "ill": "plain"},
        models=[{"model": "k-anonymity", "k": 2}],
    )
    table = pa.table({"age": [1, 1], "ill": [["a"], ["b"]]})
    with pytest.raises(InputError, match="give it the role set and promise km-anonymity"):
        sf.anonymize(table, policy)


def test_a_separator_in_an_item_of_a_list_cannot_be_written_as_csv(tmp_path):
    table = pa.table({"ill": [["a;b"], ["a;b"]]})
    policy = sf.Policy(columns={"ill": "set"}, models=[{"model": "km-anonymity", "k": 2, "m": 1}])
    with pytest.raises(OutputError, match=r"'a;b' has ';' in it.*Choose another separator"):
        sf.anonymize(table, policy, output=tmp_path / "release", format="csv")
    assert not (tmp_path / "release").exists()
    sf.anonymize(table, policy, output=tmp_path / "release", format="parquet")


@pytest.mark.parametrize(
    ("columns", "models", "text"),
    [
        ({"age": "quasi-identifier"}, [{"model": "km-anonymity", "k": 2, "m": 1}], "no column has"),
        ({"ill": "set"}, [{"model": "k-anonymity", "k": 2}], "without any promise"),
        (
            {"ill": {"role": "sensitive", "separator": ";"}},
            [{"model": "k-anonymity", "k": 2}],
            "only set columns",
        ),
        (
            {"ill": {"role": "set", "separator": "\n"}},
            [{"model": "km-anonymity", "k": 2, "m": 1}],
            "must be what stands between two items",
        ),
        ({"ill": "set"}, [{"model": "km-anonymity", "k": 2, "m": 0}], "with m=0 no item is known"),
    ],
)
def test_a_policy_that_contradicts_itself_is_refused(columns, models, text):
    with pytest.raises(PolicyError, match=text):
        sf.Policy(columns=columns, models=models)


@pytest.mark.parametrize("method", ["full-domain", "regional", "top-down"])
def test_what_no_release_can_keep_is_refused(method):
    with pytest.raises(InfeasibleError, match="no release can keep km-anonymity with k=3, m=2"):
        sf.anonymize(table_of(MANY[:2]), policy_of(k=3), method=method)
    items = sf.Policy(columns={"ill": SET}, models=[{"model": "km-anonymity", "k": 3, "m": 2}])
    with pytest.raises(InfeasibleError, match="no release can keep km-anonymity with k=3, m=2"):
        sf.anonymize(table_of(MANY[:2]).select(["ill"]), items, method=method)


def test_people_with_several_rows_are_refused():
    table = table_of(MANY).append_column("person", pa.array([n // 2 for n in range(len(MANY))]))
    columns = {**policy_of().columns, "person": "identifier"}
    with pytest.raises(PolicyError, match="km-anonymity is defined for one value per person"):
        sf.anonymize(table, policy_of(columns=columns, person="person"))


def test_a_database_is_refused_with_what_to_do():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT 31 AS age, ['I10'] AS ill FROM range(4)")
        policy = sf.Policy(
            columns={"age": "quasi-identifier", "ill": "set"},
            models=[{"model": "km-anonymity", "k": 2, "m": 1}],
        )
        with pytest.raises(InputError, match=r"not counted in a database.*Export the table"):
            sf.anonymize(connection.table("people"), policy, output="table:released")


@pytest.mark.parametrize("lists", [False, True])
def test_a_draft_recognises_sets_and_promises_something_of_them(lists):
    drafted = sf.draft(table_of(MANY, lists=lists))
    rule = drafted.policy.columns["ill"]
    assert (rule.role, rule.separator) == ("set", None if lists else ";")
    assert "others may know some of them" in drafted.reasons["ill"]
    release = sf.anonymize(table_of(MANY, lists=lists), drafted.policy)
    assert any(promise.model == "km-anonymity" for promise in release.manifest.models)


@pytest.mark.parametrize(
    "cells",
    [
        ["a; b", "c d", "e f", "g"] * 10,
        [f"Main Street {n}; Springfield" for n in range(40)],
        ["flu", "gout"] * 20,
        list(range(40)),
    ],
)
def test_a_semicolon_alone_makes_no_set(cells):
    drafted = sf.draft(pa.table({"age": [n % 5 for n in range(len(cells))], "text": cells}))
    assert drafted.roles["text"] != "set"


def test_a_decoupled_release_leaves_sets_out(tmp_path):
    release = sf.anonymize(table_of(MANY), policy_of())
    broken = sf.decouple(release)
    assert broken.manifest.left_out.columns == ("ill",)
    assert "km-anonymity with k=2, m=2" in broken.manifest.left_out.models


def test_a_table_of_items_alone_has_no_lattice():
    policy = sf.Policy(columns={"ill": SET}, models=[{"model": "km-anonymity", "k": 3, "m": 2}])
    with pytest.raises(PolicyError, match="no quasi-identifier, so there are no levels"):
        sf.tools.lattice(table_of(MANY).select(["ill"]), policy)
