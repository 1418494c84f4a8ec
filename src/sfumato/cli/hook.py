"""The gate of a repository: every release that a commit touches must be fit to be published.

`python -m sfumato.cli.hook FILES…` is what the pre-commit hook runs with the files of a commit.
"""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from sfumato.cli.command import BROKEN, WRONG
from sfumato.cli.output import clean, say


def releases_of(files: Iterable[str]) -> list[Path]:
    """Return the release folders that files belong to, each once.

    >>> releases_of(["README.md"])
    []
    """
    folders = dict.fromkeys(Path(file).parent for file in files)
    return [folder for folder in folders if (folder / "manifest.json").is_file()]


def main(files: Sequence[str]) -> int:
    """Verify the releases that files belong to; 0 if all may be published."""
    from sfumato.errors import SfumatoError
    from sfumato.tasks.verify import verify

    worst = 0
    for folder in releases_of(files):
        try:
            found = verify(folder)
        except SfumatoError as error:
            say(f"{clean(folder)}: {clean(error)}")
            worst = WRONG
            continue
        if not found.holds:
            say(f"{clean(folder)}\n{clean(found, keep=chr(10))}")
            worst = max(worst, BROKEN)
    return worst


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
