"""Line charts as SVG, for model cards and training runs: no library, no fonts to install."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 40, 48
_COLOURS = ("#1f6feb", "#d1570a", "#2da44e", "#8250df", "#bf3989", "#57606a")


@dataclass(frozen=True, slots=True)
class Series:
    """A named line through points (x, y)."""

    name: str
    points: Sequence[tuple[float, float]]


def line_chart(
    title: str, x_name: str, y_name: str, series: Sequence[Series], *, y_top: float | None = None
) -> str:
    """A chart of lines over one pair of linear axes; both begin at 0 or below.

    Args:
        title: above the chart.
        x_name: under the x axis; ``y_name`` beside the other.
        series: points that are not finite are left out.
        y_top: where the y axis ends; the largest value where it is not given.
    """
    lines = [
        Series(one.name, [(x, y) for x, y in one.points if math.isfinite(x) and math.isfinite(y)])
        for one in series
    ]
    xs = [x for one in lines for x, _ in one.points] or [1.0]
    ys = [y for one in lines for _, y in one.points] or [1.0]
    x_ticks = _ticks(min(0.0, *xs), max(xs))
    y_ticks = _ticks(min(0.0, *ys), y_top if y_top is not None else max(ys))
    (x_low, x_high), (y_low, y_high) = (x_ticks[0], x_ticks[-1]), (y_ticks[0], y_ticks[-1])

    def place(x: float, y: float) -> tuple[float, float]:
        across = (x - x_low) / (x_high - x_low) * (_WIDTH - _LEFT - _RIGHT)
        up = (min(y, y_high) - y_low) / (y_high - y_low) * (_HEIGHT - _TOP - _BOTTOM)
        return _LEFT + across, _HEIGHT - _BOTTOM - up

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="12" fill="#24292f">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        _text(_WIDTH / 2, 20, title, "middle", 'font-size="14" font-weight="bold"'),
        _text(_WIDTH / 2, _HEIGHT - 8, x_name, "middle"),
        _text(0, 0, y_name, "middle", f'transform="translate(14 {_HEIGHT / 2}) rotate(-90)"'),
    ]
    for tick in x_ticks:
        x, y = place(tick, y_low)
        parts += [_rule(x, _TOP, x, y), _text(x, y + 16, f"{tick:g}", "middle")]
    for tick in y_ticks:
        x, y = place(x_low, tick)
        parts += [_rule(x, y, _WIDTH - _RIGHT, y), _text(x - 6, y + 4, f"{tick:g}", "end")]
    for number, one in enumerate(lines):
        colour = _COLOURS[number % len(_COLOURS)]
        points = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in one.points)
        parts += [
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>',
            _text(
                _WIDTH - _RIGHT - 4, _TOP + 14 * (number + 1), one.name, "end", f'fill="{colour}"'
            ),
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _ticks(low: float, high: float) -> list[float]:
    """About five round numbers from at most ``low`` to at least ``high``."""
    span = high - low or 1.0
    step = 10 ** math.floor(math.log10(span / 5))
    step *= min((1, 2, 5, 10), key=lambda factor: abs(factor * step - span / 5))
    first, last = math.floor(low / step), math.ceil((low + span) / step - 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _rule(x: float, y: float, x_end: float, y_end: float) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{x_end:.1f}" y2="{y_end:.1f}" stroke="#d8dee4"/>'


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(text)}</text>'
    ).replace(" >", ">")
