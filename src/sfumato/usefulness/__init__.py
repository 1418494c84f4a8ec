"""Usefulness of what is published: counting queries, correlations, numbers, classifiers.

Every kind of release is read by the `Estimator`, which answers as a careful reader who has only
the release would. The answers are compared with those of the original table.

Example:
    >>> from sfumato.counts import FrequencySet
    >>> from sfumato.usefulness import Estimator, Query, between
    >>> table = FrequencySet.from_rows(["age"], [(31,), (32,), (39,), (39,)])
    >>> release = FrequencySet.from_rows(["age"], [("31 to 39",)] * 4)
    >>> query = Query((between(table.columns[0], 31, 32),))
    >>> Estimator.of_table(release, table.columns).count(query)
    2.6666666666666665
"""

from typing import TYPE_CHECKING

from sfumato.registry import on_first_use

if TYPE_CHECKING:
    from sfumato.usefulness.answers import Estimate as Estimate
    from sfumato.usefulness.answers import ReleaseOnlyReader as ReleaseOnlyReader
    from sfumato.usefulness.cells import AnalystCells as AnalystCells
    from sfumato.usefulness.estimators import Estimator as Estimator
    from sfumato.usefulness.measure import Accuracy as Accuracy
    from sfumato.usefulness.measure import Associations as Associations
    from sfumato.usefulness.measure import Classification as Classification
    from sfumato.usefulness.measure import Exam as Exam
    from sfumato.usefulness.measure import Figure as Figure
    from sfumato.usefulness.measure import PeopleLeft as PeopleLeft
    from sfumato.usefulness.measure import Utilities as Utilities
    from sfumato.usefulness.measure import Utility as Utility
    from sfumato.usefulness.measure import WeightedUtility as WeightedUtility
    from sfumato.usefulness.measure import strengths as strengths
    from sfumato.usefulness.numbers import NumberExam as NumberExam
    from sfumato.usefulness.numbers import NumberUtility as NumberUtility
    from sfumato.usefulness.propensity import Propensity as Propensity
    from sfumato.usefulness.propensity import measure_propensity as measure_propensity
    from sfumato.usefulness.queries import Condition as Condition
    from sfumato.usefulness.queries import Query as Query
    from sfumato.usefulness.queries import QueryErrors as QueryErrors
    from sfumato.usefulness.queries import Workload as Workload
    from sfumato.usefulness.queries import among as among
    from sfumato.usefulness.queries import between as between

_HOMES = {
    "Accuracy": "measure",
    "AnalystCells": "cells",
    "Associations": "measure",
    "Classification": "measure",
    "Condition": "queries",
    "Estimate": "answers",
    "Estimator": "estimators",
    "Exam": "measure",
    "Figure": "measure",
    "NumberExam": "numbers",
    "NumberUtility": "numbers",
    "PeopleLeft": "measure",
    "Propensity": "propensity",
    "Query": "queries",
    "QueryErrors": "queries",
    "ReleaseOnlyReader": "answers",
    "Utilities": "measure",
    "Utility": "measure",
    "WeightedUtility": "measure",
    "Workload": "queries",
    "among": "queries",
    "between": "queries",
    "measure_propensity": "propensity",
    "strengths": "measure",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [*_HOMES]  # noqa: PLE0604 - all of them are texts

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)
