"""What part of a log at least m people share, counted with arrays: for logs of some hundred thousand queries.

`reference/phrases.py` has the same counts the plain way.
"""

import numpy as np

from querycloak.mapping.stopwords import STOP_WORDS

LONGEST = 6


def shared_figures(log, least):
    """Return the share of events whose whole query, and that hold a phrase, which `least` people asked; words kept.

    Events are the query events of the log. See the reference for what exactly is counted.
    """
    whole, longest, length = shared_words(log, least)
    event = log.query[log.event]
    return (
        float(whole[event].mean()),
        float((longest[event] > 0).mean()),
        float(longest[event].sum() / length[event].sum()),
    )


def shared_words(log, least):
    """Return for each query: whether it is shared whole, the words of its longest shared phrase, and all its words."""
    texts = log.queries.str.to_lowercase().str.split(" ")
    length = texts.list.len().to_numpy().astype(np.int64)  # int64[queries]
    begin = np.concatenate([[0], np.cumsum(length)[:-1]])
    flat = texts.list.explode()
    word = flat.rank("dense").to_numpy().astype(np.int64) - 1  # int64[words of all queries]
    stop = flat.is_in(list(STOP_WORDS)).to_numpy()
    query = np.repeat(np.arange(len(length)), length)  # int64[words], the query that each is in
    left = length[query] - (np.arange(len(word)) - begin[query])  # words from here to the end of the query
    asked = np.unique(np.stack([log.query, log.user], axis=1), axis=0)  # (query, user), each once
    askers = np.bincount(asked[:, 0], minlength=len(length))
    first_of = np.searchsorted(asked[:, 0], np.arange(len(length)))
    longest = np.zeros(len(length), dtype=np.int64)
    gram, content = np.zeros(len(word), dtype=np.int64), np.zeros(len(word), dtype=np.bool_)
    for n in range(1, LONGEST + 1):
        at = np.flatnonzero(left >= n)
        pair = gram[at] * (word.max() + 1) + word[at + n - 1]
        gram = np.full(len(word), -1, dtype=np.int64)
        gram[at] = np.unique(pair, return_inverse=True)[1]
        content[at] |= ~stop[at + n - 1]
        # every occurrence once per person who asked its query; a person counts once per gram
        repeats = askers[query[at]]
        nth = np.arange(repeats.sum()) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        user = asked[np.repeat(first_of[query[at]], repeats) + nth, 1]
        both = np.unique(np.repeat(gram[at], repeats) * len(log.users) + user)
        people = np.bincount(both // len(log.users), minlength=gram.max() + 1)
        good = at[(people[gram[at]] >= least) & content[at]]
        longest[query[good]] = n
    form = log.queries.str.to_lowercase().rank("dense").to_numpy().astype(np.int64) - 1
    pairs = np.unique(form[log.query] * len(log.users) + log.user)
    whole = (np.bincount(pairs // len(log.users)) >= least)[form]
    return whole, np.where(whole, length, longest), length
