"""Does a text of CSV end outside quotes? What does may be read, or sent, on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.logs.layout import Layout

__all__ = ["ends_outside_quotes", "whole_texts"]


def ends_outside_quotes(text: bytes, separator: bytes) -> bool:
    r"""Tell whether every quote is closed, and opens or closes a field; False where one would have to look closer.

    >>> ends_outside_quotes(b'u,"two\nlines",x\n', b","), ends_outside_quotes(b'u,"open\n', b",")
    (True, False)
    >>> ends_outside_quotes(b'u,5" disk,"open\n', b",")
    False
    """
    parts = text.split(b'"')
    if len(parts) == 1:
        return True
    if len(parts) % 2 == 0:
        return False
    begins = (separator, b"\n", b"\r")
    outside = parts[::2]  # before, between and after the quoted parts
    first, last = outside[0], outside[-1]
    between = outside[1:-1]
    return (
        (not first or first.endswith(begins))
        and (not last or last.startswith(begins))
        and all(not part or (part.startswith(begins) and part.endswith(begins)) for part in between)
    )


def whole_texts(layout: Layout) -> Callable[[bytes], bool]:
    """Return what tells, for lines of this layout, whether a text ends with a whole record."""
    if not layout.is_csv:
        return lambda _: True
    separator = layout.form.separator.encode()
    return lambda text: ends_outside_quotes(text, separator)
