"""Who asked a published text, by looking at every query for every text."""

from __future__ import annotations

import unicodedata

from reference.phrases import holds_run

ASKED, HELD, MEANT, NOBODY, UNKNOWN = range(5)


def plain(text):
    return " ".join(text.lower().split())


def folded(text):
    """The words of a text without accents, invisible characters and punctuation."""
    letters = ""
    for char in unicodedata.normalize("NFKD", text).lower():
        kind = unicodedata.category(char)
        if kind[0] == "M" or kind == "Cf" or char in "'\u2019`\u00b4":
            continue
        letters += char if kind[0] in "LN" else " "
    return letters.split()


def respelled(log, asked, text):
    """Queries with the same words in any order, else those with a word that one person alone asked; and how."""
    words = folded(text)
    same = {q for q in asked if words and sorted(folded(log.queries[q])) == sorted(words)}
    if same:
        return same, ASKED
    people = {word: set() for word in words}
    for u, q in zip(log.user.tolist(), log.query.tolist(), strict=True):
        for word in {*folded(log.queries[q])} & {*words}:
            people[word].add(u)
    own = sorted(word for word in words if len(people[word]) == 1)
    if own:
        return {q for q in asked if own[0] in folded(log.queries[q])}, HELD
    return set(), UNKNOWN if text and (not words or not all(people.values())) else NOBODY


def below(taxonomy, concept, top):
    while concept >= 0 and concept != top:
        concept = int(taxonomy.parent[concept])
    return concept == top


def meaning(concepts, taxonomy, tops):
    """Queries with a concept at or below one of `tops`."""
    pairs = zip(concepts.query.tolist(), concepts.concept.tolist(), strict=True)
    return {q for q, c in pairs if c >= 0 and any(below(taxonomy, c, top) for top in tops)}


def named(taxonomy, text):
    return [c for c, labels in enumerate(taxonomy.labels) if text in [plain(label) for label in labels]]


def splits(taxonomy, words):
    """All ways to take words apart into labels."""
    if not words:
        return [[]]
    out = []
    for n in range(len(words), 0, -1):
        label = " ".join(words[:n])
        if named(taxonomy, label):
            out += [[label, *rest] for rest in splits(taxonomy, words[n:])]
    return out


def askers(log, release, concepts, taxonomy):
    """For each text: (set of queries, set of users, how, public)."""
    parameters = release.statement.parameters
    pure = "epsilon" in parameters and not parameters.get("delta")
    asked = set(log.query.tolist())
    out = []
    for t, text in enumerate(map(plain, release.log.queries.to_list())):
        senses = named(taxonomy, text)
        label_lists = splits(taxonomy, text.split()) if pure and text else []
        public = bool(label_lists)
        tops = [None]
        if release.holds_concepts:
            rows = zip(release.log.query.tolist(), release.log.category.tolist(), strict=True)
            paths = {release.log.categories[c] for q, c in rows if q == t}
            tops = [next((c for c in range(len(taxonomy)) if taxonomy.path(c) == path), None) for path in paths] or tops
        inside = named(taxonomy, text[1:-1]) if text.startswith("[") and text.endswith("]") else []
        if release.statement.parts and inside:
            queries, how = meaning(concepts, taxonomy, inside), MEANT
            queries |= {q for q in asked if plain(log.queries[q]) == text}
        elif all(top in senses for top in tops):
            queries, how = meaning(concepts, taxonomy, tops), MEANT
        elif public and not release.holds_concepts:
            labels = min(label_lists, key=len)
            queries = set.intersection(*(meaning(concepts, taxonomy, named(taxonomy, label)) for label in labels))
            how = MEANT
        else:
            queries, how = {q for q in asked if plain(log.queries[q]) == text}, ASKED
            if queries and release.statement.parts:
                queries |= {q for q in asked if holds_run(plain(log.queries[q]), text)}
            if not queries:
                queries, how = {q for q in asked if holds_run(plain(log.queries[q]), text)}, HELD
            if not queries:
                queries, how = meaning(concepts, taxonomy, senses), MEANT
            if not queries and not senses:
                queries, how = respelled(log, asked, text)
        users = {u for u, q in zip(log.user.tolist(), log.query.tolist(), strict=True) if q in queries}
        out.append((queries, users, how if queries or how == UNKNOWN else NOBODY, public))
    return out
