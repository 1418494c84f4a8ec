"""Read a file in a process of its own, because a damaged one can end the process that reads it.

Libraries for the files of other programs are written in C: bytes that are not what they seem to be
may crash them, loop for ever, or ask for all memory there is. In a process of its own that is an
error like any other.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from sfumato.errors import InputError, MissingExtraError

_BASE_MEMORY = 4 << 30
_MEMORY_PER_BYTE = 60
_BASE_SECONDS = 120
_SECONDS_PER_MB = 20


def read_apart(script: Path, path: Path, request: Mapping[str, object], called: str) -> bytes:
    """Return what a script writes to its standard output about a file.

    The script gets the request as JSON on its standard input, with the path of the file and the
    folders in which libraries are. If it cannot read the file it writes JSON to its standard error:
    `error`, a sentence, or `missing`, the library and the extra that are not installed.

    Args:
        script: The script, which imports nothing of ours.
        path: The file.
        request: What else the script has to know.
        called: What a message calls the file, such as "SPSS file".
    """
    size = path.stat().st_size
    given = {
        **request,
        "path": str(path),
        "sys_path": [str(Path(each).absolute()) for each in sys.path],
        "memory": _BASE_MEMORY + _MEMORY_PER_BYTE * size,
    }
    try:
        done = subprocess.run(  # noqa: S603 - our own script, and no shell
            [sys.executable, "-I", str(script)],
            input=json.dumps(given).encode(),
            capture_output=True,
            timeout=_BASE_SECONDS + _SECONDS_PER_MB * (size >> 20),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise InputError(
            f"{path} cannot be read as {called}: reading it does not end. It is damaged; "
            "export it again."
        ) from None
    if done.returncode == 0:
        return done.stdout
    told = _last_line(done.stderr)
    if "missing" in told:
        raise MissingExtraError(*told["missing"])
    if "error" in told:
        raise InputError(f"{path} {told['error']}")
    raise InputError(
        f"{path} cannot be read as {called}: the reader broke off. The file is damaged, or is not "
        "what its first bytes say. Open it in the program that wrote it, and export it again."
    )


def _last_line(stderr: bytes) -> dict[str, list[str]]:
    lines = stderr.decode("utf-8", errors="replace").strip().splitlines()
    try:
        told = json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
