"""The options of every command that maps queries, written once: `@maps_queries` adds them to a command.

A command asks for them by a keyword-only parameter `mapping: str | None`: the name of a mapping as `mapping.modes`
reads it, or None: that of the release, or the default.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from querycloak.cli import completion
from querycloak.cli.log_options import with_options
from querycloak.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["maps_queries"]

YES_OR_NO: Final = {"yes": True, "no": False}

OPTIONS: Final[dict[str, tuple[Any, Any]]] = {
    "mapping": (
        Annotated[
            str | None,
            typer.Option(
                "--mapping",
                help="How queries are read to find their concepts: in `layers` (sites and brands, labels in their "
                "sense, words that are used alike, spelling); `certain` layers alone; by the longest labels, "
                "`segments`; or by `phrases`, as in the papers. Default: as the statement of the release says where "
                "there is one, else `layers`.",
                autocompletion=completion.mappings,
                show_default=False,
            ),
        ],
        None,
    ),
    "guesses": (
        Annotated[
            str,
            typer.Option(
                "--guesses",
                help="`no` leaves out what the layers only guess: the mapping `certain`.",
                autocompletion=completion.choices(YES_OR_NO),
            ),
        ],
        "yes",
    ),
    "vectors": (
        Annotated[
            Path | None,
            typer.Option(
                "--vectors",
                help="Word vectors for the layers, in the place of the embedded ones: a file that "
                "tools/build_vectors.py made.",
                show_default=False,
            ),
        ],
        None,
    ),
}
"""name → its option, and the default"""


def maps_queries(command: Callable[..., Any]) -> Callable[..., Any]:
    """Replace the parameter `mapping` of a command by the options on the command line that make it."""
    return with_options(command, "mapping", OPTIONS, chosen_mapping)


def chosen_mapping(mapping: str | None, guesses: str, vectors: Path | None) -> str | None:
    """Return the name of the mapping that was asked for; what cannot be is refused before any work is done.

    >>> chosen_mapping(None, "no", None), chosen_mapping("phrases", "yes", None), chosen_mapping(None, "yes", None)
    ('certain', 'phrases', None)
    """
    from querycloak.mapping.modes import LAYERED, split_mapping

    if guesses not in YES_OR_NO:
        raise ParameterError.of("--guesses", "yes or no", guesses)
    if mapping is not None:
        split_mapping(mapping)
    if guesses == "no":
        if mapping not in {None, *LAYERED}:
            raise ParameterError(f"The mapping {mapping!r} guesses nothing: leave --guesses out.")
        mapping = "certain"
    if vectors is None:
        return mapping
    chosen = f"{mapping or 'layers'}:{vectors}"
    split_mapping(chosen)
    from querycloak.knowledge.vectors import load_vectors

    load_vectors(vectors)  # says what is wrong with the file
    return chosen
