"""The shard of a record, the plain way: its whole path is split, and the label's hashes are compared."""

from __future__ import annotations

from hashlib import blake2b


def reference_owner(path: str, separator: str, count: int) -> int:
    """Return which of so many shards takes a category path; an empty level: shard 0."""
    levels = path.strip().strip(separator).split(separator)
    if " " in path or "\t" in path:
        levels = [level.strip() for level in levels]
    label = ""
    if path:
        if "" in levels:
            # The first level alone decides, where it is a plain one: the shard of that label counts the bad line.
            return -1
        levels = levels[1:] if levels[0].lower() == "top" else levels
        label = levels[0] if levels else ""
    weights = [
        blake2b(
            shard.to_bytes(4, "little") + label.encode(),
            digest_size=8,
            person=b"querycloak shard",
            salt=(501).to_bytes(2, "little"),
        ).digest()
        for shard in range(count)
    ]
    return weights.index(max(weights))
