"""The front is what no other point beats, and everything written says the same."""

import csv
import io
import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks.adversary.trial import RISKS, Trial
from sfumato.comparison.frontier import Comparison, find_front
from sfumato.errors import OutputError, ParameterError, UnknownNameError
from tests.showing.reading import NASTY, check_drawing, children, tooltip

POLICY = sf.Policy(
    columns={"age": "quasi-identifier"}, models=[{"model": "k-anonymity", "k": 2}], other="dropped"
)
PLACES = st.lists(st.tuples(*[st.sampled_from([0.0, 0.1, 0.25, 0.3, 1.0])] * 2), max_size=9)


def comparison(places, names=None, failed=()):
    names = names or [f"p{i}" for i in range(len(places))]
    points = [
        Trial(POLICY, name, losses={"normalized-loss": x}, risks=dict.fromkeys(RISKS, y))
        for name, (x, y) in zip(names, places, strict=True)
    ]
    points += [Trial(POLICY, name, reason="cannot be <b>had</b>") for name in failed]
    return Comparison(tuple(points), 9)


def beaten(place, others):
    """Some other one is as good in both respects, and better in one."""
    return any(other[0] <= place[0] and other[1] <= place[1] and other != place for other in others)


@given(PLACES)
def test_the_front_is_what_nothing_beats(places):
    expected = [i for i, place in enumerate(places) if not beaten(place, places)]
    assert find_front(places) == expected
    found = comparison(places)
    assert {point.name for point in found.front} == {f"p{i}" for i in expected}
    assert [found.place(point) for point in found.front] == sorted(places[i] for i in expected)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=9))
def test_a_front_beats_all_that_is_not_on_it(places):
    rounded = [(round(x, 12), round(y, 12)) for x, y in places]
    best = find_front(places)
    assert best == [i for i, place in enumerate(rounded) if not beaten(place, rounded)]
    assert best


def test_another_risk_makes_another_front():
    points = [("a", 0.1, {"at-risk": 0.0, "mean": 0.5}), ("b", 0.2, {"at-risk": 0.0, "mean": 0.1})]
    found = Comparison(
        tuple(
            Trial(POLICY, n, losses={"normalized-loss": x}, risks=risks) for n, x, risks in points
        ),
        9,
    )
    assert [point.name for point in found.front] == ["a"]
    assert [point.name for point in found.by("mean").front] == ["a", "b"]
    assert found.by("belief").front == ()
    with pytest.raises(UnknownNameError, match=r"no risk 'men'. Did you mean 'mean'"):
        found.by("men")


@given(PLACES)
def test_marks_are_told_apart_without_colour(places):
    found = comparison(places)
    root = check_drawing(found.svg())
    front, others = children(root, "front"), children(root, "beaten")
    on_front = {found.place(point) for point in found.front}
    assert len(front) == len(on_front)
    assert len(others) == len(set(places) - on_front)
    told = " ".join(tooltip(mark) for mark in [*front, *others])
    assert all(f"{point.name}: " in told for point in found)


class Page(HTMLParser):
    """A page as a browser takes it apart."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = [], [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


@given(st.lists(NASTY, min_size=2, max_size=4, unique=True))
def test_a_page_holds_any_names_and_asks_nobody_for_anything(names):
    found = comparison([(0.1, 0.2)] * (len(names) - 1), names[:-1], failed=names[-1:])
    page = Page(found.html())
    assert page.tags.count("script") == page.tags.count("style") == 1
    assert not {"link", "img", "iframe", "object", "form", "b"} & set(page.tags)
    for _tag, name, value in page.attributes:
        assert not name.startswith("on")
        assert name not in ("src", "style", "action", "srcset")
        assert name != "href" or re.fullmatch(r"#policy-\d+", value)
    assert page.tags.count("details") == len(names)


def test_only_the_script_and_the_style_of_the_page_itself_are_allowed():
    page = Page(comparison([(0.1, 0.2)]).html())
    [allowed] = [value for tag, name, value in page.attributes
                 if tag == "meta" and name == "content" and "default-src" in value]  # fmt: skip
    assert "default-src 'none'" in allowed
    for tag in ("script", "style"):
        digest = b64encode(sha256("".join(page.texts[tag]).encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in allowed


def test_without_the_script_marks_lead_to_the_policies():
    found = comparison([(0.1, 0.2), (0.3, 0.1), (0.4, 0.4)], failed=["never"])
    text = found.html()
    page = Page(text)
    ids = {value for tag, name, value in page.attributes if (tag, name) == ("details", "id")}
    links = {value[1:] for tag, name, value in page.attributes if (tag, name) == ("a", "href")}
    assert ids == links == {"policy-1", "policy-2", "policy-3", "policy-4"}
    assert "".join(page.texts["pre"]) == POLICY.to_yaml() * 4
    drawing = text[text.index("<svg") : text.index("</svg>")]
    assert 'role="group"' in drawing
    assert drawing.count("aria-label=") == 3
    assert "cannot be &lt;b&gt;had&lt;/b&gt;" in text


def test_a_notebook_shows_the_drawing_and_the_figures():
    text = comparison([(0.1, 0.2)], ["<i>"], failed=["never"])._repr_html_()
    assert "<svg" in text
    assert "<table" in text
    assert "script" not in text
    assert "&lt;i&gt;" in text
    assert "<i>" not in text


def test_the_table_marks_the_front_and_the_impossible():
    lines = str(comparison([(0.1, 0.2), (0.3, 0.3)], failed=["never"])).splitlines()
    assert lines[0].startswith("3 policies on 9 rows. *: no other one")
    assert [line.split()[:2] for line in lines[2:5]] == [["p0", "1*"], ["p1", "2"], ["never", "3"]]
    assert "not possible" in lines[4]
    assert lines[5] == "never is not possible: cannot be <b>had</b>"


@pytest.mark.parametrize("ending", ["html", "svg", "csv", "json"])
def test_files_are_written_by_their_ending(tmp_path, ending):
    found = comparison([(0.1, 0.2), (0.3, 0.1)], failed=["never"])
    path = found.save(tmp_path / f"compare.{ending}")
    text = path.read_text(encoding="utf-8")
    if ending == "json":
        assert json.loads(text) == json.loads(json.dumps(found.to_dict()))
    else:
        assert text == {"html": found.html, "svg": found.svg, "csv": found.csv}[ending]()


def test_a_line_of_the_csv_has_all_figures():
    rows = list(csv.DictReader(io.StringIO(comparison([(0.1, 0.2)], ["a, b"], ["no"]).csv())))
    assert [row["name"] for row in rows] == ["a, b", "no"]
    assert (rows[0]["normalized-loss"], rows[0]["at-risk"], rows[0]["front"]) == (
        "0.1",
        "0.2",
        "True",
    )
    assert (rows[1]["loss"], rows[1]["reason"]) == ("", "cannot be <b>had</b>")


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"path must be a file that ends in .html, .svg"):
        comparison([]).save(tmp_path / "compare.png")
    with pytest.raises(OutputError, match="cannot write"):
        comparison([]).save(tmp_path / "nowhere" / "compare.html")


def test_nothing_compared_is_nothing_drawn():
    found = comparison([])
    assert (len(found), found.front, repr(found)) == (
        0, (), "<Comparison of 0 policies, 0 on the front>"
    )  # fmt: skip
    check_drawing(found.svg())
    assert "There is nothing to draw." in found.html()
