"""Families of interchangeable things, found by name.

A model, loss, search or hierarchy is one class with a `name`. Its family's
registry is what policies, the command line, the docs and the contract tests
iterate, so a new member appears everywhere. Packages outside register through an
entry point in the group of the family, for example `sfumato.models`.
"""

import inspect
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, ClassVar, Generic, Self, TypeVar

from sfumato.errors import UnknownNameError

T = TypeVar("T")


class Member:
    """One of a family: a frozen dataclass whose fields are its settings."""

    name: ClassVar[str]
    """What policies and the command line call it."""

    title: ClassVar[str] = ""
    """What the app calls it; its name, with blanks, if it does not say."""

    in_words: ClassVar[str] = ""
    """What it does, in a sentence without words of the trade; the app shows and translates it."""

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

    >>> class Linear: name = "linear"
    >>> Registry("search", "sfumato.searches", [Linear])["liner"]
    Traceback (most recent call last):
    sfumato.errors.UnknownNameError: no search 'liner'. Did you mean 'linear'? Known: 'linear'.
    """

    def __init__(self, what: str, group: str, members: Iterable[type[T]]) -> None:
        self.what = what
        self._group = group
        self._members: dict[str, type[T]] = {kind.name: kind for kind in members}  # type: ignore[attr-defined]
        self._plugins_loaded = False
        # A plug-in that is being loaded may ask for other members.
        self._loading = threading.RLock()

    def _load_plugins(self) -> None:
        if self._plugins_loaded:
            return
        from importlib.metadata import entry_points

        with self._loading:
            if self._plugins_loaded:
                return
            self._plugins_loaded = True
            members = dict(self._members)
            try:
                for point in entry_points(group=self._group):
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
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        self._load_plugins()
        return iter(self._members)

    def __len__(self) -> int:
        self._load_plugins()
        return len(self._members)
