"""Several releases on the command line, each under a name."""

from collections.abc import Sequence
from pathlib import Path

from sfumato.errors import ParameterError


def named(releases: Sequence[str]) -> dict[str, object]:
    """Call each release by its folder or file, and by its whole path where that is not enough.

    >>> named(["out/k5/", "broken"])
    {'k5': 'out/k5/', 'broken': 'broken'}
    >>> list(named(["a/release", "b/release"]))
    ['a/release', 'b/release']
    """
    from sfumato.tasks.stored import is_stored, shown

    whole = [shown(each) if is_stored(each) else str(Path(each)) for each in releases]
    short = [Path(name).name or name for name in whole]
    names = short if len(set(short)) == len(short) else whole
    if len(set(names)) < len(names):
        raise ParameterError("releases", list(releases), "different releases")
    return dict(zip(names, releases, strict=True))
