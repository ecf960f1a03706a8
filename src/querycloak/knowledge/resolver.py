"""A resolver from a table: which addresses a search engine would return for a query.

The table has two columns separated by a tab, query and address; a query with several results takes several lines, the
most significant first. A first line that names the columns is optional. Promoted results do not belong in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from querycloak.errors import InputError
from querycloak.logs.compression import open_binary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import TypeAlias

    Resolver: TypeAlias = Callable[[str], list[str] | None]

__all__ = ["TableResolver", "read_resolver"]

_QUERY: Final = {"query", "text"}
_ADDRESS: Final = {"url", "address", "site", "host"}


class TableResolver:
    """Returns the addresses that a table has for a query.

    >>> TableResolver({"tea": ["tea.example", "shop.example"]})("tea")
    ['tea.example', 'shop.example']
    """

    def __init__(self, results: Mapping[str, list[str]]) -> None:
        self._results = results

    def __call__(self, query: str) -> list[str] | None:
        """Look a query up; None where the table does not have it."""
        return self._results.get(query)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return f"TableResolver({len(self):,} queries)"


def read_resolver(path: str | Path) -> TableResolver:
    """Read a table of query and address, plain, gzip or zstd."""
    with open_binary(path) as file:
        data = file.read()
    if b"\0" in data:
        raise InputError.at(path, "expected a table of query and URL, found binary data")
    results: dict[str, list[str]] = {}
    for number, line in enumerate(data.decode("utf-8-sig", "replace").splitlines(), 1):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) != 2 or not all(fields):
            raise InputError.at(path, f"expected 2 tab-separated fields, query and URL, found {len(fields)}", number)
        query, address = fields
        if not results and query.lower() in _QUERY and address.lower() in _ADDRESS:
            continue
        results.setdefault(query, []).append(address)
    if not results:
        raise InputError.at(path, "expected a table of query and URL, found no line")
    return TableResolver(results)
