"""Checks of arrays that come from a file, before any kernel sees them: kernels do not check the indices they use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

__all__ = ["Arrays", "BadStateError", "Count", "part", "prefixed", "read_plain", "require", "take"]

T = TypeVar("T")
Arrays = dict[str, "npt.NDArray[Any]"]
Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 62)]
"""A number of things, in a Struct that is read from a file."""


class BadStateError(ValueError):
    """A saved state that contradicts itself: damaged, or made by hand. The message holds nothing of its content."""


def require(holds: object, what: str) -> None:
    """Refuse the state unless `what` holds."""
    if not holds:
        raise BadStateError(f"it does not hold that {what}")


def take(
    arrays: Mapping[str, npt.NDArray[Any]],
    name: str,
    dtype: type[np.generic],
    *,
    length: int | None = None,
    low: int | None = None,
    high: int | None = None,
) -> npt.NDArray[Any]:
    """Return the array of a name: of that type, one-dimensional, of that length, with values in low..high.

    >>> take({"node": np.array([0, 3], dtype=np.int32)}, "node", np.int32, low=0, high=2)
    Traceback (most recent call last):
    ...
    querycloak.arrays.checks.BadStateError: it does not hold that values of 'node' are in their range
    """
    found = arrays.get(name)
    if found is None:
        raise BadStateError(f"it does not hold that there is an array {name!r}")
    require(found.dtype == np.dtype(dtype) and found.ndim == 1, f"{name!r} is a row of {np.dtype(dtype)}")
    require(length is None or len(found) == length, f"{name!r} has the length that others imply")
    if len(found):
        fits = (low is None or int(found.min()) >= low) and (high is None or int(found.max()) <= high)
        require(fits, f"values of {name!r} are in their range")
    return found


def read_plain(plain: object, kind: type[T]) -> T:
    """Return values of JSON as a Struct, each of the type and in the range that the Struct says."""
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError:
        raise BadStateError(f"its {kind.__name__} is not one") from None


def prefixed(prefix: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Return the arrays with names that begin with the prefix and a dot."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def part(prefix: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Return the arrays whose names begin with the prefix, without it: the inverse of `prefixed`."""
    begin = f"{prefix}."
    return {name.removeprefix(begin): array for name, array in arrays.items() if name.startswith(begin)}
