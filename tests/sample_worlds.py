"""Taxonomies and quick ways to generate, for the tests of generated logs."""

import hashlib

from querycloak.generator.generated_log import GeneratedLog, generate
from querycloak.generator.settings import Generate
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.randomness import Randomness

FOOD = Taxonomy.from_parents(
    [-1, 0, 0, 0, 1, 1, 1, 2, 2, 3],
    [["food"], ["fruit"], ["meat"], ["dairy"], ["apple"], ["Orange"], ["banana"], ["beef"], ["hot_dog"], ["milk"]],
    name="food",
)


def make(taxonomy, seed=1, **settings) -> GeneratedLog:
    return generate(Generate(**settings), taxonomy, Randomness(seed=seed))


def digest(made: GeneratedLog) -> str:
    """Return a digest of everything in a generated log."""
    log, truth = made.log, made.concepts
    hashed = hashlib.sha256()
    arrays = [log.user, log.query, log.time, log.rank, log.url, log.category, truth.row, truth.concept, made.kind]
    for array in [*arrays, made.groups, made.interests]:
        hashed.update(b"-" if array is None else array.tobytes())
    for words in (log.users, log.queries, log.urls, log.categories):
        hashed.update(b"-" if words is None else "\n".join(words.to_list()).encode())
    return hashed.hexdigest()
