"""Dataclasses that cost almost nothing until one of them is made.

Python's own decorator writes and compiles up to six functions for each class. A command imports
hundreds of classes and makes objects of a few dozen: compiling took a third of its start-up. This
decorator stands in for Python's: fields, defaults, `fields`, `replace`, `asdict` and what a type
checker sees are the same. Comparing, hashing and showing are written once for all classes, and
`__init__` is compiled when a class makes its first object (docs/decisions/0040-start-up.md).

>>> @dataclass(frozen=True)
... class Point:
...     x: int
...     y: int = 0
>>> Point(1), Point(1) == Point(1, 0)
(Point(x=1, y=0), True)
"""

import dataclasses as standard
from abc import update_abstractmethods
from collections.abc import Callable, Mapping
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

__all__ = ["dataclass"]


def _dataclass(
    kind: type[T] | None = None,
    /,
    *,
    init: bool = True,
    eq: bool = True,
    frozen: bool = False,
    kw_only: bool = False,
) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a class a dataclass, as `dataclasses.dataclass` does, without `InitVar` and order."""

    def make(kind: type[T]) -> type[T]:
        return _make(kind, init=init, eq=eq, frozen=frozen, kw_only=kw_only)

    return make if kind is None else make(kind)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass


def _make(kind: type[T], *, init: bool, eq: bool, frozen: bool, kw_only: bool) -> type[T]:
    bases = [base for base in kind.__mro__[-1:0:-1] if standard.is_dataclass(base)]
    if bases and frozen is not any(base.__dataclass_params__.frozen for base in bases):  # type: ignore[attr-defined]
        raise TypeError("a frozen dataclass inherits from frozen ones, and any other from none")
    declared = get_annotations(kind)
    if any(isinstance(each, standard.InitVar) for each in declared.values()):
        raise TypeError(f"{kind.__qualname__} has an InitVar, which these dataclasses lack")
    # Python's own decorator reads the annotations: of a class with nothing else in it.
    found = {name: getattr(kind, name) for name in declared if hasattr(kind, name)}
    namespace = {"__annotations__": declared, "__module__": kind.__module__, "__doc__": "Fields."}
    own: Any = type(kind.__name__, (), found | namespace)
    standard.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(own)
    for name, value in found.items():
        if isinstance(value, standard.Field):
            if value.default is standard.MISSING:
                delattr(kind, name)
            else:
                setattr(kind, name, value.default)
    known: dict[str, Any] = {}
    for base in bases:
        known |= base.__dataclass_fields__
    known |= own.__dataclass_fields__
    params = own.__dataclass_params__
    params.init, params.repr, params.eq, params.frozen = init, True, eq, frozen
    given: dict[str, Any] = {"__dataclass_fields__": known, "__dataclass_params__": params}
    if "__replace__" in vars(own):  # Python 3.13 and later
        given["__replace__"] = vars(own)["__replace__"]
    for name, value in given.items():
        setattr(kind, name, value)
    _add_methods(kind, init=init, eq=eq, frozen=frozen)
    update_abstractmethods(kind)
    return kind


def _add_methods(kind: type, *, init: bool, eq: bool, frozen: bool) -> None:
    """Give the class the methods that it has not written itself."""
    there = frozenset(vars(kind))
    fields = standard.fields(kind)
    methods: dict[str, Any] = {"__repr__": _repr(fields)}
    if init:
        methods["__init__"] = _Init(kind)
        methods["__match_args__"] = tuple(
            each.name for each in fields if each.init and not each.kw_only
        )
    if frozen:
        if there & {"__setattr__", "__delattr__"}:
            raise TypeError(f"{kind.__qualname__} is frozen and sets its attributes itself")
        methods |= _refusals(kind)
    if eq:
        compared = [each for each in fields if each.compare]
        methods["__eq__"] = _eq(_read(compared))
        if "__hash__" not in there or (vars(kind)["__hash__"] is None and "__eq__" in there):
            read = _read([e for e in compared if (e.compare if e.hash is None else e.hash)])
            kind.__hash__ = _hash(read) if frozen else None  # type: ignore[assignment, method-assign]
    for name, method in methods.items():
        if name not in there:
            if isinstance(method, type(_read)):
                method.__qualname__ = f"{kind.__qualname__}.{name}"
            setattr(kind, name, method)


def _read(fields: list["standard.Field[Any]"]) -> Callable[[Any], Any]:
    """Return what reads the values of these fields: two objects are equal if these are."""
    if not fields:
        return lambda _: ()
    read = attrgetter(*(each.name for each in fields))
    # As tuples, of which the same object is equal to itself, whatever it says of that.
    return read if len(fields) > 1 else lambda it: (read(it),)


def _eq(read: Callable[[Any], Any]) -> Callable[[Any, Any], bool]:
    def __eq__(self: Any, other: Any) -> bool:  # noqa: ANN401, N807
        return read(self) == read(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(read: Callable[[Any], Any]) -> Callable[[Any], int]:
    def __hash__(self: Any) -> int:  # noqa: ANN401, N807
        return hash(read(self))

    return __hash__


def _repr(fields: tuple["standard.Field[Any]", ...]) -> Callable[[Any], str]:
    names = [each.name for each in fields if each.repr]

    def __repr__(self: Any) -> str:  # noqa: ANN401, N807
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({shown})"

    return recursive_repr("...")(__repr__)


def _refusals(kind: Any) -> Mapping[str, Callable[..., None]]:  # noqa: ANN401
    """Return what keeps objects of a class, and its fields in heirs, from being changed."""

    def __setattr__(self: Any, name: str, value: Any) -> None:  # noqa: ANN401, N807
        if type(self) is kind or name in kind.__dataclass_fields__:
            raise standard.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(kind, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: ANN401, N807
        if type(self) is kind or name in kind.__dataclass_fields__:
            raise standard.FrozenInstanceError(f"cannot delete field {name!r}")
        super(kind, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}


class _NewDefault:
    """The default of a field that is made anew for each object, as signatures show it."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE = _NewDefault()


class _Init:
    """The `__init__` of a class before its first object: compiled when it is asked for."""

    def __init__(self, kind: type) -> None:
        self._kind = kind

    def __get__(self, made: object, kind: type | None = None) -> Any:  # noqa: ANN401
        init = vars(self._kind)["__init__"]
        if init is self:
            init = _compile_init(self._kind)
            # Two threads may both come here: they write the same function.
            type.__setattr__(self._kind, "__init__", init)
        return init.__get__(made, kind)


def _compile_init(kind: Any) -> Callable[..., None]:  # noqa: ANN401
    """Write `__init__` as one would by hand, and compile it."""
    fields = standard.fields(kind)
    frozen = kind.__dataclass_params__.frozen
    names: dict[str, Any] = {"_MADE": _MADE, "_set": object.__setattr__}
    body: list[str] = []
    places, keywords = ["self"], list[str]()
    for field in fields:
        name, value = field.name, field.name
        if field.default_factory is not standard.MISSING:
            names[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}()"
            if field.init:
                value += f" if {name} is _MADE else {name}"
            default = "=_MADE"
        elif field.default is not standard.MISSING:
            names[f"_default_{name}"] = field.default
            default = f"=_default_{name}"
        else:
            default = ""
        if field.init:
            (keywords if field.kw_only else places).append(name + default)
        elif field.default_factory is standard.MISSING:
            continue
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(kind, "__post_init__"):
        body.append("self.__post_init__()")
    given = ", ".join([*places, *(["*", *keywords] if keywords else [])])
    text = "\n    ".join([f"def __init__({given}):", *(body or ["pass"])])
    exec(text, names)  # noqa: S102 - of names of fields and nothing else
    init: Callable[..., None] = names["__init__"]
    init.__module__, init.__qualname__ = kind.__module__, f"{kind.__qualname__}.__init__"
    init.__annotations__ = {each.name: each.type for each in fields if each.init} | {"return": None}
    return init
