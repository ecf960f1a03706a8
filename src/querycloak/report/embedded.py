"""Results inside a page, for programs: a block of JSON that no browser runs and no value can end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["embedded_json"]

_ENDS: Final = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&"})
"""Characters by which a text could end the block or open a comment; in JSON they are inside strings alone."""


def embedded_json(found: Any) -> Markup:
    r"""Return results as JSON in ASCII for `<script type="application/json">`; it reads back as the same values.

    >>> str(embedded_json({"name": "</script>"}))
    '{"name":"\\u003c/script\\u003e"}'
    """
    from markupsafe import Markup

    plain = json.loads(msgspec.json.encode(found, enc_hook=lambda value: value.item()))  # NumPy's numbers
    text = json.dumps(plain, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.translate(_ENDS))  # noqa: S704 - no character of markup is left
