"""Lines of a text are counted alike however it comes in pieces."""

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.tables.arrow.delimited import _empty_lines, _EndedText

PIECES = st.lists(st.sampled_from([b"a", b'"', b",", b"\n", b"\r\n", b"\n\n", b"\r", "é".encode()]))


@pytest.mark.usefixtures("patience")
@given(PIECES.map(b"".join), st.integers(1, 5))
def test_lines_that_are_not_empty_are_counted(text, size):
    # By the definition: every line that holds something, and the last one without an end, too.
    lines = [line for line in re.split(rb"\r?\n", text) if line]
    ended = _EndedText(io.BytesIO(text), ",", 2)
    read = b""
    while piece := ended.read(size):
        read += piece
    assert read.startswith(text)
    # A carriage return alone ends no line, and is none that somebody would call empty.
    if not re.search(rb"\r(?!\n)|\r\Z", text):
        pieces = (text[start : start + size] for start in range(0, len(text), size))
        assert ended.lines - _empty_lines(pieces) == len(lines)
