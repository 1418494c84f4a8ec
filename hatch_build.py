"""Compiles the inner loops of searches when a wheel is built, where there is a compiler.

Without one, or with `SFUMATO_KERNEL=off`, the wheel is one of Python alone and does the same work
in NumPy. The extension keeps to the limited API of Python 3.11, so one wheel per platform serves
every later Python.
"""

import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SOURCE = Path("src/sfumato/search/_kernel.c")


class KernelHook(BuildHookInterface):
    """Builds the extension and puts it beside its source."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and name the wheel after the platform if that worked."""
        built = None if os.environ.get("SFUMATO_KERNEL") == "off" else self._compile()
        if built is None:
            return
        build_data["pure_python"] = False
        build_data["artifacts"].append(f"/{built.relative_to(self.root).as_posix()}")
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"cp311-abi3-{platform}"

    def _compile(self) -> Path | None:
        from setuptools import Distribution, Extension

        name = "sfumato.search._kernel"
        # The same source makes the same bytes: nothing tells the folder or the time it was built.
        windows = sys.platform == "win32"
        flags = [] if windows else ["-O3", "-std=c11", "-g0", f"-ffile-prefix-map={Path.cwd()}=."]
        source = Path(self.root) / _SOURCE
        extension = Extension(
            name,
            [os.path.relpath(source)],
            define_macros=[("Py_LIMITED_API", "0x030B0000")],
            extra_compile_args=flags,
            extra_link_args=["/Brepro"] if windows else [],
            py_limited_api=True,
        )
        with tempfile.TemporaryDirectory() as place:
            command = Distribution({"name": "sfumato", "ext_modules": [extension]}).get_command_obj(
                "build_ext"
            )
            command.build_lib = command.build_temp = place
            try:
                command.ensure_finalized()
                command.run()
                [found] = Path(place, "sfumato", "search").glob("_kernel.*")
            except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a compiler lacks
                self.app.display_warning(
                    "The inner loops of searches could not be compiled, so NumPy does their work: "
                    "results are the same, searches take longer. To compile them, install a C "
                    f"compiler and install Sfumato again. The compiler said: {error}"
                )
                return None
            target = source.parent / found.name
            shutil.copyfile(found, target)
        return target
