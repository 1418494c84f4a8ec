"""Families of interchangeable things, found by name.

A model, loss, search or hierarchy is one class with a `name`. Its family's
registry is what policies, the command line, the docs and the contract tests
iterate, so a new member appears everywhere. Packages outside register through an
entry point in the group of the family, for example `sfumato.models`.
"""

import inspect
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from sfumato.errors import UnknownNameError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

T = TypeVar("T")


def on_first_use(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package that imports its names when they are first asked for.

    Args:
        package: The package.
        homes: By name, the module it is in: one of the package, or one with its whole name.
    """

    def find(name: str) -> Any:  # noqa: ANN401 - of any type
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = home if home.startswith("sfumato.") else f"{package}.{home}"
        value = getattr(import_module(module), name)
        # From now on it is found without asking here.
        setattr(sys.modules[package], name, value)
        return value

    return find


def find_installed(group: str) -> "EntryPoints":
    """Return what installed packages offer in one of our groups."""
    return _offers(tuple(sys.path))(group=group)


@cache
def _offers(path: tuple[str, ...]) -> "Callable[..., EntryPoints]":
    """Return a search through all that is offered; to read it takes long, and once is enough."""
    del path  # what is installed depends on it
    from importlib.metadata import entry_points

    return entry_points().select


class Member:
    """One of a family: a frozen dataclass whose fields are its settings."""

    name: ClassVar[str]
    """What policies and the command line call it."""

    title: ClassVar[str] = ""
    """What the app calls it; its name, with blanks, if it does not say."""

    in_words: ClassVar[str] = ""
    """What it does, in a sentence without words of the trade; the app shows and translates it."""

    translations: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """What the app says of it in other languages: by language, its English texts, each translated.

    The catalogues of the app have those of members that do not say it themselves.
    """

    @classmethod
    def describe_kind(cls) -> str:
        """Return what it does in words: its own, or the first sentence of its docstring."""
        return cls.in_words or first_sentence(cls)

    def params(self) -> dict[str, Any]:
        """Return its settings as plain values, as a policy writes them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def example(cls) -> Self:
        """Return a small valid instance: the one without settings, unless it needs some.

        If it has a sensitive column, that is `disease`.
        """
        return cls()


def first_sentence(kind: type) -> str:
    """Return the first sentence of a class, without the marks of code."""
    text = (inspect.getdoc(kind) or "").partition("\n\n")[0]
    return " ".join(text.replace("`", "").split())


class Registry(Mapping[str, type[T]], Generic[T]):
    """Classes of one family by name, our own first, then installed plug-ins.

    Of a family that is large, names of classes are given in place of classes: one is imported from
    the package `home` when it is first looked up.

    >>> class Linear: name = "linear"
    >>> Registry("search", "sfumato.searches", [Linear])["liner"]
    Traceback (most recent call last):
    sfumato.errors.UnknownNameError: no search 'liner'. Did you mean 'linear'? Known: 'linear'.
    """

    def __init__(
        self,
        what: str,
        group: str,
        members: Iterable[type[T]] | Mapping[str, str],
        *,
        home: str = "",
    ) -> None:
        self.what = what
        self._group = group
        self._home = home
        self._members: dict[str, type[T] | str] = (
            dict(members) if isinstance(members, Mapping) else {kind.name: kind for kind in members}  # type: ignore[attr-defined]
        )
        self._plugins_loaded = False
        # A plug-in that is being loaded may ask for other members.
        self._loading = threading.RLock()

    def _load_plugins(self) -> None:
        if self._plugins_loaded:
            return
        with self._loading:
            if self._plugins_loaded:
                return
            self._plugins_loaded = True
            members = dict(self._members)
            try:
                for point in find_installed(self._group):
                    kind = point.load()
                    members.setdefault(kind.name, kind)
            finally:
                # As a whole: other threads go through the members meanwhile.
                self._members = members

    def __getitem__(self, name: str) -> type[T]:
        if name not in self._members:
            self._load_plugins()
        if name not in self._members:
            raise UnknownNameError(self.what, str(name), sorted(self._members))
        found = self._members[name]
        if isinstance(found, str):
            found = self._members[name] = getattr(import_module(self._home), found)
        return found

    def __contains__(self, name: object) -> bool:
        if name not in self._members:
            self._load_plugins()
        return name in self._members

    def __iter__(self) -> Iterator[str]:
        self._load_plugins()
        return iter(self._members)

    def __len__(self) -> int:
        self._load_plugins()
        return len(self._members)
