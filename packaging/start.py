"""What `sfumato.pyz` does when it is opened: unpacks itself once, and starts the app."""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

OLDEST = (3, 11)


def cache_folder() -> Path:
    """Return where programs of this system keep what they can make again."""
    home = Path.home()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", home / ".cache"))


def unpack(archive: Path) -> Path:
    """Return the folder with the package and all that it needs; it is there whole or not at all."""
    with zipfile.ZipFile(archive) as packed:
        build = packed.read("build.txt").decode().strip()
        place = cache_folder() / "sfumato" / build
        if not place.is_dir():
            place.parent.mkdir(parents=True, exist_ok=True)
            print("Sfumato is unpacked. That happens once, and takes a minute.", flush=True)
            with tempfile.TemporaryDirectory(dir=place.parent) as part:
                inside = [name for name in packed.namelist() if name.startswith("site/")]
                packed.extractall(part, inside)
                try:
                    (Path(part) / "site").rename(place)
                except OSError:
                    # Another start was quicker.
                    if not place.is_dir():
                        raise
            for old in place.parent.iterdir():
                # Of the version before.
                if old != place:
                    shutil.rmtree(old, ignore_errors=True)
    return place


def main() -> int:
    """Start the app in a folder of its own; with arguments, the command line."""
    place = unpack(Path(sys.argv[0]).resolve())
    asked = sys.argv[1:]
    if not asked:
        folder = Path.home() / "Sfumato"
        folder.mkdir(exist_ok=True)
        asked = ["app", "--folder", str(folder)]
    # In a process of its own: processes that it starts are told where packages are, too.
    program = "from sfumato.cli import main; main()"
    with_site = {**os.environ, "PYTHONPATH": str(place)}
    command = [sys.executable, "-c", program, *asked]
    if os.name == "posix":
        # In its place, so that what ends this one ends the app.
        os.execve(command[0], command, with_site)
    return subprocess.call(command, env=with_site)


if __name__ == "__main__":
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:2]))
        print(f"Sfumato needs Python 3.11 or newer, and this is {found}. Get it at python.org.")
        code = 2
    else:
        try:
            code = main()
        except KeyboardInterrupt:
            code = 130
        except Exception as error:  # noqa: BLE001 - a window that closes at once says nothing
            print(f"Sfumato could not start: {error}")
            code = 1
    if code not in (0, 130) and len(sys.argv) == 1:
        input("Press Enter to close this window.")
    sys.exit(code)
