"""Do something without the powers of root, which no permission stops."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

NOBODY = 65534


@contextmanager
def unprivileged() -> Iterator[None]:
    """Act as nobody if the tests run as root.

    Work in a folder that others may enter, by relative paths, and import everything
    before: nobody may not read the home of root either.
    """
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
