"""The section on usefulness: how far answers are off."""

from collections.abc import Sequence

import numpy as np

from sfumato.releases.manifest import Manifest
from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter, need_original
from sfumato.showing.charts import histogram_svg
from sfumato.showing.content import (
    Cell,
    ContentTable,
    Drawing,
    Figures,
    FineShare,
    Heading,
    Part,
    Sentence,
    Share,
)
from sfumato.text import format_integer, percent
from sfumato.usefulness import Utility, WeightedUtility
from sfumato.usefulness.numbers import (
    MEANS,
    NUMBER_LOSSES,
    PEARSON,
    QUANTILES,
    REGRESSION,
    VARIANCES,
)
from sfumato.usefulness.propensity import DISTINGUISHABILITY
from sfumato.usefulness.queries import QueryErrors

_STEPS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)
"""Where the bars of the histogram end; each holds what the one before does not."""


def _parts(dossier: Dossier) -> Sequence[Part]:
    need_original(dossier)
    found = dossier.utility
    errors, ties = found.queries, found.associations
    figures = Figures(
        "How far answers are off",
        (
            ("rows of the original", found.rows, "How many rows there were."),
            ("rows published", found.published, "How many of them are in the release."),
            ("queries", len(errors), "How many random counting questions both were asked."),
            ("median error", Share(errors.median), "Half of the answers are off by less."),
            ("nine in ten", Share(errors.quantile(0.9)), "Nine in ten answers are off by less."),
            ("mean error", Share(errors.mean), "How far an answer is off on average."),
            (
                "correlation error",
                round(ties.mean_difference, 3),
                "How far Cramér's V of two columns is off on average; 0 is perfect.",
            ),
        ),
    )
    parts: list[Part] = [figures, Drawing.of(_draw(errors))]
    if dossier.gone is not None:
        parts.insert(0, Sentence(f"Gone: {dossier.gone}."))
    if found.weighted is not None:
        parts.append(_weighted_table(found.weighted))
    if found.numbers is not None:
        parts += _numbers(found)
    if dossier.manifest is not None and dossier.manifest.known_losses:
        parts.append(_losses(dossier.manifest))
    return parts


def _numbers(found: Utility) -> list[Part]:
    """Return what computing with numbers gives before and after, and how far that is off."""
    assert found.numbers is not None  # noqa: S101 - asked for only then
    meanings = {
        MEANS: "Of the means of columns, in standard deviations of the original.",
        VARIANCES: "Of the variances of columns, as a share of the original's.",
        QUANTILES: "Of the deciles of columns, in standard deviations.",
        PEARSON: "Of Pearson's correlations of pairs of columns.",
        REGRESSION: "Of the standardised coefficients of each column on all others.",
        DISTINGUISHABILITY: "How well a model separates published rows from original ones.",
    }
    losses = found.number_losses
    items = tuple(
        (
            NUMBER_LOSSES.get(name, "told apart"),
            FineShare(losses[name]) if name in losses else "not measured",
            meaning,
        )
        for name, meaning in meanings.items()
    )
    caption = "How far computing with numbers is off, from 0 % to 100 % (not possible any more)"
    return [Figures(caption, items), *found.numbers.parts(), Sentence(str(found.propensity))]


def _weighted_table(found: WeightedUtility) -> ContentTable:
    """Return what the weights say of each column, before and after."""
    rows: list[list[Cell]] = [
        [each.name, each.before, each.after, FineShare(each.share_off)] for each in found.columns
    ]
    everyone, published = (format_integer(round(n)) for n in (found.people, found.published))
    people = f"{everyone} people estimated, {published} of them by the release"
    return ContentTable.of(
        f"Weighted by {found.weight}: {people}; median error {percent(found.queries.median, 1)}",
        [
            "column",
            Heading("mean before", "The weighted mean in the original, of numbers."),
            Heading("mean after", "The weighted mean in the release."),
            Heading("shares off by", "The largest difference in the share of people with a value."),
        ],
        rows,
    )


def _draw(errors: QueryErrors) -> str:
    at = np.searchsorted(np.array(_STEPS), errors.relative, side="left")
    queries = np.bincount(at, minlength=len(_STEPS) + 1).tolist()
    ends = [f"{100 * step:g} %" for step in _STEPS]
    labels = [f"up to {end}" for end in ends] + [f"more than {ends[-1]}"]
    return histogram_svg(
        labels,
        queries,
        title="Queries by how far their answer is off",
        axis="relative error",
        noun="query",
        nouns="queries",
    )


def _losses(manifest: Manifest) -> ContentTable:
    rows: list[list[Cell]] = [
        [name, value, "yes" if name == manifest.loss else ""]
        for name, value in manifest.known_losses.items()
    ]
    return ContentTable.of(
        "What was lost, as far as the published rows show it",
        [
            "measure",
            Heading("loss", "Comparable between releases of one table only."),
            Heading("minimised", "The measure that the policy asked to keep small."),
        ],
        rows,
    )


UTILITY = Chapter(
    "utility",
    "What the release is still good for",
    "The original and the release are asked the same random counting questions; a relative error "
    "of 10 % means that the release says 90 or 110 where 100 is right. Then both are computed "
    "with, as analysts do.",
    _parts,
)
