"""A file that ends inside a quote is refused: its last cell would hold rows of other people."""

import gzip
import random

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.tables import open_table
from sfumato.verifier.counting import count, open_source

HEADER = ["name", "ssn", "age", "ill"]


def people(n=60, *, quote_at=None, column=3, end="\n", delimiter=",", quoted=False):
    """Return rows of people, one of whose cells opens a quote that nothing closes."""
    lines = [delimiter.join(HEADER)]
    for i in range(n):
        cells = [f"Person{i}", str(900000 + i), str(30 + i % 3), ["flu", "gout"][i % 2]]
        cells = [f'"{cell}"' for cell in cells] if quoted else cells
        if i == quote_at:
            cells[column] = '"' + cells[column].strip('"')
        lines.append(delimiter.join(cells))
    return end.join(lines) + end


def read(path, columns=HEADER):
    return open_table(path).count(columns)


def read_again(path, columns=HEADER):
    return count(open_source(path), columns)


READERS = pytest.mark.parametrize("reader", [read, read_again], ids=["engine", "verifier"])


@READERS
@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_quote_that_is_never_closed_is_refused_with_its_line(
    reader, column, end, delimiter, tmp_path
):
    path = tmp_path / "t.csv"
    text = people(quote_at=54, column=column, end=end, delimiter=delimiter)
    path.write_bytes(text.encode())
    # Whatever is read of it: the quote may be in a column that is left out.
    with pytest.raises(InputError, match=r"t\.csv.*line 56.* is not closed"):
        reader(path)
    for name in HEADER:
        with pytest.raises(InputError, match=r"t\.csv"):
            reader(path, [name])


def many(before, after, opened='Ann,1,30,"flu\n'):
    """Return a file with rows before a quote that is never closed, and after it."""
    row = "Person,900000,30,flu\n"
    return ",".join(HEADER) + "\n" + row * before + opened + row * after


@pytest.mark.usefixtures("patience")
@READERS
@pytest.mark.parametrize(("before", "after"), [(0, 60_000), (250_000, 0), (250_000, 250_000)])
def test_the_size_of_the_file_does_not_matter(reader, before, after, tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(many(before, after).encode(), 1))
    with pytest.raises(InputError, match=r"t\.csv\.gz"):
        reader(path, ["age"])


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("opened", ['Ann,1,30,"flu\n', 'Ann,"1,30,flu\n', 'A"nn,1,30,"flu\n'])
@pytest.mark.parametrize("after", [3, 250_000])
def test_the_line_is_found_in_a_large_file_too(opened, after, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(many(250_000, after, opened))
    with pytest.raises(InputError, match=r"t\.csv, line 250002: .* is not closed"):
        read(path, ["age"])


@READERS
def test_a_row_without_values_before_the_quote_is_no_way_around(reader, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n1,x\n,"y\n,z\n')
    with pytest.raises(InputError, match=r"line 3"):
        reader(path, ["a"])


@READERS
@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", ""])
def test_whole_files_are_read_as_before_and_hold_nothing_else(reader, quoted, end, tmp_path):
    path = tmp_path / "t.csv"
    text = people(6, quoted=quoted, end=end or "\n")
    path.write_bytes((text if end else text[:-1]).encode())
    if reader is read:
        found = open_table(path).count(["name"])
        assert found.columns[0].values == tuple(f"Person{i}" for i in range(6))
        assert found.rows.tolist() == [1] * 6
        domain = open_table(path).domains(["ill"])["ill"]
        assert sorted(domain.values()) == ["flu", "gout"]
    else:
        assert dict(count(open_source(path), ["ill"]).combinations) == {("flu",): 3, ("gout",): 3}


def ends_inside_a_quote(text, delimiter=","):
    """Return what the definition says, character by character."""
    state = "start"
    for character in text:
        if state == "quoted":
            state = "after" if character == '"' else "quoted"
        elif state == "after" and character == '"':
            state = "quoted"
        elif character in (delimiter, "\n", "\r"):
            state = "start"
        elif state == "start" and character == '"':
            state = "quoted"
        else:
            state = "cell"
    return state == "quoted"


@pytest.mark.usefixtures("patience")
@READERS
def test_whether_a_file_ends_inside_a_quote_is_what_the_definition_says(reader, tmp_path, some):
    draw = random.Random(7)
    path = tmp_path / "t.csv"
    refused = 0
    for _ in range(some(150, of=3000)):
        tail = "".join(draw.choices('"",\nab\r', k=draw.randint(1, 14)))
        text = f"a,b\n1,2\n3,{tail}"
        path.write_bytes(text.encode())
        try:
            reader(path, ["a"])
            inside = False
        except InputError as error:
            # Rows that are too short or too long are refused for that.
            inside = "is not closed" in str(error)
            refused += inside
            if not inside:
                continue
        assert inside == ends_inside_a_quote(text), text
    assert refused


@pytest.mark.parametrize("role", ["sensitive", "identifier", "plain"])
def test_no_release_is_made_of_it(role, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(people(quote_at=55))
    policy = {
        "columns": {
            "name": "identifier",
            "ssn": "identifier",
            "age": "quasi-identifier",
            "ill": role,
        },
        "models": [{"model": "k-anonymity", "k": 5}],
    }
    for output in (None, tmp_path / "release"):
        with pytest.raises(InputError, match=r"t\.csv, line 57: "):
            sf.anonymize(path, policy, output=output)
    assert not (tmp_path / "release").exists()
    with pytest.raises(InputError, match=r"line 57"):
        sf.verify(path, quasi_identifiers=["age"], sensitive=["ill"])
    with pytest.raises(InputError, match=r"line 57"):
        sf.inspect(path, quasi_identifiers=["age"])
    with pytest.raises(InputError, match=r"line 57"):
        sf.draft(path)


@pytest.mark.usefixtures("patience")
@READERS
def test_zero_bytes_are_refused_wherever_they_are(reader, tmp_path):
    path = tmp_path / "t.csv"
    text = people(60_000)
    assert len(text) > 1 << 20
    path.write_text(text + "Ann\0,1,30,flu\n")
    with pytest.raises(InputError, match=r"zero bytes"):
        reader(path, ["age"])


@READERS
def test_a_long_cell_is_a_cell_like_any_other(reader, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "x" * 200_000 + ",1\ny,2\n")
    if reader is read:
        assert read(path, ["b"]).total == 2
    else:
        assert count(open_source(path), ["b"]).combinations == {("1",): 1, ("2",): 1}


def test_a_table_in_memory_may_hold_any_quote():
    table = pa.table({"age": ["30"] * 2, "ill": ['"flu', "gout"]})
    assert open_table(table).count(["ill"]).total == 2


@pytest.mark.usefixtures("patience")
@READERS
def test_a_cell_without_end_is_refused_at_once(reader, tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"age,ill\n" + b"a" * (40 << 20), 1))
    with pytest.raises(InputError, match=r"t\.csv\.gz"):
        reader(path, ["age"])


def test_rows_of_a_wrong_width_are_named_and_not_quoted(tmp_path):
    path = tmp_path / "t.csv"
    for text in ("age,ill\n30,flu,hunter2\n", people() + "hunter2\n", "age,ill\nhunter2\n30,flu\n"):
        path.write_text(text)
        for reader in (read, read_again):
            with pytest.raises(InputError, match=r"cells, the header has") as caught:
                reader(path, ["age"])
            assert "hunter" not in str(caught.value)


@READERS
def test_lines_before_the_header_may_be_blank(reader, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n\nage,ill\n30,flu\n31,gout\n")
    found = reader(path, ["ill"])
    assert (found.total if reader is read else sum(found.combinations.values())) == 2
