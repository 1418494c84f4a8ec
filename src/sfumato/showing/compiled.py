"""Compiled templates, kept where Python keeps compiled modules, so that each is compiled once.

Without a place to write, or where Python is told to write no bytecode, templates are compiled anew.
"""

import sys
from contextlib import suppress
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from tempfile import NamedTemporaryFile

from jinja2 import BytecodeCache, compiler
from jinja2.bccache import Bucket


class CompiledTemplates(BytecodeCache):
    """Bytecode of the templates of one environment.

    Jinja compares each with its template, as Python does with sources. What was compiled by another
    Jinja, or for an environment that was set up otherwise, is not found.

    Args:
        maker: The module that sets the environment up: its `__file__`.
    """

    def __init__(self, maker: str) -> None:
        self._folder = Path(cache_from_source(__file__)).parent
        sources = sha256(Path(maker).read_bytes())
        sources.update(Path(compiler.__file__).read_bytes())
        self._made_by = sources.hexdigest()[:16]

    def _place(self, bucket: Bucket) -> Path:
        tag = sys.implementation.cache_tag
        return self._folder / f"{bucket.key[:16]}-{self._made_by}.{tag}.template"

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read what was compiled, if it is there."""
        with suppress(OSError), self._place(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled, whole or not at all."""
        if sys.dont_write_bytecode:
            return
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=self._folder, delete=False) as file:
                bucket.write_bytecode(file)
            Path(file.name).replace(self._place(bucket))
