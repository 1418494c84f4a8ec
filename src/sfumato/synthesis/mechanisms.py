"""Mechanisms: a model of a table, fitted to noisy counts, by OpenDP's MST or AIM.

OpenDP takes rows as a data frame and counts them for each set of columns. Its next step, and all
that spends a budget, takes counts. So it is its own code that runs here, unchanged, with a
transformation in front that takes marginals of our counts: their price goes with combinations and
not with rows. A person with m rows can change each marginal by m in the L1 and the L2 norm (all m
may fall into one cell), whatever the table.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from itertools import combinations
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError
from sfumato.synthesis.budget import PrivacyBudget
from sfumato.synthesis.opendp import Libraries, MechanismError, libraries
from sfumato.text import format_integer
from sfumato.typing import IntArray, Progress, silent

MECHANISMS = ("mst", "aim")
"""A tree of the strongest pairs, or the worst represented sets of up to three columns in turn."""

COUNTS = "counts"
"""What manifests call it where noisy counts are published as they are, and no model is fitted."""

MOST_CELLS = 5_000_000
"""No marginal has more cells: it would neither fit nor be of use under noise."""

SINGLE_SHARE = 0.5
"""The share of the budget for single columns, as in OpenDP; the rest is for columns together."""

Clique = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CountedCells:
    """A table as cells of a public domain: how many rows of bounded contribution are in which.

    >>> counts = CountedCells(("sex", "ill"), (2, 3), np.array([[0, 1], [2, 2]]), np.array([5, 4]))
    >>> counts.marginal(("ill",)).tolist(), counts.marginal(("sex", "ill")).tolist()
    ([0, 0, 9], [[0, 0, 5], [0, 0, 4]])
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    cells: np.ndarray
    """`cells[c, i]`: the cell of column c in combination i."""

    rows: IntArray

    def shape(self, clique: Clique) -> tuple[int, ...]:
        """Return how many cells each of some columns has."""
        sizes = dict(zip(self.names, self.sizes, strict=True))
        return tuple(sizes[name] for name in clique)

    def marginal(self, clique: Clique) -> np.ndarray:
        """Count the rows in each combination of cells of some columns."""
        shape = self.shape(clique)
        at = [self.cells[self.names.index(name)] for name in clique]
        flat = np.ravel_multi_index(at, shape)
        found = np.bincount(flat, weights=self.rows, minlength=math.prod(shape))
        # OpenDP counts in 32 bits, and clips what is larger.
        return np.minimum(found, np.iinfo(np.int32).max).astype(np.int32).reshape(shape)


@dataclass(frozen=True)
class Measurement:
    """Noisy counts that a model was fitted to, without the counts."""

    columns: Clique
    scale: float
    """The scale of the noise: the standard deviation of a Gaussian, or Laplace's parameter."""

    spent: float
    """What it spends of ρ, or of ε if the budget is pure."""


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A model and what was spent on it."""

    model: Any
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    measurements: tuple[Measurement, ...]
    selection: float
    """What was spent on choosing which columns to count together."""

    library: str = ""
    """What made noise and kept accounts."""

    @property
    def total(self) -> int:
        """The number of rows, as far as noise tells."""
        return max(0, round(float(self.model.total)))

    def draw(self, rows: int) -> np.ndarray:
        """Draw the cells of rows: one array of cells per column."""
        if rows == 0:
            return np.empty((len(self.names), 0), dtype=np.int64)
        drawn = _draw_rows(self.model, rows).df
        return np.stack([np.asarray(drawn[name], dtype=np.int64) for name in self.names])


@dataclass(frozen=True, eq=False)
class NoisyTables:
    """Counts of some columns each with noise, and what was spent on them."""

    measurements: tuple[Measurement, ...]
    counts: tuple[IntArray, ...]
    """The counts of each, an axis per column; they may be below zero."""

    library: str = ""
    """What made noise and kept accounts."""


def _draw_rows(model: Any, rows: int) -> Any:  # noqa: ANN401 - mbi's
    """Draw rows from a model, by mbi's own function with one thing changed.

    It deals the values of a column to rows with the same parents in the order of the rows, column
    after column. Columns that have nothing but a parent in common are then sorted alike, and look
    tied to each other. Dealt in random order they are as the model has them.
    """
    method = type(model).synthetic_data
    return _bind(method, _with_names(method.__globals__, np=_EqualInRandomOrder()))(model, rows)


class _EqualInRandomOrder:
    """NumPy, but that equal values are sorted in random order."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever NumPy has
        return getattr(np, name)

    @staticmethod
    def argsort(values: np.ndarray, **_: object) -> IntArray:
        """Return the order of values; which of equal ones comes first is drawn."""
        flat = np.asarray(values).reshape(-1)
        return np.lexsort((np.random.default_rng().random(len(flat)), flat))


def require_cells(names: Sequence[str], sizes: Sequence[int]) -> None:
    """Raise if columns together have more cells than can be counted.

    >>> require_cells(["zip", "job"], [100, 1000])
    """
    of = dict(zip(names, sizes, strict=True))
    for one, other in combinations(names, 2):
        together = of[one] * of[other]
        if together > MOST_CELLS:
            raise InputError(
                f"{one!r} and {other!r} have {format_integer(of[one])} and "
                f"{format_integer(of[other])} cells, and {format_integer(together)} together; no "
                f"two columns may have more than {format_integer(MOST_CELLS)}. Take wider cells "
                "for one of them: fewer cuts, or a coarser level of its hierarchy as its domain."
            )


def fit(
    counts: CountedCells,
    budget: PrivacyBudget,
    *,
    mechanism: str = "mst",
    contributions: int = 1,
    report: Progress = silent,
) -> FittedModel:
    """Fit a model to noisy counts of a table, within a budget for each person.

    Promises: one person with at most so many rows changes the probability of any outcome by no
    more than the budget says. That rests on OpenDP, and on the domain being public.

    Args:
        counts: The table.
        budget: What may be spent.
        mechanism: One of `MECHANISMS`.
        contributions: The most rows a person has in the counts.
        report: Told how far it is.
    """
    require_cells(counts.names, counts.sizes)
    with _told_errors() as lib:
        return _MechanismRun(lib, counts, budget, mechanism, contributions, report).fit()


def count_with_noise(
    counts: CountedCells,
    cliques: Sequence[Clique],
    budget: PrivacyBudget,
    *,
    contributions: int = 1,
) -> NoisyTables:
    """Count the cells of some columns each, all with the same noise, within a budget.

    Promises what `fit` does. Each cell of the domain is counted, whether or not anyone is in it.

    Args:
        counts: The table.
        cliques: The columns of each table of counts: chosen without looking at the table.
        budget: What may be spent on all of them.
        contributions: The most rows a person has in the counts.
    """
    with _told_errors() as lib:
        run = _MechanismRun(lib, counts, budget, COUNTS, contributions, silent)
        return run.count(cliques)


@contextmanager
def _told_errors() -> Iterator[Libraries]:
    """Give OpenDP, and say what it means for a budget if it stops."""
    lib = libraries()
    try:
        yield lib
    except lib.dp.OpenDPException as error:
        raise MechanismError(
            "OpenDP stopped while it made noisy counts, so that nothing is published. What it "
            f"spent counts as spent. It said: {str(error.message or error.variant)[:300]}"
        ) from None


@dataclass(frozen=True, eq=False)
class _MechanismRun:
    """One run of a mechanism."""

    lib: Libraries
    counts: CountedCells
    budget: PrivacyBudget
    mechanism: str
    contributions: int
    report: Progress

    @property
    def measure(self) -> Any:  # noqa: ANN401 - OpenDP's
        dp = self.lib.dp
        return dp.max_divergence() if self.budget.pure else dp.zero_concentrated_divergence()

    @property
    def singles(self) -> list[Clique]:
        return [(name,) for name in self.counts.names]

    def fit(self) -> FittedModel:
        lib, names = self.lib, self.counts.names
        steps = 2 if len(names) == 1 else 3
        self.report("fit", 0, steps)
        first, rest = self._parts()
        table = self._space([*self.singles])
        answer = lib.dp.c.make_adaptive_composition(
            *self._source(), self.measure, self.contributions, [first, *([rest] if rest else [])]
        )(None)
        single = self._noisy_marginals(table, self.singles, first)
        alone = answer(single)
        found = lib.algorithms.Marginals().add(*alone)
        model = self._estimate(found.flatten())
        self.report("fit", 1, steps)
        if rest:
            together = self._algorithm(rest)
            chosen = self._over_counts(together)(
                SimpleNamespace(columns=list(names)),
                None,
                self.measure,
                self.contributions,
                rest,
                marginals=found,
                model=model,
            )
            found, model = answer(chosen)
            self.report("fit", 2, steps)
        # AIM may count a single column again, and the columns are in no order then.
        first_ones = set(map(id, alone))
        later = [each for each in found.flatten() if id(each) not in first_ones]
        after = tuple(map(self._measurement, later))
        measured = (*map(self._measurement, alone), *after)
        return FittedModel(
            model,
            names,
            self.counts.sizes,
            measured,
            self._selection(after, rest),
            _library(),
        )

    def _parts(self) -> tuple[float, float]:
        """Divide the budget: for single columns, and for columns together."""
        whole = self.budget.spent
        if len(self.counts.names) == 1:
            return whole, 0.0
        first = whole * SINGLE_SHARE
        return first, _hair_below(whole - first)

    def _source(self) -> tuple[Any, Any]:
        """Return the domain and the metric of the table: distances are rows of one person."""
        dp = self.lib.dp
        return (
            dp.user_domain("rows in cells of a public domain", lambda _: True),
            dp.user_distance("the most rows of a person"),
        )

    def _space(self, cliques: Sequence[Clique]) -> Any:  # noqa: ANN401 - OpenDP's
        """Return the transformation from the table to the marginals of some columns each."""
        lib = self.lib
        shapes = {clique: self.counts.shape(clique) for clique in cliques}
        inner = lib.utilities.get_associated_metric(self.measure)
        return lib.internal._make_transformation(  # noqa: SLF001 - as OpenDP's own extras do
            *self._source(),
            output_domain=lib.utilities.typed_dict_domain(
                {c: lib.arrays.arrayd_domain(shape=shape, T="i32") for c, shape in shapes.items()}
            ),
            output_metric=lib.utilities.typed_dict_distance(inner),
            function=lambda _: {clique: self.counts.marginal(clique) for clique in shapes},
            stability_map=lambda rows: dict.fromkeys(shapes, int(rows)),
        )

    def _noisy_marginals(self, table: Any, cliques: Sequence[Clique], budget: float) -> Any:  # noqa: ANN401 - OpenDP's
        """Return the measurement of the marginals of some columns each, all with the same noise."""
        make = partial(
            self.lib.utilities.make_noise_marginals,
            *table.output_space,
            self.measure,
            [*cliques],
        )
        return _narrowest(lambda scale: table >> make(scale), self.contributions, budget)

    def count(self, cliques: Sequence[Clique]) -> "NoisyTables":
        """Return the marginals of some columns each with noise, for the whole budget."""
        made = self._noisy_marginals(self._space(cliques), cliques, self.budget.spent)
        found = made(None)
        return NoisyTables(
            tuple(map(self._measurement, found)),
            tuple(
                np.asarray(each.noisy_measurement).astype(np.int64).reshape(shape)
                for each, shape in zip(found, map(self.counts.shape, cliques), strict=True)
            ),
            _library(),
        )

    def _algorithm(self, rest: float) -> Any:  # noqa: ANN401 - OpenDP's
        if self.mechanism == "mst":
            return self.lib.algorithms.MST(estimator=self._fit_model)
        queries = [
            self.lib.algorithms.Count(clique)
            for clique in combinations(self.counts.names, min(3, len(self.counts.names)))
            if math.prod(self.counts.shape(clique)) <= MOST_CELLS
        ] or [self.lib.algorithms.Count(pair) for pair in combinations(self.counts.names, 2)]
        return self.lib.algorithms.AIM(queries=queries, estimator=self._fit_model)

    def _over_counts(self, algorithm: Any) -> Callable[..., Any]:  # noqa: ANN401 - OpenDP's
        """Return OpenDP's own `make_marginals`, with marginals of counts in place of a frame's."""
        method = type(algorithm).make_marginals
        changed = _with_names(
            method.__globals__,
            make_stable_marginals=lambda _d, _m, _inner, cliques: self._space(cliques),
            binary_search_chain=lambda make, d_in, d_out, T: _narrowest(make, d_in, d_out),  # noqa: ARG005, N803
            prior=_hair_below,
        )
        return partial(_bind(method, changed), algorithm)

    def _fit_model(self, domain: Any, measured: Any, *, potentials: Any = None) -> Any:  # noqa: ANN401
        return self.lib.algorithms.mirror_descent(domain, measured, potentials=potentials)

    def _estimate(self, measured: Any) -> Any:  # noqa: ANN401 - OpenDP's and mbi's
        sizes = dict(zip(self.counts.names, self.counts.sizes, strict=True))
        return self._fit_model(self.lib.mbi.Domain.fromdict(sizes), measured)

    def _measurement(self, each: Any) -> Measurement:  # noqa: ANN401 - mbi's
        deviation = float(each.stddev)
        if self.budget.pure:
            scale = deviation / math.sqrt(2)
            return Measurement(tuple(each.clique), scale, self.contributions / scale)
        spent = self.contributions**2 / (2 * deviation**2)
        return Measurement(tuple(each.clique), deviation, spent)

    def _selection(self, together: Sequence[Measurement], rest: float) -> float:
        """Return what was spent on choosing: MST's part at once, AIM's beside each measurement."""
        if not rest:
            return 0.0
        split = float(self.lib.algorithms.MST().measure_split)
        if self.mechanism == "mst":
            return rest * (1 - split)
        return math.fsum(each.spent for each in together) * (1 - split) / split


def _library() -> str:
    return f"OpenDP {version('opendp')}"


def _hair_below(number: float) -> float:
    """Return a number a hair smaller: parts of a budget whose sum is rounded up stay within it.

    OpenDP takes the next smaller float, which is not enough for eight parts: with nine columns its
    accounting refuses every plan of MST.
    """
    return float(number) * (1 - 1e-12)


def _with_names(names: Mapping[str, Any], **other: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the names of a module with others in place of some, for all of its own functions.

    The module itself stays as it is.
    """
    found = {**names, **other}
    for name, value in names.items():
        own = isinstance(value, FunctionType) and value.__globals__ is names
        if own and name not in other:
            found[name] = _bind(value, found)
    return found


def _bind(function: Any, names: dict[str, Any]) -> Any:  # noqa: ANN401 - any function
    """Return a function that looks up its names elsewhere."""
    bound = FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )
    bound.__kwdefaults__ = function.__kwdefaults__
    return bound


def _narrowest(make: Callable[[float], Any], d_in: Any, d_out: float) -> Any:  # noqa: ANN401
    """Return what OpenDP makes with the least noise that it finds within a budget.

    OpenDP's own search begins at the ends of what a float holds, and takes hundreds of steps. What
    a scale costs is for OpenDP to say in both.
    """

    def within(scale: float) -> bool:
        try:
            return bool(make(scale).map(d_in) <= d_out)
        except (OverflowError, libraries().dp.OpenDPException):
            return False

    high = 1.0
    for _ in range(200):
        if within(high):
            break
        high *= 2
    else:
        raise ValueError("no scale is suitable")
    low = high / 2
    while within(low) and low > 1e-6:
        high, low = low, low / 2
    for _ in range(_SEARCH):
        middle = (low + high) / 2
        low, high = (low, middle) if within(middle) else (middle, high)
    return make(high)


_SEARCH = 24
"""Halvings: noise is less than a ten-millionth wider than it must be."""
