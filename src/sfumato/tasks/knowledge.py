"""What an adversary knows of a person's sensitive values before the release is looked at."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.checks import require_number
from sfumato.counts import Column
from sfumato.errors import InputError, ParameterError, UnknownColumnError, suggest
from sfumato.text import is_missing, text_of
from sfumato.typing import FloatArray, Value

_KINDS = ("not", "is", "prior")


@dataclass(frozen=True)
class Knowledge:
    """Per sensitive column: values that are ruled out, the value that is known, own beliefs.

    Example:
        >>> ill = Column("ill", ("cancer", "flu", "gout"))
        >>> known = Knowledge.read({"not": "flu", "prior": {"gout": 0.1}}, [ill])
        >>> print(known)
        not ill=flu; ill=gout with probability 0.1
        >>> known.prior(ill, np.array([0.25, 0.5, 0.25])).round(3).tolist()
        [0.75, 0.0, 0.25]
    """

    ruled_out: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Codes of the values."""

    held: Mapping[str, int] = field(default_factory=dict)
    believed: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    words: tuple[str, ...] = ()

    @classmethod
    def read(cls, knows: Mapping[str, Any] | None, columns: Sequence[Column]) -> "Knowledge":
        """Read `{"not": ..., "is": ..., "prior": ...}`; see `sfumato.explain`."""
        if knows is None:
            return cls()
        if not isinstance(knows, Mapping):
            raise ParameterError("knows", knows, "a mapping", why=_FORM)
        for kind in knows:
            if kind not in _KINDS:
                hint = suggest(str(kind), _KINDS)
                raise ParameterError("knows", kind, "a mapping with known names", why=hint)
        ruled_out = _ruled_out(knows.get("not", ()), columns)
        held = _held(knows.get("is", {}), columns)
        believed = _believed(knows.get("prior", {}), columns)
        by_name = {column.name: column for column in columns}

        def written(name: str, code: int) -> str:
            return f"{name}={text_of(by_name[name].values[code])}"

        words = [f"not {written(n, code)}" for n, codes in ruled_out.items() for code in codes]
        words += [written(name, code) for name, code in held.items()]
        words += [
            f"{written(name, code)} with probability {share:g}"
            for name, shares in believed.items()
            for code, share in shares.items()
        ]
        return cls(ruled_out, held, believed, tuple(words))

    def prior(self, column: Column, shares: FloatArray) -> FloatArray:
        """Give what is believed of each known value before the release, which sums to 1 or is 0.

        Args:
            column: The sensitive column.
            shares: The share of everybody that has each value, by code.
        """
        found = self._own(column, shares)
        found[list(self.ruled_out.get(column.name, ()))] = 0
        return _normal(found)

    def weights(self, column: Column, shares: FloatArray) -> FloatArray:
        """Give how much likelier the person has each value than anybody, by code.

        A missing value is as likely as it was: it may hide any.
        """
        base, own = _normal(shares[: len(column.known)]), self._own(column, shares)
        found = np.ones(len(column.values))
        found[: len(own)] = np.divide(own, base, out=np.zeros_like(own), where=base > 0)
        found[list(self.ruled_out.get(column.name, ()))] = 0
        if column.name in self.held:
            found[np.arange(len(found)) != self.held[column.name]] = 0
        return found

    def _own(self, column: Column, shares: FloatArray) -> FloatArray:
        """Put own beliefs in place of the shares; other values share what is left as before."""
        found = _normal(shares[: len(column.known)])
        believed = self.believed.get(column.name, {})
        if believed:
            named = list(believed)
            left = np.ones(len(found), dtype=bool)
            left[named] = False
            found[left] = max(1 - sum(believed.values()), 0.0) * _normal(found[left])
            found[named] = list(believed.values())
        return _normal(found)

    def __bool__(self) -> bool:
        return bool(self.words)

    def __str__(self) -> str:
        return "; ".join(self.words)


_FORM = (
    'write {"not": value or values} for what it is not, {"is": {column: value}} for what is '
    'known, {"prior": {value: share}} for how likely values are to the adversary'
)


def _normal(shares: FloatArray) -> FloatArray:
    total = shares.sum()
    found: FloatArray = shares / total if total else shares.copy()
    return found


def _ruled_out(given: object, columns: Sequence[Column]) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    if isinstance(given, Mapping):
        pairs = [(_column(str(name), columns), v) for name, vs in given.items() for v in _list(vs)]
    else:
        pairs = [_holding(value, columns) for value in _list(given)]
    for column, value in pairs:
        codes = found.setdefault(column.name, [])
        code = _code(column, value)
        if code not in codes:
            codes.append(code)
    return {name: tuple(codes) for name, codes in found.items()}


def _held(given: object, columns: Sequence[Column]) -> dict[str, int]:
    if not isinstance(given, Mapping):
        raise ParameterError('knows["is"]', given, "a mapping of columns to values", why=_FORM)
    named = [(_column(str(name), columns), value) for name, value in given.items()]
    return {column.name: _code(column, value) for column, value in named}


def _believed(given: object, columns: Sequence[Column]) -> dict[str, dict[int, float]]:
    if not isinstance(given, Mapping):
        raise ParameterError('knows["prior"]', given, "a mapping of values to shares", why=_FORM)
    found: dict[str, dict[int, float]] = {}
    for key, share in given.items():
        if isinstance(share, Mapping):
            column = _column(str(key), columns)
            pairs = list(share.items())
        else:
            column, value = _holding(key, columns)
            pairs = [(value, share)]
        for value, each in pairs:
            require_number(f'knows["prior"][{value!r}]', each, at_least=0, at_most=1)
            found.setdefault(column.name, {})[_code(column, value)] = float(each)
    for name, shares in found.items():
        total = sum(shares.values())
        if total > 1 + 1e-9:
            raise ParameterError(
                'knows["prior"]', given, f"shares that sum to 1 at most; those of {name!r} do not"
            )
    return found


def _list(given: object) -> list[Value]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [given]
    return list(given)


def _column(name: str, columns: Sequence[Column]) -> Column:
    for column in columns:
        if column.name == name:
            return column
    raise UnknownColumnError(name, [c.name for c in columns], where="the sensitive columns")


def _code(column: Column, value: Value) -> int:
    codes = {text_of(each): code for code, each in enumerate(column.known)}
    if is_missing(value) or text_of(value) not in codes:
        text = "a missing value" if is_missing(value) else repr(text_of(value))
        hint = suggest("" if is_missing(value) else text_of(value), list(codes))
        raise InputError(f"{column.name}: nobody has {text}. {hint}")
    return codes[text_of(value)]


def _holding(value: Value, columns: Sequence[Column]) -> tuple[Column, Value]:
    """Find the one column that has a value, which may also be written as `column=value`."""
    text = "" if is_missing(value) else text_of(value)
    having = [column for column in columns if text in map(text_of, column.known)]
    if len(having) == 1:
        return having[0], value
    if not having:
        for column in columns:
            if text.startswith(f"{column.name}="):
                return column, text[len(column.name) + 1 :]
        every = dict.fromkeys(text_of(each) for column in columns for each in column.known)
        names = ", ".join(column.name for column in columns)
        raise InputError(f"nobody has {text!r} ({names}). {suggest(text, list(every))}")
    names = ", ".join(repr(column.name) for column in having)
    raise InputError(
        f"{text!r} is a value of several columns: {names}. Name the one that is meant: "
        f"'{having[0].name}={text}'."
    )
