"""The layout against what it promises, checked point by point on random graphs."""

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from sfumato.showing.layout import HEIGHT, assign_rows, crossings, flow, lay_out, order_rows, spread


@st.composite
def graphs(draw, *, acyclic=False, loops=False):
    n = draw(st.integers(1, 9))
    pairs = [(a, b) for a in range(n) for b in range(n) if loops or a != b]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=16)) if pairs else []
    if acyclic:
        place = draw(st.permutations(range(n)))
        edges = [(a, b) for a, b in edges if place[a] < place[b]]
    return n, edges


def has_cycle(n, edges):
    reach = set(edges)
    for k in range(n):
        reach |= {(a, d) for a, b in reach for c, d in reach if b == c == k}
    return any(a == b for a, b in reach)


@given(graphs(acyclic=True))
def test_without_a_cycle_all_edges_point_down(graph):
    n, edges = graph
    assert not assign_rows(n, edges, most=4).against


@given(graphs())
def test_edges_against_the_flow_are_enough_to_break_all_cycles(graph):
    n, edges = graph
    against = assign_rows(n, edges, most=4).against
    assert sorted(flow(n, edges)) == list(range(n))
    assert not has_cycle(n, [edge for e, edge in enumerate(edges) if e not in against])
    # At most half of the edges: the guarantee of the heuristic.
    assert len(against) <= len(edges) / 2


@given(graphs(), st.integers(1, 5))
def test_every_edge_passes_every_row_between_its_ends(graph, most):
    n, edges = graph
    found = assign_rows(n, edges, most=most)
    row_of = {item: r for r, row in enumerate(found.rows) for item in row}
    assert sorted(item for row in found.rows for item in row) == list(range(len(row_of)))
    assert all(sum(item < n for item in row) <= most for row in found.rows)
    for e, (parent, child) in enumerate(edges):
        chain = found.chains[e]
        ends = (child, parent) if e in found.against else (parent, child)
        assert (chain[0], chain[-1]) == ends
        first = row_of[chain[0]]
        assert [row_of[item] for item in chain] == list(range(first, first + len(chain)))
        assert all(bend >= n for bend in chain[1:-1])


def slow_crossings(rows, links):
    total = 0
    for upper, lower, between in zip(rows, rows[1:], links, strict=False):
        for (a, b), (c, d) in combinations(between, 2):
            total += (upper.index(a) - upper.index(c)) * (lower.index(b) - lower.index(d)) < 0
    return total


@given(graphs())
def test_crossings_are_counted_as_the_textbook_does(graph):
    found = assign_rows(*graph, most=4)
    rows = order_rows(found)
    links = found.links()
    assert [set(row) for row in rows] == [set(row) for row in found.rows]
    assert crossings(rows, links) == slow_crossings(rows, links)


@given(st.permutations(range(1, 15)))
def test_a_tree_has_no_crossings(names):
    label = [0, *names]
    tree = [(label[(i - 1) // 2], label[i]) for i in range(1, 15)]
    found = assign_rows(15, tree, most=8)
    assert crossings(order_rows(found), found.links()) == 0


def textbook_spread(wanted, weights, gaps):
    """Isotonic regression by its max-min formula."""
    before = [sum(gaps[:i]) for i in range(len(wanted))]
    y = [w - b for w, b in zip(wanted, before, strict=True)]

    def mean(j, k):
        heavy = sum(weights[j : k + 1])
        return sum(a * w for a, w in zip(y[j : k + 1], weights[j : k + 1], strict=True)) / heavy

    n = len(y)
    flat = [max(min(mean(j, k) for k in range(i, n)) for j in range(i + 1)) for i in range(n)]
    return [a + b for a, b in zip(flat, before, strict=True)]


@given(st.data(), st.integers(1, 8))
def test_places_are_the_nearest_that_keep_their_gaps(data, n):
    numbers = st.floats(-100, 100)
    wanted = data.draw(st.lists(numbers, min_size=n, max_size=n))
    weights = data.draw(st.lists(st.floats(0.1, 10), min_size=n, max_size=n))
    gaps = data.draw(st.lists(st.floats(0, 50), min_size=n - 1, max_size=n - 1))
    found = spread(wanted, weights, gaps)
    slow = textbook_spread(wanted, weights, gaps)
    assert all(abs(a - b) < 1e-6 for a, b in zip(found, slow, strict=True))


@given(graphs(loops=True), st.data())
def test_boxes_are_inside_and_apart(graph, data):
    n, edges = graph
    widths = data.draw(st.lists(st.floats(64, 170), min_size=n, max_size=n))
    layout = lay_out(widths, edges)
    for a, b in combinations(layout.boxes, 2):
        assert not a.overlaps(b)
    for box in layout.boxes:
        assert box.x >= -1e-6
        assert box.y >= 0
        assert box.x + box.width <= layout.width + 1e-6
        assert box.y + box.height <= layout.height + 1e-6


@given(graphs(loops=True), st.data())
def test_edges_run_from_box_to_box_and_through_none(graph, data):
    n, edges = graph
    widths = data.draw(st.lists(st.floats(64, 170), min_size=n, max_size=n))
    layout = lay_out(widths, edges)
    assert sorted(layout.routes) == [e for e, (a, b) in enumerate(edges) if a != b]
    for e, route in layout.routes.items():
        parent, child = (layout.boxes[node] for node in edges[e])
        start, end = route.points[0], route.points[-1]
        assert start.y == parent.y + (0 if route.against else HEIGHT)
        assert end.y == child.y + (HEIGHT if route.against else 0)
        assert parent.x < start.x < parent.x + parent.width
        assert child.x < end.x < child.x + child.width
        for segment in range(len(route.points) - 1):
            for step in range(21):
                point = route.at(segment, step / 20)
                assert -1e-6 <= point.x <= layout.width + 1e-6
                for box in layout.boxes:
                    inside_x = box.x - 1 < point.x < box.x + box.width + 1
                    assert not (inside_x and box.y + 1e-6 < point.y < box.y + box.height - 1e-6)


def test_the_place_on_a_curve_is_that_of_the_path():
    """The points of a Bézier curve, by de Casteljau's construction from the path as written."""
    route = lay_out([80, 90, 100], [(0, 1), (0, 2)]).routes[0]
    a, b = route.points
    middle = (a.y + b.y) / 2
    controls = [(a.x, a.y), (a.x, middle), (b.x, middle), (b.x, b.y)]
    for step in range(11):
        t = step / 10
        points = controls
        while len(points) > 1:
            points = [
                (p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])) for p, q in pairwise(points)
            ]
        found = route.at(0, t)
        assert abs(found.x - points[0][0]) < 1e-9
        assert abs(found.y - points[0][1]) < 1e-9


def test_two_edges_between_the_same_nodes_are_apart():
    layout = lay_out([80, 80], [(0, 1), (1, 0)])
    there, back = layout.routes[0], layout.routes[1]
    assert back.against
    assert abs(there.points[0].x - back.points[-1].x) > 8
    # Parted the same way at both ends: they run side by side.
    assert (there.points[0].x - back.points[-1].x) * (there.points[-1].x - back.points[0].x) > 0


def test_a_star_of_forty_is_not_a_ribbon():
    layout = lay_out([110] * 40, [(0, i) for i in range(1, 40)])
    assert layout.width < 2200
    assert layout.height < 1400
