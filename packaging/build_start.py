"""Build `sfumato.pyz`: the app in one file that is started by a double-click.

    python packaging/build_start.py dist/sfumato.pyz [what pip installs, "." by default]

It holds the package with the extras that the app offers, for the system and the Python that it is
built with. Who opens it needs that Python and nothing else.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipapp
from pathlib import Path

EXTRAS = "[app,office,excel,sign]"
HERE = Path(__file__).parent


def build(target: Path, what: str) -> None:
    """Install everything into a folder, and pack it with what starts it."""
    with tempfile.TemporaryDirectory() as made:
        stage = Path(made)
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--no-compile"),
                *("--disable-pip-version-check", "--target", str(stage / "site"), what),
            ],
            check=True,
        )
        for needless in ("bin", "share"):
            shutil.rmtree(stage / "site" / needless, ignore_errors=True)
        digest = hashlib.sha256()
        for path in sorted((stage / "site").rglob("*")):
            if path.is_file():
                digest.update(path.relative_to(stage).as_posix().encode() + b"\0")
                digest.update(path.read_bytes())
        (stage / "build.txt").write_text(digest.hexdigest()[:16] + "\n", encoding="ascii")
        shutil.copy(HERE / "start.py", stage / "__main__.py")
        target.parent.mkdir(parents=True, exist_ok=True)
        zipapp.create_archive(stage, target, "/usr/bin/env python3", compressed=True)
    print(f"{target} ({target.stat().st_size / 1e6:.0f} MB)")


if __name__ == "__main__":
    build(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else f"{HERE.parent}{EXTRAS}")
