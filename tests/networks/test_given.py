"""Networks that are given: arrows as text, pairs, files; and what is wrong with them."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.errors import InputError, ParameterError, SfumatoError
from sfumato.networks import Network, arrows_of, given_network, tables_of, to_bif
from sfumato.networks.given import read_arrows, refuse_cycle

NAME = st.text(st.characters(exclude_characters='"', exclude_categories=["Cs"]), max_size=8)


@given(st.lists(st.lists(NAME, min_size=2, max_size=4), min_size=1, max_size=4))
def test_names_in_quotes_are_read_back(chains):
    text = ", ".join(" -> ".join(f'"{name}"' for name in chain) for chain in chains)
    wanted = [(a, b) for chain in chains for a, b in pairwise(chain)]
    assert list(read_arrows(text)) == wanted


@given(st.lists(st.sampled_from(["a", "b c", "->", "→", ",", '"', " ", "-", ">", "d"]), max_size=9))
def test_any_text_is_read_or_refused(parts):
    try:
        arrows = read_arrows("".join(parts))
    except ParameterError as error:
        assert "arrows as in" in str(error)  # noqa: PT017 - what is said is what is tested
    else:
        assert arrows
        # Only a name in quotes may be empty.
        assert '""' in "".join(parts) or all(a and b for a, b in arrows)


EDGES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)


@given(EDGES)
def test_circles_are_found_as_networks_find_them(pairs):
    edges = [(str(a), str(b)) for a, b in pairs]
    circular = bool(Network.of("012345", edges).cycles)
    try:
        refuse_cycle(edges)
    except ParameterError as error:
        way = error.args[0].split("'")[1].split(" -> ")
        assert circular
        assert way[0] == way[-1]
        assert all(edge in edges for edge in pairwise(way))
    else:
        assert not circular


def test_every_form_gives_the_same_arrows():
    wanted = (("a", "b"), ("b", "c"))
    for form in (
        "a -> b, b -> c", "a->b->c", "a → b → c", ["a -> b", ("b", "c")], [["a", "b"], ["b", "c"]],
        Network.of("abc", wanted), iter(wanted), ["a -> b", "a -> b", "b -> c"],
    ):  # fmt: skip
        assert arrows_of(form) == wanted


@pytest.mark.parametrize(
    "wrong",
    ["", "a", "a ->", "-> a", "a -> -> b", "a, b", "a -> b,", '"a -> b', 'a "b" -> c', 5, None,
     {"a": "b"}, b"a -> b", ["a"], [("a",)], [("a", 1)], [5], "a -> a", "a -> b -> a"],
)  # fmt: skip
def test_what_is_no_network_is_refused(wrong):
    with pytest.raises(ParameterError, match="network must be"):
        arrows_of(wrong)


def test_columns_that_are_not_named_depend_on_nothing():
    network = given_network("b -> a", ["a", "b", "c"]).network
    assert network.columns == ("a", "b", "c")
    assert network.edges == (("b", "a"),)


def test_a_column_that_is_not_there_is_refused_with_the_nearest_one(tmp_path):
    with pytest.raises(SfumatoError, match=r"'zip' in the table\. Did you mean 'zipcode'"):
        given_network("age -> zip", ["age", "zipcode"])
    path = tmp_path / "net.bif"
    path.write_text("variable zip { type discrete [ 1 ] { x }; }")
    with pytest.raises(SfumatoError, match=r"'zip' in the table, but in .*net.bif"):
        given_network(path, ["age", "zipcode"])


def test_a_circle_in_a_file_is_refused(tmp_path):
    path = tmp_path / "net.bif"
    names = "".join(f"variable {n} {{ type discrete [ 1 ] {{ x }}; }}\n" for n in "ab")
    path.write_text(names + "probability ( a | b ) { } probability ( b | a ) { }")
    with pytest.raises(ParameterError, match=r"without a circle, got '(a -> b -> a|b -> a -> b)'"):
        given_network(path, ["a", "b"])
    with pytest.raises(InputError, match="cannot read"):
        given_network(tmp_path / "none.bif", ["a"])


def test_a_file_brings_its_probabilities(tmp_path):
    counts = FrequencySet.from_rows(["a", "b"], [("x", 1), ("y", 2)])
    network = Network.of("ab", [("a", "b")])
    path = tmp_path / "NET.BIF"
    path.write_text(to_bif(network, tables_of(counts, network)))
    found = given_network(path, ["c", "b", "a"])
    assert found.network.columns == ("c", "b", "a")
    assert found.network.edges == (("a", "b"),)
    assert found.belief.tables["b"].row({"a": "x"})["1"] == 1.0
    assert given_network("a -> b", ["a", "b"]).belief is None
