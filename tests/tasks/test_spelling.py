"""Values that differ only in spelling are one value, unless the policy says otherwise."""

import json
import math
import re
import unicodedata
from collections import Counter, defaultdict
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.counts import Column, FrequencySet
from sfumato.errors import InfeasibleError, SfumatoError
from sfumato.text import fold_spelling
from sfumato.verifier.spelling import folded_text

VARIANTS = [
    "HIV",
    "hiv",
    "HIV ",
    " Hiv",
    "H I V",
    "h\u200biv",
    "H\u00a0IV",
    "\uff28\uff29\uff36",
    "hiv\t",
]
NUMBERS = ["1", "1.0", "01", "+1", " 1 ", "1e0", "\u0661", "10e-1", ".1e1"]
METHODS = ("full-domain", "regional", "top-down", "bottom-up", "mondrian", "mdav")


def textbook(text):
    """The definition, letter by letter."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    marks = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5}
    kept = [
        c
        for c in text
        if not c.isspace()
        and unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zs", "Zl", "Zp")
        and ord(c) not in marks
        and not 0x180B <= ord(c) <= 0x180F
        and not 0xFE00 <= ord(c) <= 0xFE0F
        and not 0xE0100 <= ord(c) <= 0xE01EF
    ]
    text = unicodedata.normalize("NFKC", "".join(kept))
    if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,6})?", text):
        return Fraction(text)
    return text


@pytest.mark.parametrize(
    "variants", [VARIANTS, NUMBERS, ["Stra\u00dfe", "STRASSE"], ["\u00e9", "e\u0301", "\u00c9"]]
)
def test_spellings_of_one_value_fold_to_one(variants):
    assert len({fold_spelling(text) for text in variants}) == 1
    assert len({folded_text(text) for text in variants}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("e", "\u00e9"),
        ("1", "1.01"),
        ("type 1", "type 2"),
        ("A", "\u0391"),
        ("-1", "1"),
        ("a-b", "ab"),
        ("1", "l"),
    ],
)
def test_values_stay_different_that_differ_in_more(one, other):
    assert fold_spelling(one) != fold_spelling(other)
    assert folded_text(one) != folded_text(other)


def test_what_shows_nothing_is_missing():
    for text in (" ", "\u200b", "\u00a0\t", "\ufeff"):
        assert fold_spelling(text) == ""
        assert folded_text(text) is None
    folded = Column("d", (" ", "flu", None)).folded
    assert folded.column.values == ("flu", None)
    assert folded.codes.tolist() == [1, 0, 1]


LETTERS = st.text(
    st.sampled_from(
        "aAbB1.0+-e \u00a0\u200b\u0301\u00e9\u00c9\u00df\uff21\u0130i\u0307"
        "\u03c2\u03c3\u212b\u00e5\u1160\ufe0f\u2126"
    )
    | st.characters(exclude_categories=["Cs"]),
    max_size=5,
)


@settings(max_examples=200)
@given(LETTERS, LETTERS)
def test_maker_and_verifier_fold_as_the_textbook_does(one, other):
    alike = textbook(one) == textbook(other)
    assert (fold_spelling(one) == fold_spelling(other)) is alike
    assert (folded_text(one) == folded_text(other)) is alike


# Releases.


def policy(*models, k=2, suppression=1.0, method="full-domain", **rule):
    return sf.Policy(
        columns={
            "zip": {"role": "quasi-identifier", "hierarchy": "star"},
            "d": {"role": "sensitive", **rule},
        },
        models=[sf.models.KAnonymity(k), *models],
        suppression=suppression,
        method=method,
    )


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["HIV", "hiv", "Hiv ", "flu", "FLU", "gout", "1", "01", None, "", " "]),
    ),
    min_size=1,
    max_size=16,
)
MODELS = {
    "distinct": lambda: sf.models.DistinctLDiversity("d", l=2),
    "probabilistic": lambda: sf.models.ProbabilisticLDiversity("d", l=2),
    "entropy": lambda: sf.models.EntropyLDiversity("d", l=1.5),
    "recursive": lambda: sf.models.RecursiveCLDiversity("d", c=2, l=2),
    "closeness": lambda: sf.models.TCloseness("d", t=0.3),
    "ordered": lambda: sf.models.TCloseness("d", t=0.3, distance="ordered"),
    "alpha": lambda: sf.models.AlphaKAnonymity("d", alpha=0.6, k=2),
    "sensitive": lambda: sf.models.PSensitiveKAnonymity("d", p=2, k=2),
    "beta": lambda: sf.models.BasicBetaLikeness("d", beta=0.8),
}


def table_of(rows):
    zips, ills = zip(*rows, strict=True)
    return pa.table({"zip": pa.array(zips, pa.string()), "d": pa.array(ills, pa.string())})


def fold_cell(cell):
    return None if not cell or textbook(cell) == "" else str(textbook(cell))


def outcome(table, rules):
    try:
        made = sf.anonymize(table, rules)
    except InfeasibleError:
        return None
    assert sf.verify(made, rules, attacks=False).verdict.holds
    assert sf.verify(made, attacks=False).verdict.holds
    return made


def figures(made):
    return made and (made.levels, made.suppressed, made.manifest.classes, [
        dict(promise.measured) for promise in made.manifest.models
    ])  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(ROWS, st.sampled_from(sorted(MODELS)))
def test_models_judge_a_table_like_the_same_table_in_one_spelling(rows, name):
    table = table_of(rows)
    one = table_of([(z, fold_cell(d)) for z, d in rows])
    rules = policy(MODELS[name]())
    assert figures(outcome(table, rules)) == figures(outcome(one, rules))


@settings(max_examples=10, deadline=None)
@given(ROWS, st.sampled_from(METHODS))
def test_every_method_counts_diversity_without_spelling(rows, method):
    made = outcome(table_of(rows), policy(MODELS["distinct"](), method=method))
    if made is None:
        return
    found = defaultdict(set)
    for row in made.table.to_pylist():
        found[row["zip"]].add(fold_cell(row["d"]))
    assert all(len(values - {None}) >= 2 for values in found.values())
    # What is published is spelt as it was.
    assert Counter(made.table["d"].to_pylist()) <= Counter(d or None for _, d in rows)


TWELVE = [("a", text) for text in ("HIV", "hiv", "HIV ", "Hiv") * 3]


def test_twelve_people_with_one_illness_are_not_diverse(tmp_path):
    table = table_of(TWELVE)
    rules = policy(sf.models.DistinctLDiversity("d", l=4), suppression=0)
    with pytest.raises(InfeasibleError):
        sf.anonymize(table, rules)
    pq.write_table(table, tmp_path / "theirs.parquet")
    found = sf.verify(tmp_path / "theirs.parquet", rules)
    assert found.answer == "no"
    assert found.verdict["distinct-l-diversity"].found == {"l": 1}
    exact = policy(sf.models.DistinctLDiversity("d", l=4), suppression=0, spelling="exact")
    assert sf.anonymize(table, exact).suppressed == 0


def test_spellings_are_told_and_are_no_reason_to_take_care(tmp_path):
    rows = [("a", text) for text in ("flu", "Flu", "gout", "cold", "ache", "acne")] * 30
    found = sf.verify(table_of(rows), quasi_identifiers=["zip"], sensitive=["d"])
    assert found.answer == "yes"
    assert "spelt in several ways" in found.why[-1]
    path = tmp_path / "rows.csv"
    csv.write_csv(table_of(rows), path)
    command = ["verify", str(path), "--qi", "zip", "--sensitive", "d"]
    told = CliRunner().invoke(app, command).output
    assert "spelt in several" in " ".join(told.split())
    assert "spelt" not in CliRunner().invoke(app, [*command, "--exact-spelling", "d"]).output


def test_attacks_see_one_value_too():
    rows = [("a", text) for text in ("HIV", "hiv", "HIV ", "Hiv")] + [
        ("b", t) for t in ("x", "y", "z", "w")
    ] * 3
    found = sf.verify(table_of(rows), quasi_identifiers=["zip"], sensitive=["d"])
    assert found.attack("homogeneity").people == 4
    assert found.answer == "no"
    reader = policy(spelling="exact")
    assert sf.verify(table_of(rows), reader).attack("homogeneity").people == 0


def test_a_manifest_does_not_decide_what_is_one_value(tmp_path):
    rules = policy(sf.models.DistinctLDiversity("d", l=4), spelling="exact")
    made = sf.anonymize(table_of(TWELVE), rules, output=tmp_path / "r", format="csv")
    told = json.loads((made.folder / "manifest.json").read_text())
    assert [c.get("spelling") for c in told["columns"]] == [None, "exact"]
    assert sf.verify(made.folder, rules, attacks=False).verdict.holds
    found = sf.verify(made.folder, attacks=False)
    assert found.verdict["distinct-l-diversity"].status == "broken"
    assert sf.verify(made.folder, exact_spelling=["d"], attacks=False).verdict.holds
    lenient = policy(sf.models.DistinctLDiversity("d", l=4))
    assert not sf.verify(made.folder, lenient, attacks=False).verdict.holds


def test_values_that_a_policy_names_are_found_in_any_spelling():
    rows = [("a", text) for text in ("HIV", "hiv", "flu", "Flu ")] * 2
    protected = sf.models.AlphaKAnonymity("d", alpha=0.4, k=2, protected=["hiv "])
    with pytest.raises(InfeasibleError):
        sf.anonymize(table_of(rows), policy(protected, suppression=0))
    share = sf.models.CategoryShare("d", share=0.5, categories=[["hIv"], ["FLU"]])
    assert outcome(table_of(rows), policy(share)).suppressed == 0
    both = sf.models.CategoryShare("d", share=0.4, categories=[["hIv"], ["FLU"]])
    with pytest.raises(InfeasibleError):
        sf.anonymize(table_of(rows), policy(both, suppression=0))


def test_a_taxonomy_is_published_without_spellings_of_suppressed_rows(tmp_path):
    (tmp_path / "t.yaml").write_text("'*': {infection: [HIV, hiv, flu, 'Flu '], other: [gout]}")
    rows = [("a", d) for d in ("hiv", "flu", "gout")] * 2 + [("b", "HIV")]
    rules = policy(
        sf.models.TCloseness("d", t=0.6, distance="hierarchical"),
        hierarchy={"kind": "taxonomy", "file": str(tmp_path / "t.yaml")},
    )
    made = outcome(table_of(rows), rules)
    assert sorted(made.manifest.hierarchies["d"]) == ["flu", "gout", "hiv"]


@pytest.mark.parametrize(
    "method",
    [
        {"method": "anatomy", "l": 2},
        {"method": "bucketization"},
        {"method": "slicing", "l": 2, "slices": 2},
    ],
)
def test_buckets_have_one_spelling_of_each_value(method, tmp_path):
    ills = ["HIV", "hiv", "flu", "FLU"] * 4
    table = pa.table({"zip": list("abcdefgh") * 2, "sex": list("fm") * 8, "d": ills})
    made = sf.decouple(
        table,
        method,
        quasi_identifiers=["zip", "sex"],
        sensitive=["d"],
        output=tmp_path / "r",
        format="csv",
    )
    assert sf.verify(made.folder, attacks=False).verdict.holds
    text = "".join(p.read_text() for p in made.folder.glob("*.csv"))
    assert ("hiv" in text) is not ("HIV" in text)
    with pytest.raises(SfumatoError):
        sf.decouple(
            table.set_column(2, "d", pa.array(["HIV", "hiv"] * 8)),
            method, quasi_identifiers=["zip", "sex"], sensitive=["d"],
        )  # fmt: skip


def test_groups_keep_their_spellings_and_are_judged_without(tmp_path):
    table = table_of([*TWELVE, *([("b", "flu"), ("b", "gout"), ("b", "ache")] * 12)])
    made = sf.decouple(table, "break-merge", policy=policy(), output=tmp_path / "r", format="csv")
    assert sf.verify(made.folder).attack("homogeneity").people == 12
    assert "Hiv" in (made.folder / "sensitive_d.csv").read_text()
    assert any("spelt in several ways" in text for text in made.warnings)


def test_spellings_are_warned_of_everywhere(tmp_path):
    table = table_of([*TWELVE, *([("a", "flu"), ("a", "gout")] * 6)])
    rules = policy(sf.models.DistinctLDiversity("d", l=2))
    told = "a value of 'd' is spelt in several ways ('HIV', 'HIV ', 'Hiv', …)"
    made = sf.anonymize(table, rules, output=tmp_path / "r", format="csv")
    assert any(told in text for text in made.warnings)
    assert any(told in text for text in sf.verify(made.folder).why)
    assert told in str(sf.inspect(table, quasi_identifiers=["zip"], sensitive=["d"]))
    assert "spelt in several ways" in sf.report(made.folder).to_html()
    exact = policy(sf.models.DistinctLDiversity("d", l=2), spelling="exact")
    assert not any("spelt" in text for text in sf.anonymize(table, exact).warnings)
    assert not any("spelt" in text for text in sf.verify(made.folder, exact).why)


def test_numbers_in_columns_of_numbers_are_not_touched():
    counts = FrequencySet.from_rows(["n"], [(1,), (2.5,), (math.nan,)])
    assert counts.fold(["n"]) is counts


def test_a_ledger_counts_a_value_once_however_it_is_spelt(tmp_path):
    rows = [("a", text) for text in ("HIV", "flu", "gout", "ache")] * 3
    split = sf.decouple(table_of(rows), "break-merge", policy=policy())
    ledger = sf.Ledger.start(split, tmp_path / "l", alpha=0.5, k=2)
    # Twelve with one illness in four spellings, and four others: four of the twelve may join.
    more = [("a", text) for text in ("hiv", "HIV ", "Hiv", "h i v")] * 3
    more += [("a", text) for text in ("flu", "gout", "FLU", "ache")]
    done = ledger.publish(table_of(more), output=tmp_path / "out")
    assert (done.admitted, done.waiting) == (8, 8)
    current = ledger.current.table("d")
    assert set(current.column.values) == {"HIV", "flu", "gout", "ache"}
    joined = done.tables.table("d")
    assert dict(
        zip([joined.column.values[v] for v in joined.value], joined.rows.tolist(), strict=True)
    ) == {"HIV": 4, "flu": 2, "gout": 1, "ache": 1}
    assert ledger.verify() == []


def test_a_ledger_begins_with_one_spelling(tmp_path):
    rows = [("a", text) for text in ("HIV", "hiv", "flu", "Flu")] * 3
    split = sf.decouple(table_of(rows), "break-merge", policy=policy())
    ledger = sf.Ledger.start(split, tmp_path / "l", alpha=0.5, k=2)
    assert ledger.current.table("d").rows.tolist() == [6, 6]
    assert any("spelt in several ways" in text for text in ledger.started.warnings)


def test_beliefs_and_findings_go_by_values_not_by_spellings():
    rows = [("a", text) for text in ("HIV", "hiv", "HIV ", "Hiv")] * 3 + [
        ("b", "flu"),
        ("b", "gout"),
    ] * 6
    roles = {"quasi_identifiers": ["zip"], "sensitive": ["d"]}
    told = sf.explain(table_of(rows), {"zip": "a"}, **roles)
    assert "100 %" in str(told)
    excluded = sf.explain(table_of(rows), {"zip": "b"}, knows={"not": ["FLU"]}, **roles)
    assert "gout" in str(excluded)
    found = sf.detect(table_of(rows), **roles)
    assert any("up to 100 %" in str(leak) for leak in found.leaks)
    assert "100 %" in str(sf.breach(table_of(rows), **roles))
