"""Regular expressions that are compiled when they are first used.

A command imports hundreds of them and uses a few dozen; compiling all took a tenth of its start-up.
"""

import re
from typing import Any, cast


class _LatePattern:
    """Stands for a regular expression until something is asked of it."""

    def __init__(self, text: str, flags: int) -> None:
        self.pattern = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of any type
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(re.compile(self.pattern, self._flags), name)
        # From now on it is found without asking here.
        setattr(self, name, found)
        return found


def late(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a regular expression for a constant of a module, to be used by its methods.

    >>> late(r"[a-z]+", re.IGNORECASE).fullmatch("Age")
    <re.Match object; span=(0, 3), match='Age'>
    """
    return cast("re.Pattern[str]", _LatePattern(text, flags))
