"""What every privacy model must keep, run over all that are registered."""

import math
from dataclasses import FrozenInstanceError, fields, replace
from inspect import getdoc

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from sfumato.classes import EquivalenceClasses
from sfumato.errors import ParameterError, PolicyError, UnknownColumnError
from sfumato.models import (
    MODELS,
    AlphaKAnonymity,
    AverageRisk,
    BasicBetaLikeness,
    CategoryShare,
    DeltaDisclosure,
    EnhancedPAlphaSensitiveKAnonymity,
    EntropyLDiversity,
    KEAnonymity,
    MaximumRisk,
    PAlphaSensitiveKAnonymity,
    ProbabilisticLDiversity,
    RangeShare,
    RecursiveCLDiversity,
    SampleUniqueness,
    TableModel,
    TCloseness,
)
from sfumato.models.base import ABSORBING, CLOSED, NEITHER
from tests.models.tables import classes_with_tree, empty, numbered, populated

CATEGORIES = (("cancer", "hiv"), ("gout", "flu"))
VARIANTS = [
    TCloseness("disease", t=0.2, distance="ordered"),
    TCloseness("disease", t=0.2, distance="hierarchical"),
    TCloseness("disease", t=0.2, distance="category", categories=CATEGORIES),
    ProbabilisticLDiversity("disease", l=1.3),
    EntropyLDiversity("disease", l=1.5),
    RecursiveCLDiversity("disease", c=3.5, l=3),
    AlphaKAnonymity("disease", alpha=0.4, k=1),
    PAlphaSensitiveKAnonymity("disease", 1, 1.5, 3, CATEGORIES, weight="distinct"),
    EnhancedPAlphaSensitiveKAnonymity("disease", 2, 0, 2, CATEGORIES, weight="distinct"),
    BasicBetaLikeness("disease", beta=0.3),
    DeltaDisclosure("disease", delta=0.5),
    AverageRisk(0.2),
    SampleUniqueness(0.3, drawn=True),
    CategoryShare("disease", share=0.7, level=1),
    CategoryShare("disease", share=0.5, level=2),
    KEAnonymity("disease", k=3, e=6),
    RangeShare("disease", within=2, share=0.6),
]
EVERY = [kind.example() for kind in MODELS.values()] + VARIANTS
every_model = pytest.mark.parametrize("model", EVERY, ids=str)
every_kind = pytest.mark.parametrize("kind", MODELS.values(), ids=list(MODELS))


def fitting(model, classes):
    """The classes, with numbers in the place of diseases for a model that needs them."""
    return numbered(classes) if model.needs_numbers else classes


def those(fact):
    """Run over the models of which something is true."""
    return pytest.mark.parametrize("model", [m for m in EVERY if fact(m)], ids=str)


def law(fact=lambda _: True, *, also=lambda _: st.none()):
    """Hold every model of which something is true to a law, on each of the tables drawn.

    To draw a table takes much longer than to judge it, so all models judge the same tables. What
    else is drawn depends on the number of classes.
    """
    models = [model for model in EVERY if fact(model)]
    assert models

    def decorate(holds):
        def test(classes, data):
            more = data.draw(also(len(classes)))
            for model in models:
                note(f"{model}")
                holds(model, fitting(model, classes), *(() if more is None else (more,)))

        test.__name__, test.__qualname__ = holds.__name__, holds.__qualname__
        test.__doc__ = holds.__doc__
        return given(classes=populated(), data=st.data())(test)

    return decorate


def one_each(cell):
    """Draw one for each class."""
    return lambda n: st.lists(cell, min_size=n, max_size=n).map(np.array)


@every_kind
def test_the_docstring_says_what_is_promised_and_what_is_not(kind):
    assert "Promises:" in kind.__doc__
    assert "Does not promise:" in kind.__doc__
    assert ">>> " in kind.__doc__
    for field in fields(kind):
        assert f"    {field.name}: " in getdoc(kind)


@every_model
def test_it_cannot_be_changed(model):
    for field in fields(model):
        with pytest.raises(FrozenInstanceError):
            setattr(model, field.name, None)


@every_model
def test_equal_parameters_make_equal_models(model):
    again = type(model)(**model.params())
    assert again == model
    assert hash(again) == hash(model)
    assert again is not model


@every_kind
def test_the_registry_finds_it_by_its_name(kind):
    assert MODELS[kind.name] is kind
    assert kind.name in str(kind.example())


@law()
def test_there_is_one_verdict_per_class(model, classes):
    verdicts = model.passes(classes)
    assert verdicts.dtype == bool
    assert verdicts.shape == (len(classes),)


@every_model
def test_an_empty_table_keeps_every_promise(model):
    assert model.passes(fitting(model, empty())).tolist() == []
    measured = model.measure(fitting(model, empty()))
    assert measured.items() <= model.params().items()
    assert measured


@pytest.mark.usefixtures("patience")
@law(also=lambda n: st.permutations(range(n)).map(np.array))
def test_the_order_of_classes_does_not_matter(model, classes, order):
    other = classes.merge(order)
    moved, unmoved = model.passes(other), model.passes(classes)
    if isinstance(model, TableModel) and not model.sizes_together:
        # Of classes of equal size the first go first: which ones, but not how many rows.
        assert sorted(other.sizes[moved]) == sorted(classes.sizes[unmoved])
    else:
        assert moved[order].tolist() == unmoved.tolist()
    assert model.measure(classes.merge(order)) == pytest.approx(model.measure(classes))


@law(lambda model: not isinstance(model, TableModel), also=one_each(st.booleans()))
def test_a_class_is_judged_for_itself(model, classes, keep):
    assert model.passes(classes.keep(keep)).tolist() == model.passes(classes)[keep].tolist()


@law(lambda model: model.merging.closed, also=one_each(st.integers(0, 1)))
def test_a_closed_promise_survives_merging_classes_that_keep_it(model, classes, side):
    good = model.passes(classes)
    # Failing classes stay alone; the others meet on two sides.
    group = np.where(good, side, 2 + np.arange(len(classes)))
    _, into = np.unique(group, return_inverse=True)
    after = model.passes(classes.merge(into))
    assert after[into[good]].all()


@law(lambda model: model.merging.absorbing, also=one_each(st.integers(0, 1)))
def test_an_absorbing_promise_survives_merging_with_anything(model, classes, side):
    _, into = np.unique(side, return_inverse=True)
    after = model.passes(classes.merge(into))
    assert after[into[model.passes(classes)]].all()


@every_kind
def test_the_facts_about_merging_fit_together(kind):
    assert kind.merging in (ABSORBING, CLOSED, NEITHER)
    assert (kind.example().absorbing_part == kind.example()) == kind.merging.absorbing


@those(lambda model: model.merging == CLOSED)
def test_a_promise_not_declared_absorbing_can_really_be_broken_by_merging(model):
    diseases = ["cancer", "flu", "gout", "hiv"]
    # The first class looks exactly like the table; the second is one disease and no secret.
    rows = [("A", disease) for disease in diseases]
    rows += [(label, disease) for label, disease in zip("BCDE", diseases, strict=True)] * 50
    classes = replace(classes_with_tree(rows), population=np.array([10, 50, 200, 200, 200]))
    classes = fitting(model, classes)
    assert model.passes(classes)[0]
    assert not model.passes(classes.merge(np.array([0, 0, 1, 2, 3])))[0]


def test_a_low_average_risk_can_be_broken_by_merging_others():
    sizes = EquivalenceClasses(np.array([4, 16, 2, 2, 2, 2]))
    model = AverageRisk(0.1)
    assert model.passes(sizes).tolist() == [True, True, False, False, False, False]
    # 2/20 is low enough; with two more classes of 4 it is 4/28, and a four that stayed must go.
    merged = sizes.merge(np.array([0, 1, 2, 2, 3, 3]))
    assert model.passes(merged).tolist() == [False, True, False, True]
    assert model.merging == NEITHER


@law(lambda model: model.absorbing_part)
def test_what_passes_also_passes_the_absorbing_part(model, classes):
    part = model.absorbing_part
    assert part.merging.absorbing
    assert (part.passes(classes) | ~model.passes(classes)).all()


@law()
def test_the_measured_parameters_hold(model, classes):
    measured = model.measure(classes)
    for name in model.exceeds:
        measured[name] += 1e-6 * max(1.0, measured[name])
    try:
        rebuilt = replace(model, **measured)
    except ParameterError:
        return  # nothing can be promised, and the model says so itself
    assert rebuilt.passes(classes).all()


@law(lambda model: model.exceeds)
def test_a_bound_that_must_be_exceeded_does_not_hold_itself(model, classes):
    measured = model.measure(classes)
    if all(0 < measured[name] < math.inf for name in model.exceeds):
        assert not replace(model, **measured).passes(classes).all()


@law()
def test_all_classes_pass_exactly_when_the_measured_parameters_are_no_weaker(model, classes):
    good = []
    for name, value in model.measure(classes).items():
        bound = model.params()[name]
        if name in model.exceeds:
            good.append(value < bound - 1e-10)
        elif model.stricter[name] > 0:
            good.append(value >= bound - 1e-9)
        else:
            good.append(value <= bound + 1e-9)
    assert model.passes(classes).all() == all(good)


@pytest.mark.parametrize("model", [m for m in EVERY if m.largest_share is not None], ids=str)
@given(classes=populated())
def test_no_value_has_more_of_a_class_than_the_largest_share(model, classes):
    known = classes.counts_of(model.column).known
    passes = model.passes(classes)
    for each, value, rows in zip(known.class_id, known.value, known.rows, strict=True):
        note(f"value {value}")
        assert not passes[each] or rows <= model.largest_share * known.totals[each] + 1e-9


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.6, 0.99])
def test_a_limited_share_is_kept_and_hardly_more(share):
    made = [kind.limiting_share("ill", share) for kind in MODELS.values()]
    [model] = [each for each in made if each is not None]
    assert model.column == "ill"
    assert share * 0.98 <= model.largest_share <= share


@every_kind
def test_every_number_says_which_direction_promises_more(kind):
    numbers = {field.name for field in fields(kind) if field.type in (int, float)}
    assert kind.stricter.keys() == numbers
    assert set(kind.stricter.values()) <= {1, -1}


def moved(model, name, step):
    """The model with one parameter moved in the stricter direction, or None if that is refused."""
    value = getattr(model, name)
    change = step if isinstance(value, int) and name in ("k", "l", "p") else step * 0.05
    try:
        return replace(model, **{name: value + change * model.stricter[name]})
    except ParameterError:
        return None


MOVES = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6)), min_size=1)
"""Which of its parameters is moved, and how far, one after the other."""


@pytest.mark.usefixtures("patience")
@law(also=lambda _: MOVES)
def test_what_keeps_a_stricter_promise_keeps_the_weaker_one(model, classes, moves):
    names = sorted(model.stricter)
    for place, step in moves:
        before = model
        model = moved(model, names[place % len(names)], step) or model
        assert model.implies(before)
        assert before.implies(model) == (before == model)
        assert (before.passes(classes) | ~model.passes(classes)).all()
        assert model.implies(model)


@every_model
def test_a_promise_implies_none_of_another_kind_or_about_another_column(model):
    for other in EVERY:
        assert not model.implies(other) or type(model) is type(other)
    if model.columns:
        assert not model.implies(replace(model, column="income"))


@given(classes=populated(), data=st.data())
def test_protecting_more_values_implies_protecting_fewer(classes, data):
    values = st.lists(st.sampled_from(["cancer", "flu", "gout", "hiv"]), unique=True).map(tuple)
    one, other = (AlphaKAnonymity("disease", 0.4, 2, protected=data.draw(values)) for _ in range(2))
    more = not one.protected or (other.protected and {*other.protected} <= {*one.protected})
    assert one.implies(other) == bool(more)
    if more:
        try:
            assert (other.passes(classes) | ~one.passes(classes)).all()
        except PolicyError:
            return  # a protected value that the column does not have


@law()
def test_a_passing_class_has_the_rows_and_values_it_promises(model, classes):
    good = model.passes(classes)
    if model.smallest_class is not None:
        assert (classes.sizes[good] >= model.smallest_class).all()
    if model.columns:
        assert (classes.counts_of("disease").known.distinct[good] >= model.fewest_values).all()


@pytest.mark.parametrize("risk", [0.5, 0.2, 1 / 3, 0.3, 0.01, 0.999])
def test_a_maximum_risk_promises_the_smallest_class_that_passes(risk):
    model = MaximumRisk(risk)
    smallest = model.smallest_class
    sizes = EquivalenceClasses(np.array([max(smallest - 1, 1), smallest]))
    assert model.passes(sizes).tolist() == [smallest == 1, True]


@every_model
def test_only_a_distance_in_a_hierarchy_or_a_level_of_it_needs_one(model):
    distance, level = getattr(model, "distance", None), getattr(model, "level", None)
    assert model.needs_hierarchy == (distance == "hierarchical" or level is not None)


@those(lambda model: model.needs_numbers)
def test_what_is_no_number_is_refused_by_a_model_that_needs_numbers(model):
    with pytest.raises(PolicyError, match=r"values of column 'disease' are not numbers: 'flu'"):
        model.passes(classes_with_tree([("A", "flu")]))


@every_model
def test_the_columns_are_those_it_needs(model):
    columns = ("disease",) if "column" in model.params() else ()
    assert model.columns == columns


@those(lambda model: model.columns)
def test_a_misspelt_column_is_answered_with_the_right_one(model):
    with pytest.raises(UnknownColumnError, match=r"no column 'diseese'.*Did you mean 'disease'"):
        replace(model, column="diseese").passes(empty())


@those(lambda model: model.needs_population)
def test_a_population_is_asked_for_when_there_is_none(model):
    alone = replace(empty(), population=None)
    with pytest.raises(PolicyError, match="population"):
        model.passes(alone)
    with pytest.raises(PolicyError, match="population"):
        model.measure(alone)
