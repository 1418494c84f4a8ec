"""Dataclasses whose methods are written late do what those of Python do."""

import dataclasses
import inspect
import pickle
import subprocess
import sys
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.dataclasses import dataclass

NAMES = "abcd"
KINDS = st.sampled_from(["plain", "default", "factory", "hidden", "uncompared", "inner", "keyword"])


def fields_of(kinds):
    """Return annotations and defaults of a class with one field of each kind."""
    found: dict[str, Any] = {}
    for name, kind in zip(NAMES, kinds, strict=False):
        if kind == "default":
            found[name] = 3
        elif kind == "factory":
            found[name] = dataclasses.field(default_factory=list)
        elif kind == "hidden":
            found[name] = dataclasses.field(default=(1,), repr=False)
        elif kind == "uncompared":
            found[name] = dataclasses.field(default="x", compare=False)
        elif kind == "inner":
            found[name] = dataclasses.field(default_factory=dict, init=False)
        elif kind == "keyword":
            found[name] = dataclasses.field(kw_only=True)
    annotations = {name: int for name, _ in zip(NAMES, kinds, strict=False)}
    return found | {"__annotations__": annotations, "fact": "declared", "__module__": __name__}


def outcome(call, *args, **named):
    try:
        return call(*args, **named)
    except Exception as error:  # noqa: BLE001 - whatever it is, both must raise it
        return type(error)


def seen(decorate, kinds, heir, args, named, options):
    """Return all that can be seen of a class that this decorator made, and of its objects."""
    kind = decorate(**options)(type("Kind", (), fields_of(kinds)))
    if heir is not None:
        more = {"__annotations__": {"z": str, "a": str}, "z": "end", "a": heir}
        kind = decorate(**options)(type("Kind", (kind,), more | {"__module__": __name__}))
    shape = [
        (f.name, f.type, f.init, f.repr, f.compare, f.kw_only) for f in dataclasses.fields(kind)
    ]
    first, second = (outcome(kind, *args, **named) for _ in range(2))
    found = [shape, str(inspect.signature(kind)), kind.__match_args__, vars(kind).get("a", "none")]
    found.append(str(inspect.signature(kind.__init__)))
    if not isinstance(first, kind):
        return [*found, first]
    found += [repr(first), first == first, outcome(hash, first) == outcome(hash, second)]  # noqa: PLR0124
    found += [first == second, first != second, first == object(), vars(first)]
    found += [kind.__hash__ is None, outcome(setattr, first, "a", 9), outcome(delattr, first, "b")]
    found += [outcome(setattr, first, "new", 9), vars(first), dataclasses.asdict(second)]
    return [*found, repr(outcome(dataclasses.replace, second, a=7))]


@given(
    st.lists(KINDS, max_size=4),
    st.none() | st.integers(),
    st.lists(st.integers(0, 1), max_size=4),
    st.dictionaries(st.sampled_from(NAMES), st.integers(0, 1), max_size=2),
    st.fixed_dictionaries(
        {}, optional={"eq": st.booleans(), "frozen": st.booleans(), "kw_only": st.booleans()}
    ),
)
def test_a_class_is_what_python_would_make_of_it(kinds, heir, args, named, options):
    theirs = outcome(seen, dataclasses.dataclass, kinds, heir, args, named, options)
    if theirs is TypeError:
        return  # a field without a default behind one with a default: type checkers find it
    assert seen(dataclass, kinds, heir, args, named, options) == theirs


@dataclass(frozen=True)
class Base(ABC):
    name: ClassVar[str] = "base"
    size: int
    parts: list[int] = dataclasses.field(default_factory=list)

    @abstractmethod
    def area(self) -> int: ...

    def __post_init__(self):
        if self.size < 0:
            raise ValueError("a size is at least 0")


@dataclass(frozen=True)
class Square(Base):
    colour: str = "red"

    def area(self) -> int:
        return self.size**2

    def __repr__(self):
        return f"square of {self.size}"


@dataclasses.dataclass(frozen=True)
class Theirs(Square):
    """An heir that Python's own decorator made, as plug-ins are."""

    edge: int = 1


class Loose(Square):
    """An heir that is no dataclass."""


def test_methods_of_the_class_stay_and_heirs_of_any_kind_work():
    assert repr(Square(2)) == "square of 2"
    assert Square(2, [1], "blue").area() == 4
    assert Theirs(3).edge == 1
    assert Theirs(3) == Theirs(3) != Square(3)
    with pytest.raises(ValueError, match="at least 0"):
        Theirs(-1)
    with pytest.raises(TypeError, match="abstract"):
        Base(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'size'"):
        Theirs(1).size = 2
    loose = Loose(1)
    loose.note = "of its own"
    with pytest.raises(dataclasses.FrozenInstanceError):
        loose.size = 2


def test_nan_is_itself_and_a_table_that_contains_itself_can_be_shown():
    nan = float("nan")

    @dataclass(frozen=True)
    class One:
        value: object

    assert One(nan) == One(nan)
    circle = One([])
    circle.value.append(circle)
    assert "..." in repr(circle)


def test_what_it_lacks_is_refused():
    with pytest.raises(TypeError, match="InitVar"):

        @dataclass
        class Given:
            once: dataclasses.InitVar[int]

    with pytest.raises(TypeError, match="inherits from frozen ones"):

        @dataclass
        class Changing(Square):
            pass


@pytest.mark.usefixtures("patience")
def test_an_object_that_another_process_made_is_whole_before_the_first_of_its_own():
    script = (
        "import pickle, sys\n"
        "from sfumato.errors import SfumatoError\n"
        "one, same = pickle.loads(sys.stdin.buffer.read())\n"
        "print(one == same, hash(one) == hash(same), one)\n"
    )
    from sfumato.models import KAnonymity

    done = subprocess.run(
        [sys.executable, "-c", script],
        input=pickle.dumps((KAnonymity(k=3), KAnonymity(k=3))),
        check=False,
        capture_output=True,
    )
    assert done.stdout.split() == [b"True", b"True", b"k-anonymity(k=3)"], done.stderr
