"""What all charts share: SVG drawn once by Vega-Lite, the colours of methods, and sizes.

Texts and axes take the colour of the page's text, so that one drawing serves light, dark and paper.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from querycloak.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

__all__ = ["PALETTE", "SMALL", "SMALL_HEIGHT", "colour", "draw", "ranges"]

_INK: Final = "#010203"
"""The colour of text while drawing, replaced by the page's own afterwards; no other part of a chart has it."""
PALETTE: Final = [
    "#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#d4a106", "#9d755d", "#6b8e23", "#c7528e",
    "#2f9aa0", "#8f7ad6",
]  # fmt: skip
SMALL: Final = 280
SMALL_HEIGHT: Final = 210
"""Size of a small picture, without axes."""
_ROOM: Final = 36
"""Room at both sides: texts are measured in one font, and a browser's may be wider."""


def colour(method: str, methods: Sequence[str]) -> str:
    """Return the colour of a method, the same in all pictures."""
    return PALETTE[list(methods).index(method) % len(PALETTE)]


def ranges(numbers: Sequence[int]) -> str:
    """Write ascending numbers with those in a row as from and to.

    >>> ranges([1, 3, 4, 5, 8, 9])
    '1, 3-5, 8, 9'
    """
    rows: list[list[int]] = []
    for n in numbers:
        if rows and rows[-1][-1] == n - 1:
            rows[-1].append(n)
        else:
            rows.append([n])
    return ", ".join(f"{r[0]}-{r[-1]}" if len(r) > 2 else ", ".join(map(str, r)) for r in rows)


def _seen(value: Any) -> Any:
    """Return a chart whose texts hide nothing: a control character in one ends the process inside the library."""
    if isinstance(value, dict):
        return {key: _seen(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_seen(part) for part in value]
    return visible(value) if isinstance(value, str) else value


def draw(spec: dict[str, Any], title: str, room: int = _ROOM) -> Markup:
    """Draw a Vega-Lite chart, with the colour of the page's text instead of `_INK`.

    This is markup: Vega escapes the texts of the data, and `title` is ours.
    """
    import vl_convert
    from markupsafe import Markup

    style = {
        "background": None,
        "padding": {"left": room, "right": room, "top": 5, "bottom": 5},
        "view": {"stroke": None},
        "range": {"category": PALETTE},
        "axis": {"labelColor": _INK, "titleColor": _INK, "domainColor": _INK, "tickColor": _INK, "gridColor": "#8883",
                 "labelLimit": 260, "titleFontWeight": "normal"},
        "legend": {"labelColor": _INK, "titleColor": _INK, "symbolStrokeColor": _INK, "symbolFillColor": _INK,
                   "labelLimit": 260, "titleFontWeight": "normal"},
        "header": {"labelColor": _INK, "titleColor": _INK},
        "text": {"color": _INK},
        "rule": {"color": _INK},
    }  # fmt: skip
    drawn = vl_convert.vegalite_to_svg({**_seen(spec), "config": style})
    drawn = drawn.replace(_INK, "currentColor")
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', drawn)
    assert size is not None
    head = f'<svg role="img" aria-label="{title}" style="max-width:{float(size[1]):.0f}px" '
    return Markup(drawn.replace("<svg ", head, 1).replace(size[0], 'width="100%"', 1))  # noqa: S704 - see above
