"""The last step of microaggregation: plain loops over lists, with the same draws."""

from __future__ import annotations

QUERY, PHRASE, LABEL, NOTHING = range(4)


def one_of(choices, number):
    """The choice that a number in [0, 1) draws; None where there is none."""
    return choices[int(number * len(choices))] if choices else None


LEAST_DEPTH = 5
NEAR = 3


def entries(events, concepts_of, shared, words, sizes, label_of, taxonomy, random):
    """Return (group, text, kind, row) of each entry, group after group.

    events: (row, query, group); concepts_of: concepts of each event, may repeat; shared: (code in words or -1, kind) of
    each query; label_of: text of the label of each concept, None where there is none.
    """
    n = len(events)
    code = [shared[q][0] for _, q, _ in events]
    kind = [shared[q][1] for _, q, _ in events]

    def fits(e, c):
        if kind[e] != PHRASE:
            return kind[e] == QUERY
        same = [f for f in range(n) if code[f] == code[e] and kind[f] == PHRASE]
        senses = taxonomy.find(words[code[e]])
        astray = senses and at_depth(taxonomy, senses[0], LEAST_DEPTH - 1) != at_depth(taxonomy, c, LEAST_DEPTH - 1)
        return not astray and 2 * sum(c in concepts_of[f] for f in same) >= len(same)

    texts = [(e, c) for e in range(n) for c in concepts_of[e] if fits(e, c)]

    def texts_near(c):
        return [e for e, other in texts if near(taxonomy, other) == near(taxonomy, c)]

    numbers = random.child("concepts").uniform(n).tolist()
    about = []
    for e in range(n):
        possible = [c for c in concepts_of[e] if texts_near(c) or label_of[c] is not None]
        about.append(one_of(possible, numbers[e]))
    may = [kind[e] != NOTHING if not concepts_of[e] else about[e] is not None for e in range(n)]
    chosen = take([g for _, _, g in events], about_keys(events, about, shared), code, may, sizes, random)

    replaced = [about[e] is not None and kind[e] != QUERY for e in chosen]
    draws = sum(new and bool(texts_near(about[e])) for new, e in zip(replaced, chosen, strict=True))
    numbers = iter(random.child("texts").uniform(draws).tolist())
    out = []
    for new, e in zip(replaced, chosen, strict=True):
        group = events[e][2]
        if new and not texts_near(about[e]):
            out.append((group, label_of[about[e]], LABEL, events[e][0]))
        else:
            f = one_of(texts_near(about[e]), next(numbers)) if new else e
            out.append((group, words[code[f]], kind[f], events[f][0]))
    return out


def at_depth(taxonomy, concept, depth):
    """The ancestor at this depth, or the concept itself where it is above that."""
    return next(c for c in taxonomy.ancestors(concept) if taxonomy.depth[c] <= depth)


def near(taxonomy, concept):
    """The ancestor that stands for what is near: three levels up, none above depth 5."""
    depth = int(taxonomy.depth[concept])
    return at_depth(taxonomy, concept, max(depth - NEAR, min(depth, LEAST_DEPTH)))


def about_keys(events, about, shared):
    """Numbers by which events are put in order: concepts, then what is about nothing, by its text, then by itself."""
    keys = []
    for (_, query, _), concept in zip(events, about, strict=True):
        text = shared[query][0]
        keys.append((0, concept) if concept is not None else (1, text) if text >= 0 else (2, query))
    return keys


def take(group, about, text, may, sizes, random):
    """Events at equal distances, in order of what they are about, from a random one on."""
    index = [e for e in range(len(group)) if may[e]]
    ties = dict(zip(index, random.child("order").words(len(index)).tolist(), strict=True))
    numbers = random.child("first").uniform(len(sizes)).tolist()
    out = []
    for g, size in enumerate(sizes):
        mine = sorted((e for e in index if group[e] == g), key=lambda e: (about[e], text[e], ties[e]))
        mean = sum(h == g for h in group) / size
        wanted = min(int(mean + 0.5), len(mine))
        first = int(numbers[g] * len(mine))
        out += [mine[(i * len(mine) + first) // wanted] for i in range(wanted)]
    return out
