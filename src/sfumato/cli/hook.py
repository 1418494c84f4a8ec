"""The gate of a repository: every release that a commit touches must be fit to be published.

`python -P -m sfumato.cli.hook FILES…` is what the pre-commit hook runs with the files of a commit;
with `-P` it imports nothing that lies in the repository.
Git is asked besides what the commit removes and renames, for no hook is given such files.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sfumato.cli.command import BROKEN, WRONG
from sfumato.cli.output import clean, say
from sfumato.dataclasses import dataclass

_MANIFEST, _EVIDENCE = "manifest.json", "evidence.json"
_KEYS = {"sfumato", "columns", "models", "rows"}
"""Keys of the manifest of a release. Other programs have files of that name with none of these."""


@dataclass(frozen=True)
class Repository:
    """What Git knows of the working folder: the files before a commit and after it."""

    top: Path
    base: str
    """The commit before: the last one, or the one that `PRE_COMMIT_FROM_REF` names."""

    before: frozenset[str]
    after: frozenset[str]
    touched: tuple[str, ...]
    """The files that the commit adds, changes or removes; a renamed one under both names."""

    @classmethod
    def find(cls) -> "Repository | None":
        """Return what Git answers; None where there is no repository, or no Git."""
        top = _ask("rev-parse", "--show-toplevel")
        if not top:
            return None
        base = os.environ.get("PRE_COMMIT_FROM_REF") or "HEAD"
        before = _ask("ls-tree", "-r", "--full-tree", "--name-only", "-z", base)
        after = _ask("ls-files", "--full-name", "-z", "--", ":/")
        touched = _ask("diff", "--cached", "--no-renames", "--name-only", "-z", base, "--")
        # Before the first commit there is nothing to compare with: all files are new.
        new = after if touched is None else touched
        return cls(
            Path(top.rstrip("\n")),
            base,
            frozenset(_split(before)),
            frozenset(_split(after)),
            tuple(_split(new)),
        )

    def name_of(self, path: Path) -> str | None:
        """Return what Git calls a file; None if it is outside."""
        try:
            return (
                path.parent.resolve().relative_to(self.top.resolve()).joinpath(path.name).as_posix()
            )
        except ValueError:
            return None

    def keeps(self, folder: Path) -> bool:
        """Return whether files of a folder are in the repository after the commit."""
        name = self.name_of(folder / "x")
        return name is not None and any(each.startswith(name[:-1]) for each in self.after)

    def loses(self, file: Path) -> bool:
        """Return whether a file is lost to the repository by the commit, and its folder is not.

        A file that is here and not committed is none of the release that others get.
        """
        name = self.name_of(file)
        known = name in self.before or file.is_file()
        return known and name not in self.after and self.keeps(file.parent)

    def was_release(self, folder: Path) -> bool:
        """Return whether a folder had the manifest of a release before the commit."""
        name = self.name_of(folder / _MANIFEST)
        return name in self.before and _is_ours(_ask("show", f"{self.base}:{name}"))


def _ask(*words: str) -> str | None:
    """Return what Git answers; None if it has no answer."""
    try:
        done = subprocess.run(  # noqa: S603 - no shell reads the words
            ["git", *words],  # noqa: S607 - the Git that runs the hook
            capture_output=True,
            check=False,
        )
    except OSError:
        return None
    return os.fsdecode(done.stdout) if done.returncode == 0 else None


def _split(names: str | None) -> list[str]:
    return [name for name in (names or "").split("\0") if name]


def _is_ours(text: str | None) -> bool:
    """Return whether a text is the manifest of a release; one that cannot be read may be."""
    try:
        plain = json.loads(text or "")
    except (ValueError, RecursionError):
        return True
    return not isinstance(plain, dict) or not _KEYS.isdisjoint(plain)


def releases_of(files: Iterable[str], repository: Repository | None = None) -> list[Path]:
    """Return the release folders that files lie in, however deep, each once.

    A folder that was a release before the commit is one, unless nothing of it is left.

    >>> releases_of(["README.md"])
    []
    """
    given = [Path(file) for file in files]
    if repository is not None:
        given += [_from_here(repository.top / name) for name in repository.touched]
    found: dict[Path, Path] = {}
    seen: set[Path] = set()
    for path in given:
        for folder in _folders_of(path, repository):
            whole = folder.absolute()
            # A file right beside a manifest speaks for it, so only this is asked again.
            if whole in found or (whole in seen and folder != path.parent):
                continue
            seen.add(whole)
            if _is_release(folder, repository, beside=folder == path.parent):
                found[whole] = folder
    return list(found.values())


def _folders_of(path: Path, repository: Repository | None) -> Iterator[Path]:
    """Return the folders that a file is in, from the inside out, up to the repository's top."""
    top = Path.cwd() if repository is None else repository.top
    for folder in path.absolute().parents:
        yield _from_here(folder)
        if folder == top:
            return


def _from_here(path: Path) -> Path:
    """Return a path as it is called in the working folder, if it is below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _is_release(folder: Path, repository: Repository | None, *, beside: bool) -> bool:
    """Return whether a folder is a release or was one; `beside` means that a file lies in it."""
    manifest, evidence = folder / _MANIFEST, folder / _EVIDENCE
    left = repository is None or repository.keeps(folder)
    if manifest.is_file():
        return beside or _is_ours(manifest.read_text(encoding="utf-8", errors="replace"))
    if evidence.is_file() and b'"sfumato release"' in evidence.read_bytes():
        return left or repository is None
    return repository is not None and left and repository.was_release(folder)


def _lost_from(folder: Path, repository: Repository | None) -> list[str]:
    """Return the files by which a release is known and that it would be without."""
    names = (_MANIFEST, _EVIDENCE)
    if repository is not None:
        lost = [name for name in names if repository.loses(folder / name)]
        if lost:
            return lost
    return [] if (folder / _MANIFEST).is_file() else [_MANIFEST]


def main(files: Sequence[str]) -> int:
    """Verify the releases that files belong to; 0 if all may be published."""
    from sfumato.errors import SfumatoError
    from sfumato.tasks.verify import verify

    repository = Repository.find()
    worst = 0
    for folder in releases_of(files, repository):
        lost = _lost_from(folder, repository)
        if lost:
            say(
                f"{clean(folder)}: this release is committed without its {' and '.join(lost)}, so "
                "that it cannot be verified. Add what is missing, or remove the whole folder."
            )
            worst = max(worst, BROKEN)
            continue
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
