"""The verifier and the models know nothing of each other and must say the same."""

import json
import math
from dataclasses import fields, replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.classes import classes_from, sensitive_column
from sfumato.counts import FrequencySet
from sfumato.hierarchy import Hierarchy
from sfumato.models import MODELS
from sfumato.verifier import MODEL_CHECKS, Promises, verify_file
from tests.builders import LABELS, ROWS

PATHS = {
    "flu": ["mild", "any", "*"],
    "gout": ["mild", "any", "*"],
    "cancer": ["grave", "any", "*"],
    "hiv": ["virus", "other", "*"],
}
CATEGORIES = st.sampled_from(
    [(("cancer", "hiv"), ("gout",), ("flu",)), (("hiv",), ("flu", "gout", "cancer"))]
)
SHARES = st.integers(1, 19).map(lambda n: n / 20)
PARAMETERS = {
    "k": st.integers(2, 5),
    "l": st.integers(2, 4),
    "p": st.just(2),
    "m": st.integers(1, 3),
    "c": st.sampled_from([0.5, 1, 1.5, 2, 3, 8]),
    "t": SHARES,
    "alpha": SHARES,
    "risk": SHARES,
    "share": SHARES,
    "beta": st.sampled_from([0.25, 0.5, 1, 2, 3]),
    "delta": st.sampled_from([0.1, 0.5, math.log(2), 1, 2]),
    "minimum": st.sampled_from([0.1, 0.25]),
    "maximum": st.sampled_from([0.5, 1.0]),
    "distance": st.sampled_from(["equal", "ordered", "hierarchical"]),
    "weight": st.sampled_from(["rows", "distinct"]),
    "categories": CATEGORIES,
    "e": st.sampled_from([0.5, 1, 2, 3, 10.5]),
    "within": st.sampled_from([0, 0.5, 1, 3, 10.5]),
    "fraction": st.sampled_from([0.01, 0.1, 0.3, 0.8, 1.0]),
    "confidence": st.sampled_from([0.5, 0.8, 0.95, 0.99]),
}
NUMBERS = {"flu": 1, "gout": 2, "cancer": 5, "hiv": 12, None: None}


def named_settings(example):
    """The parameters that are drawn; categories belong to one distance of t-closeness alone."""
    found = [each.name for each in fields(example) if each.name in PARAMETERS]
    return [each for each in found if each != "categories" or example.categories is not None]


@pytest.mark.parametrize("name", list(MODELS))
def test_every_model_can_be_recomputed(name):
    assert name in MODEL_CHECKS


@pytest.mark.parametrize("name", list(MODELS))
@given(data=st.data(), rows=ROWS)
def test_verifier_and_model_agree_on_verdict_and_figures(name, data, rows):
    example = MODELS[name].example()
    named = named_settings(example)
    model = replace(example, **{each: data.draw(PARAMETERS[each]) for each in named})
    if name == "t-closeness" and data.draw(st.booleans()):
        model = replace(model, distance="category", categories=data.draw(CATEGORIES))
    if name == "category-share" and data.draw(st.booleans()):
        model = replace(model, categories=None, level=data.draw(st.sampled_from([1, 2])))
    if model.needs_numbers:
        rows = [(label, NUMBERS[disease]) for label, disease in rows]
    labels = sorted({label for label, _ in rows})
    people = {label: data.draw(st.integers(0, 20)) for label in labels}

    counts = FrequencySet.from_rows(["label", "disease"], rows)
    column = counts.column("disease")
    hierarchy = Hierarchy.from_paths(list(PATHS), list(PATHS.values()))
    ladder = None if model.needs_numbers else hierarchy.bind("disease", column.values)
    classes = classes_from(counts, ("label",), {"disease": sensitive_column(column, ladder)})
    classes = replace(classes, population=np.array([people[label] for label in labels]))

    plain = json.loads(json.dumps({"model": name, **model.params()}))
    promises = Promises(
        ["label"],
        ["disease"],
        [{**plain, "measured": model.measure(classes)}],
        hierarchies={"disease": PATHS},
        population={(label,): n for label, n in people.items()},
        sets={"items": ";"} if model.protects_sets else {},
    )
    table = pa.table({"label": [row[0] for row in rows], "disease": [row[1] for row in rows]})
    # Models see classes; what items tell is in test_sets.
    table = table.append_column("items", pa.nulls(len(rows), pa.string()))
    (check,) = verify_file(table, promises).checks
    assert "measured" not in check.detail
    assert check.status == ("holds" if model.passes(classes).all() else "broken"), check
    if check.status == "broken" and check.worst is not None:
        assert not model.passes(classes)[labels.index(check.worst["label"])]


@pytest.mark.parametrize("name", list(MODELS))
@given(data=st.data(), rows=ROWS)
def test_what_the_verifier_finds_to_keep_a_promise_keeps_every_weaker_one(name, data, rows):
    example = MODELS[name].example()
    named = named_settings(example)
    shared = [each for each in named if each not in example.stricter]
    same = {each: data.draw(PARAMETERS[each]) for each in shared}
    one, other = (
        replace(example, **same, **{each: data.draw(PARAMETERS[each]) for each in example.stricter})
        for _ in range(2)
    )
    if example.needs_numbers:
        rows = [(label, NUMBERS[disease]) for label, disease in rows]
    table = pa.table({"label": [row[0] for row in rows], "disease": [row[1] for row in rows]})
    people = {(label,): data.draw(st.integers(0, 20)) for label, _ in rows}
    promises = Promises(
        ["label"],
        ["disease"],
        [json.loads(json.dumps({"model": name, **model.params()})) for model in (one, other)],
        hierarchies={"disease": PATHS},
        population=people,
        sets={"items": ";"} if example.protects_sets else {},
    )
    table = table.append_column("items", pa.array([row[1] for row in rows]).cast(pa.string()))
    first, second = verify_file(table, promises).checks
    # Which is stricter is asked of the models, what holds of code that knows none.
    if one.implies(other):
        assert (first.status, second.status) != ("holds", "broken")
    if other.implies(one):
        assert (second.status, first.status) != ("holds", "broken")


@given(
    rows=st.lists(
        st.tuples(LABELS, st.none() | st.dates() | st.dates().map(str)), min_size=1, max_size=30
    ),
    k=st.integers(2, 4),
    e=st.integers(1, 10**6),
)
def test_the_range_of_days_agrees(rows, k, e):
    rows = [(label, None if day is None else str(day)) for label, day in rows]
    for model in (
        MODELS["k-e-anonymity"]("disease", k=k, e=e),
        MODELS["range-share"]("disease", within=e, share=1 - 1 / k),
    ):
        agree(model, rows)


def agree(model, rows):
    classes = classes_from(
        FrequencySet.from_rows(["label", "disease"], rows), ("label",), ("disease",)
    )
    table = pa.table(
        {
            "label": [row[0] for row in rows],
            "disease": pa.array([row[1] for row in rows], pa.string()),
        }
    )
    promise = {"model": model.name, **model.params(), "measured": model.measure(classes)}
    (check,) = verify_file(table, Promises(["label"], models=[promise])).checks
    assert "measured" not in check.detail
    assert check.status == ("holds" if model.passes(classes).all() else "broken"), check


@given(rows=st.lists(st.tuples(LABELS, st.integers(-5, 30).map(str)), min_size=1, max_size=30))
def test_ordered_closeness_agrees_for_numbers_written_as_text(rows):
    model = MODELS["t-closeness"]("disease", t=0.3, distance="ordered")
    counts = FrequencySet.from_rows(["label", "disease"], rows)
    classes = classes_from(counts, ("label",), ("disease",))
    table = pa.table({"label": [row[0] for row in rows], "disease": [row[1] for row in rows]})
    promise = {"model": model.name, **model.params(), "measured": model.measure(classes)}
    (check,) = verify_file(table, Promises(["label"], models=[promise])).checks
    assert "measured" not in check.detail
