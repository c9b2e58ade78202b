"""The plots, as SVG within the page: shapes with classes, so that the style sheet colours them.

No script and no inline style, as the pages' policy demands. Every plot has a title and a
description for those who do not see it, and the page has its numbers in a table beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from markupsafe import Markup

from bot.feedback.measures import Bin

_SIZE, _LEFT, _BOTTOM, _TOP, _RIGHT = 320.0, 40.0, 40.0, 12.0, 12.0
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_ids = count(1)


def calibration(curve: Sequence[Bin], sure: float) -> Markup:
    """Predicted probability against the share that came true, with 90 % intervals.

    A dot's area grows with its bin's count; the diagonal is what perfect probabilities give; the
    dashed line is the threshold in force.
    """
    number = next(_ids)
    rows = [
        f'<svg class="plot" viewBox="0 0 {_SIZE:g} {_SIZE:g}" role="img" '
        f'aria-labelledby="plot-{number}-title plot-{number}-words">',
        f'<title id="plot-{number}-title">Calibration</title>',
        f'<desc id="plot-{number}-words">{_in_words(curve)}</desc>',
    ]
    for tick in _TICKS:
        x, y = _x(tick), _y(tick)
        rows += [
            f'<line class="grid" x1="{x:.1f}" y1="{_y(0):.1f}" x2="{x:.1f}" y2="{_y(1):.1f}"/>',
            f'<line class="grid" x1="{_x(0):.1f}" y1="{y:.1f}" x2="{_x(1):.1f}" y2="{y:.1f}"/>',
            _text(x, _y(0) + 16, f"{tick:g}", "middle"),
            _text(_x(0) - 6, y + 4, f"{tick:g}", "end"),
        ]
    middle = (_x(0) + _x(1)) / 2
    rows += [
        f'<line class="ideal" x1="{_x(0):.1f}" y1="{_y(0):.1f}" '
        f'x2="{_x(1):.1f}" y2="{_y(1):.1f}"/>',
        f'<line class="sure" x1="{_x(sure):.1f}" y1="{_y(0):.1f}" '
        f'x2="{_x(sure):.1f}" y2="{_y(1):.1f}"/>',
        _text(middle, _SIZE - 6, "predicted probability", "middle"),
        f'<text transform="translate(11 {middle - _BOTTOM + _TOP:.1f}) rotate(-90)" '
        'text-anchor="middle">share accepted</text>',
    ]
    most = max((one.count for one in curve), default=1)
    for one in curve:
        x = _x(one.predicted)
        radius = 3 + 5 * (one.count / most) ** 0.5
        rows += [
            f'<line class="interval" x1="{x:.1f}" y1="{_y(one.from_):.1f}" '
            f'x2="{x:.1f}" y2="{_y(one.to):.1f}"/>',
            f'<circle class="dot" cx="{x:.1f}" cy="{_y(one.observed):.1f}" r="{radius:.1f}"/>',
        ]
    rows.append("</svg>")
    return Markup("".join(rows))  # noqa: S704 (numbers and our own words only)


def share(value: float, low: float, high: float) -> Markup:
    """One share from 0 to 1 as a dot on its interval, as wide as its place in the page."""
    left, width = 100 * low, max(0.5, 100 * (high - low))
    return Markup(
        '<svg class="share" height="14" aria-hidden="true" focusable="false">'
        '<line class="grid" x1="0%" x2="100%" y1="7" y2="7"/>'
        '<line class="grid" x1="50%" x2="50%" y1="2" y2="12"/>'
        '<rect class="interval" x="{}%" width="{}%" y="5" height="4" rx="2"/>'
        '<circle class="dot" cx="{}%" cy="7" r="4"/></svg>'
    ).format(f"{left:.1f}", f"{width:.1f}", f"{100 * value:.1f}")


def _in_words(curve: Sequence[Bin]) -> str:
    if not curve:
        return "Nothing has ended yet."
    return " ".join(
        f"Predicted {one.predicted:.2f}: {one.observed:.2f} came true "
        f"(90 % interval {one.from_:.2f} to {one.to:.2f}, {one.count} comments)."
        for one in curve
    )


def _x(value: float) -> float:
    return _LEFT + value * (_SIZE - _LEFT - _RIGHT)


def _y(value: float) -> float:
    return _SIZE - _BOTTOM - value * (_SIZE - _BOTTOM - _TOP)


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'
