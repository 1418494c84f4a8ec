"""What every method of local recoding must keep, row by row, on random tables."""

import math
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given

import sfumato as sf
from sfumato.errors import InfeasibleError
from sfumato.partition import PARTITIONERS
from tests.partition.tables import ID, METHODS, Case, cases, classes_of, text

every_method = pytest.mark.parametrize("method", METHODS, ids=str)


def test_the_registry_names_each_method():
    assert all(kind.name == name for name, kind in PARTITIONERS.items())
    assert list(PARTITIONERS) == ["top-down", "mondrian", "bottom-up", "mdav"]


@every_method
def test_it_is_what_its_settings_say(method):
    kind = type(method)
    assert kind(**method.params()) == method
    assert hash(kind(**method.params())) == hash(method)
    with pytest.raises(AttributeError):
        method.name = "other"


@pytest.mark.usefixtures("patience")
@every_method
@given(case=cases())
def test_a_release_is_the_table_generalised_as_the_policy_allows(method, case: Case):
    try:
        release = sf.anonymize(case.table(), case.policy, method=method)
    except InfeasibleError:
        return
    assert release.verdict.holds
    traced, _ = trace(case, release)
    classes = classes_of(traced)
    # Labels, levels and domains are those of the published rows: others leave no trace.
    seen = replace(case, rows=[was for was, _ in traced] or case.decided())
    check_labels(seen, method, classes)
    check_manifest(seen, method, release, classes)
    check_losses(seen, method, release, classes, total=len(case.decided()))


def test_bottom_up_keeps_to_the_highest_levels():
    table = pa.table({"digit": ["0", "0", "1"]})
    policy = sf.Policy(
        columns={"digit": {"role": "quasi-identifier", "levels": [0, 0]}},
        models=[sf.models.KAnonymity(2)],
    )
    with pytest.raises(InfeasibleError):
        sf.anonymize(table, policy, method="bottom-up")


def trace(case: Case, release):
    """Find the row that each published row was: none is lost, doubled or otherwise changed."""
    left = dict(enumerate(case.rows))
    traced, stars = [], 0
    for row in release.table.to_pylist():
        if row[ID] is None:
            assert all(row[name] == "*" for name in case.names)
            assert row["disease"] is None
            stars += 1
            continue
        was = left.pop(row[ID])
        assert row["disease"] == was[-1]
        traced.append((was, tuple(text(row[name]) for name in case.names)))
    rule = case.policy.suppression
    assert stars == (len(left) if rule.rows == "star" else 0)
    assert len(left) == release.suppressed <= rule.most_rows(len(case.rows))
    if case.policy.missing == "suppress":
        assert all(None not in was[:-1] for was, _ in traced)
    return traced, list(left.values())


def level_of(case: Case, name: str, values: list) -> int:
    """Give the lowest level allowed at which all values have one label."""
    return next(
        level
        for level in case.levels(name)
        if len({case.path(name, value)[level] for value in values}) == 1
    )


def interval(values: list) -> str | None:
    """Write the shortest interval that covers all values."""
    if len(set(values)) == 1:
        return text(values[0])
    if None in values:
        return "*"
    low, high = min(values), max(values)
    return f"{low} to {high}"


def check_labels(case: Case, method, classes) -> None:
    """Every class has the narrowest label that covers its rows and that the policy allows."""
    for labels, rows in classes.items():
        for i, name in enumerate(case.names):
            values = [row[i] for row in rows]
            if case.is_interval(name, method):
                assert labels[i] == interval(values)
                continue
            level = level_of(case, name, values)
            assert level in case.levels(name)
            for value in values:
                assert labels[i] == text(case.path(name, value)[level])


def check_manifest(case: Case, method, release, classes) -> None:
    sizes = sorted(map(len, classes.values()))
    manifest = release.manifest
    assert manifest.rows.published == sum(sizes)
    assert manifest.method == {"name": method.name, **method.params()}
    assert manifest.classes.count == len(sizes)
    if sizes:
        assert manifest.classes.smallest == sizes[0]
        assert manifest.classes.largest == sizes[-1]
    columns = {column.name: column for column in manifest.known_columns}
    for i, name in enumerate(case.names):
        told = columns[name]
        if case.is_interval(name, method):
            assert told.levels is None
            assert told.intervals == len({labels[i] for labels in classes})
            continue
        assert told.height == case.height(name)
        found = [0] * (case.height(name) + 1)
        for rows in classes.values():
            found[level_of(case, name, [row[i] for row in rows])] += len(rows)
        assert list(told.levels) == found


def check_losses(case: Case, method, release, classes, total: int) -> None:
    """Recompute three losses cell by cell. What the policy drops anyway is no loss of ours."""
    sizes = list(map(len, classes.values()))
    lifted_out = total - sum(sizes)
    steps, stairs, shares, weights = 0.0, 0.0, [], []
    for i, name in enumerate(case.names):
        weight = case.policy.columns[name].weight
        height = case.height(name)
        cells = [
            (level, covered, len(rows))
            for rows in classes.values()
            for level, covered in [cell(case, method, name, [row[i] for row in rows])]
        ]
        steps += weight * sum(level * rows for level, _, rows in cells)
        steps += weight * height * lifted_out
        stairs += weight * height * total
        lost = sum(covered * rows for _, covered, rows in cells) + lifted_out
        shares.append(lost / max(total, 1))
        weights.append(weight)
    told = release.manifest.known_losses
    assert told["distortion-ratio"] == pytest.approx(steps / stairs if stairs else 0)
    logs = [w * math.log1p(share) for w, share in zip(weights, shares, strict=True)]
    assert told["normalized-loss"] == pytest.approx(math.expm1(sum(logs) / sum(weights)), abs=1e-12)
    squares = sum(size * size for size in sizes)
    assert told["discernibility"] == squares + lifted_out * total


def cell(case: Case, method, name: str, values: list) -> tuple[float, float]:
    """Give how high the cells of a class stand, and the share of the domain they cover."""
    domain = case.domain(name)
    if case.is_interval(name, method):
        places = sorted(map(domain.index, values))
        wide = places[-1] - places[0]
        if None in values and len(set(values)) > 1:
            wide = len(domain) - 1
        return wide / max(len(domain) - 1, 1), wide / max(len(domain) - 1, 1)
    level = level_of(case, name, values)
    label = case.path(name, values[0])[level]
    covered = [value for value in domain if case.path(name, value)[level] == label]
    if level == 0:
        covered = covered[:1]
    if level == case.height(name):
        covered = domain
    return level, (len(covered) - 1) / max(len(domain) - 1, 1)
