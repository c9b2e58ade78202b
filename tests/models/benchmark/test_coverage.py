from xml.etree import ElementTree

import pytest

from models.benchmark.coverage import Point, Spoken, at_coverage, curve, plot, separation, table
from models.benchmark.plot import Series, line_chart

ROWS = [
    Spoken(0.9, 0.1, True, True),
    Spoken(0.8, 0.6, False, False),
    Spoken(0.7, 0.2, True, True),
    Spoken(0.7, 0.3, False, True),
    Spoken(0.0, 1.0, False, False),
    Spoken(0.2, 0.2, False, True),
]


def test_precision_counts_an_unrevised_window_for_as_many_as_there_are_by_nature():
    # 4 revised and 2 unrevised: at 9 to 1 each unrevised one counts 18, 40 in all
    points = curve(ROWS, 9.0)
    assert points == [
        Point(1 / 40, 1.0, 0.9),
        Point(19 / 40, 1 / 19, 0.8),
        Point(21 / 40, 2 / 21, 0.7),
        Point(22 / 40, 2 / 22, 0.2),
        Point(1.0, 2 / 40, 0.0),
    ]
    assert at_coverage(points, 0.5) == points[1]
    assert at_coverage(points, 0.001) == points[0]


def test_where_all_are_revised_each_counts_once():
    revised = [row for row in ROWS if row.revised]
    assert [point.precision for point in curve(revised)] == [1.0, pytest.approx(2 / 3), 0.5]
    assert separation(revised) is None


def test_the_probability_of_nothing_tells_unrevised_windows_from_revised_ones():
    assert separation(ROWS) == 1.0
    swapped = [Spoken(r.probability, r.nothing, r.right, not r.revised) for r in ROWS]
    assert separation(swapped) == 0.0


def test_table_and_plot_show_every_set():
    sets = {"edits": ROWS, "blocks": [row for row in ROWS if row.revised]}
    made = table(sets)
    assert (
        "| edits | 4 + 2 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 100.0 | 5.3 | 5.0 | 1.000 |"
        in made
    )
    assert "| blocks | 4 + 0 |" in made
    assert "| n/a |" in made
    root = ElementTree.fromstring(plot(sets))
    drawn = [node.attrib["points"].split() for node in root if node.tag.endswith("polyline")]
    assert [len(points) for points in drawn] == [5, 3]


def test_a_chart_keeps_its_points_inside_its_axes_and_leaves_out_what_is_no_number():
    points = [(0.0, 3.0), (5.0, float("nan")), (10.0, 0.5)]
    root = ElementTree.fromstring(line_chart("a < b", "x", "y", [Series("one", points)]))
    (line,) = [node for node in root if node.tag.endswith("polyline")]
    places = [tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()]
    assert places == [(64.0, 40.0), (624.0, pytest.approx(312 - 272 / 6, abs=0.1))]
    assert "a < b" in [node.text for node in root]
    assert ElementTree.fromstring(line_chart("", "", "", [Series("none", [])])) is not None
