"""Slicing: attributes in columns, rows in buckets, and each column shuffled within a bucket.

Everything is decided on counts. `sfumato.decouplings` publishes what comes out.
"""

from typing import TYPE_CHECKING

from sfumato.registry import on_first_use

if TYPE_CHECKING:
    from sfumato.decouplings.slices.attributes import AIMS as AIMS
    from sfumato.decouplings.slices.attributes import correlated_columns as correlated_columns
    from sfumato.decouplings.slices.attributes import medoids as medoids
    from sfumato.decouplings.slices.attributes import require_diverse as require_diverse
    from sfumato.decouplings.slices.buckets import cut_into_buckets as cut_into_buckets
    from sfumato.decouplings.slices.correlation import MEASURES as MEASURES
    from sfumato.decouplings.slices.correlation import Correlations as Correlations
    from sfumato.decouplings.slices.correlation import correlations as correlations
    from sfumato.decouplings.slices.correlation import cramers_v as cramers_v
    from sfumato.decouplings.slices.correlation import (
        mean_square_contingency as mean_square_contingency,
    )
    from sfumato.decouplings.slices.correlation import mutual_information as mutual_information
    from sfumato.decouplings.slices.correlation import phi_square as phi_square
    from sfumato.decouplings.slices.correlation import shared_information as shared_information
    from sfumato.decouplings.slices.diversity import FORMS as FORMS
    from sfumato.decouplings.slices.diversity import Crowds as Crowds
    from sfumato.decouplings.slices.diversity import DiversityForm as DiversityForm
    from sfumato.decouplings.slices.diversity import EnhancedPAlpha as EnhancedPAlpha
    from sfumato.decouplings.slices.diversity import EntropyForm as EntropyForm
    from sfumato.decouplings.slices.diversity import PAlpha as PAlpha
    from sfumato.decouplings.slices.diversity import Probabilistic as Probabilistic
    from sfumato.decouplings.slices.diversity import Recursive as Recursive
    from sfumato.decouplings.slices.diversity import Size as Size
    from sfumato.decouplings.slices.diversity import crowds as crowds
    from sfumato.decouplings.slices.diversity import form_of as form_of
    from sfumato.decouplings.slices.layout import SubTuples as SubTuples
    from sfumato.decouplings.slices.matching import CHECKS as CHECKS
    from sfumato.decouplings.slices.matching import Buckets as Buckets
    from sfumato.decouplings.slices.matching import beliefs as beliefs
    from sfumato.decouplings.slices.matching import find_exposed as find_exposed
    from sfumato.decouplings.slices.matching import ruled_out as ruled_out
    from sfumato.schema import Columns as Columns

_HOMES = {
    "AIMS": "attributes",
    "Buckets": "matching",
    "CHECKS": "matching",
    "Columns": "sfumato.schema",
    "Correlations": "correlation",
    "Crowds": "diversity",
    "DiversityForm": "diversity",
    "EnhancedPAlpha": "diversity",
    "EntropyForm": "diversity",
    "FORMS": "diversity",
    "MEASURES": "correlation",
    "PAlpha": "diversity",
    "Probabilistic": "diversity",
    "Recursive": "diversity",
    "Size": "diversity",
    "SubTuples": "layout",
    "beliefs": "matching",
    "correlated_columns": "attributes",
    "correlations": "correlation",
    "cramers_v": "correlation",
    "crowds": "diversity",
    "cut_into_buckets": "buckets",
    "find_exposed": "matching",
    "form_of": "diversity",
    "mean_square_contingency": "correlation",
    "medoids": "attributes",
    "mutual_information": "correlation",
    "phi_square": "correlation",
    "require_diverse": "attributes",
    "ruled_out": "matching",
    "shared_information": "correlation",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [*_HOMES]  # noqa: PLE0604 - all of them are texts

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)
