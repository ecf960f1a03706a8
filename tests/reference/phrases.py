"""What part of a log at least m people share: whole queries, phrases and words, counted the plain way."""

import unicodedata

from querycloak.mapping.stopwords import STOP_WORDS

LONGEST = 6


def phrases_of(words):
    """Return every run of at most six consecutive words with at least one word that is no stop word."""
    runs = {tuple(words[a : a + n]) for n in range(1, LONGEST + 1) for a in range(len(words) - n + 1)}
    return {run for run in runs if not STOP_WORDS.issuperset(run)}


def shared_figures(events, least):
    """Return three shares for events (user, text): of events, of events, of words.

    The first share is of events whose whole query at least `least` people asked; the second of events that hold a
    phrase so many people asked, or are such a whole query; the third of words that are in the longest such phrase of
    their event (the whole query where that is shared), over the words of all events.
    """
    askers, people = {}, {}
    for user, text in events:
        words = tuple(text.lower().split())
        askers.setdefault(words, set()).add(user)
        for phrase in phrases_of(words):
            people.setdefault(phrase, set()).add(user)
    whole = some = kept = total = 0
    for _, text in events:
        words = tuple(text.lower().split())
        total += len(words)
        if len(askers[words]) >= least:
            whole += 1
            longest = len(words)
        else:
            longest = max((len(p) for p in phrases_of(words) if len(people[p]) >= least), default=0)
        some += longest > 0
        kept += longest
    return whole / len(events), some / len(events), kept / total


ALONE = ("CJK UNIFIED", "CJK COMPAT", "HIRAGANA LETTER", "THAI", "LAO", "KHMER", "MYANMAR")


def words_of(text):
    """Return the words of a text in lower case, each with whether a space is before it."""
    out = []
    for piece in text.lower().split():
        before = None  # what the last character was: "kana" and "other" go on, "alone" does not
        for char in piece:
            name, mark = unicodedata.name(char, ""), unicodedata.category(char)
            follows = mark[0] == "M" or mark == "Cf"
            if follows:
                kind = before or "other"
            elif name.startswith(ALONE):
                kind = "alone"
            elif name.startswith(("KATAKANA", "HALFWIDTH KATAKANA")):
                kind = "kana"
            else:
                kind = "other"
            goes_on = before is not None and (follows or (kind == before and kind != "alone"))
            if goes_on:
                out[-1] = (out[-1][0] + char, out[-1][1])
            else:
                out.append((char, before is None))
            before = kind
    return out


def holds_run(query, text):
    """Tell whether the words of a text are in a query one after the other; before the first one anything may be."""
    query, text = words_of(query), words_of(text)
    for a in range(len(query) - len(text) + 1):
        run = query[a : a + len(text)]
        if text and run[0][0] == text[0][0] and run[1:] == text[1:]:
            return True
    return False


LEAST_DEPTH = 5
QUERY, PHRASE, LABEL, NOTHING = range(4)


def compared(text):
    return " ".join(text.lower().split())


def run_text(run):
    """Return a run of words as it is in the text."""
    return "".join((" " if spaced and i else "") + word for i, (word, spaced) in enumerate(run))


def says_something(run):
    return any(word not in STOP_WORDS and any(c.isalnum() for c in word) for word, _ in run)


def shared_texts(rows, m, rare, *, forbidden, meaning=None, taxonomy=None, most_rows=None):
    """Return {query: (text, kind, people)} for rows (user, query): the rule, told query by query.

    `forbidden(text, people)`: an identifier, or a name that too few asked. `meaning`: query → its concepts, from left.
    """
    often = {}
    for user, _ in rows:
        often[user] = often.get(user, 0) + 1
    counted = [(u, q) for u, q in rows if most_rows is None or often[u] <= most_rows]
    queries = {q for _, q in rows}
    out = {}
    for query in queries:
        asked = {u for u, q in counted if compared(q) == compared(query)}
        exactly = {u for u, q in counted if q == query}
        if (len(asked) >= m or rare == "keep") and not forbidden(query, len(asked)):
            spelled = rare == "keep" or len(exactly) >= m
            out[query] = (query if spelled else compared(query), QUERY, len(asked))
            continue
        found = _run(query, counted, m, forbidden) if rare == "phrase" else None
        if found is None and rare in {"phrase", "label"}:
            found = _label(query, counted, m, meaning or {}, taxonomy)
        out[query] = found or (None, NOTHING, 0)
    return out


def _run(query, counted, m, forbidden):
    words = words_of(query)
    for n in range(LONGEST, 0, -1):
        best = None
        for a in range(len(words) - n + 1):
            run = words[a : a + n]
            text = run_text(run)
            people = len({u for u, q in counted if holds_run(q, text)})
            if people < m or not says_something(run) or forbidden(text, people):
                continue
            if best is None or people > best[1]:
                best = text, people
        if best is not None:
            return best[0], PHRASE, best[1]
    return None


def _label(query, counted, m, meaning, taxonomy):
    def reaches(q, concept):
        return any(concept in taxonomy.ancestors(c) for c in meaning.get(q, ()))

    best = None
    for own in meaning.get(query, ()):
        for concept in taxonomy.ancestors(own):
            depth = int(taxonomy.depth[concept])
            people = len({u for u, q in counted if reaches(q, concept)})
            if people < m or (concept != own and depth < LEAST_DEPTH):
                continue
            if best is None or (depth, people) > best[0]:
                best = (depth, people), concept
    return None if best is None else (f"[{taxonomy.label(best[1])}]", LABEL, best[0][1])
