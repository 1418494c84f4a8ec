"""Values of options: texts and paths are taken as they are typed.

The library behind the command line checks every value by a schema, and to load what makes schemas
takes as long as all the rest of a command line. Texts and paths need no check; numbers get it.
"""

from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

Command: Any = TyperCommand.__mro__[1]
"""The library's own class of all commands, which it does not export."""

_PLAIN: dict[object, Any] = {str: (str, False), Path: (Path, False), list[str]: (str, True)}
"""By the type of an option, what each of its values becomes, and whether it has several."""


class _Value:
    """Stands in for the library's check of the values of one option, until a value needs it."""

    def __init__(self, kind: object) -> None:
        self._kind = kind
        self._plain = _PLAIN.get(kind)

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401 - the library's
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        if type(value) is self._kind:  # as a default is
            return value
        if self._plain is not None and self._plain[1] == several:
            make = self._plain[0]
            return [make(each) for each in value] if several else make(value)
        param._runtime_param = None  # noqa: SLF001 - as the library left it
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


class _Plain(Command):  # type: ignore[misc]
    """A command or a group of them that loads the checks only for a value that needs one."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - the library's
        found: list[Any] = super().get_params(ctx)
        for param in found:
            # Other versions of the library check values in another way, and keep it.
            if getattr(param, "_runtime_param", param) is None:
                param._runtime_param = _Value(param.type_descriptor.annotation)  # noqa: SLF001
        return found


class PlainCommand(_Plain, TyperCommand):
    """A command whose texts and paths are taken as they are."""


class PlainGroup(_Plain, TyperGroup):
    """A group whose texts and paths are taken as they are."""
