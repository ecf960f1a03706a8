"""How many people of a stream have asked each text, run of words and label so far, and what a record may say by that.

An *item* is what people are counted of: a run of words, a whole text, a spelling of a text, a label. Items are numbered
as they come. Runs are the nodes of a tree: the run "green tea pot" is the child "pot" of the run "green tea", so its
key is exact, and nothing is ever taken for something else whose hash is the same.

.. code-block:: text

    keys   uint64   run      (item of the run without its last word + 1) << 32 | (code of that word + 1)
                    whole    (item of the run of all its words + 1) << 32       no word: here a text ends
                    spelled  1 << 63 | code of the spelling
                    label    1 << 62 | code of the path
    slots  uint64[2^a, 2]   KEY  CODE      open addressing; key 0 = free; at most half are taken
    items  int32[*, 4]      PEOPLE         distinct people so far; stops at `enough`
                            FIRST          the first of them, -1 = nobody yet
                            TALLY          0 between calls
                            FLAG           what the text holds: UNKNOWN until somebody wants to publish it
    pairs  uint64[2^b]      open addressing: the set of (item + 1) << 32 | person, without the first of each item, which
                            most items have alone; 0 = free; at most half are taken
    counts int64[5]         ITEMS, PHRASES (items that are no labels), PAIRS; SLOT_SHIFT = 64 - a, PAIR_SHIFT = 64 - b

A key is looked for from the slot of the highest bits of its hash on. So a larger table has its keys in the same order,
and moving them there reads and writes memory from end to end, not here and there.

What holds between calls: of an item with fewer people than `enough`, all are there, once each. Of others some pairs may
be left; they are not looked up any more, and `keep_pairs` leaves them out. The caller owns all arrays and makes room: a
kernel stops before the first text or record for which there may be none, and returns how far it came.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import inlined_kernel, kernel, wraps_around

INTERPRET_SMALL = True  # the work grows with the rows alone (arrays/jit.py)

Int8s = npt.NDArray[np.int8]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

KEY, CODE = range(2)
PEOPLE, FIRST, TALLY, FLAG = range(4)
ITEM_COLUMNS = 4
ITEMS, PHRASES, PAIRS, SLOT_SHIFT, PAIR_SHIFT = range(5)
COUNTS = 5
SPELLED, LABELLED = np.uint64(1 << 63), np.uint64(1 << 62)
LONGEST = 6  # words of the longest run, as in texts/phrases.py
# flags: not looked at yet; to be looked at; harmless; the name of a person; with an identifier
UNKNOWN, PENDING, FINE, NAMED, NEVER = range(5)
# kinds, as in texts/phrases.py
QUERY, PHRASE, LABEL, NOTHING = range(4)
# what happens to what few have asked
DROP, LABELS, RUNS, KEEP = range(4)
# where of a whole query: as it came, or in the form in which texts are compared
AS_IT_CAME, COMPARED = -1, -2


class Store(NamedTuple):
    """The memory: see the drawing above."""

    slots: Words
    items: Int32s
    pairs: Words
    counts: Int64s


class Texts(NamedTuple):
    """The distinct queries of a batch."""

    first: Int64s
    """int64[queries + 1]: where the words of each begin, and end"""
    word: Int32s
    """int32[words]: code of each word; -1 = a new one, for which there is no room"""
    content: Int32s
    """int32[words + 1]: how many words before it are no stop words"""
    spelled: Int32s
    """int32[queries]: code of the spelling, -1 = spelled as it is compared (or new, without room)"""
    runs: Int32s
    """int32[words, LONGEST]: item of the run of 1, 2, … words from each on; -1 = none"""
    whole: Int32s
    """int32[queries]: item of the whole text, -1 = none"""
    spelling: Int32s
    """int32[queries]: item of the spelling, -1 = none; -2 = spelled as it is compared"""
    flag: Int32s
    """int32[queries]: what each holds as it is spelled, where rare texts are kept; else empty"""


class Rule(NamedTuple):
    """When a text may be published."""

    people: int
    famous: int
    enough: int
    """no more people than this are counted"""
    most_rows: int
    """a person with more rows is counted for nothing"""
    rare: int


class Choice(NamedTuple):
    """What of each record is published."""

    kind: Int8s
    where: Int32s
    """int32[n, 2]: of a phrase its first word and how many words; of a label its index; of a query see AS_IT_CAME"""


@inlined_kernel
@wraps_around
def _mix(word: np.uint64) -> np.uint64:
    """Scatter the bits, one to one (Stafford 2011, variant 13)."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@inlined_kernel
def _slot(slots: Words, key: np.uint64, shift: int) -> int:
    """Return the slot of a key, or the free one where it would go."""
    mask = len(slots) - 1
    slot = np.int64(_mix(key) >> np.uint64(shift))
    while slots[slot, KEY] != 0 and slots[slot, KEY] != key:
        slot = (slot + 1) & mask
    return int(slot)


@inlined_kernel
def _item(store: Store, key: np.uint64, most: int) -> int:
    """Return the item of a key, a new one where there is none; -1 where there are as many phrases as there may be."""
    slot = _slot(store.slots, key, store.counts[SLOT_SHIFT])
    if store.slots[slot, KEY] == 0:
        is_label = (key >> np.uint64(62)) == np.uint64(1)
        if not is_label and store.counts[PHRASES] >= most:
            return -1
        code = store.counts[ITEMS]
        store.slots[slot, KEY], store.slots[slot, CODE] = key, np.uint64(code)
        store.items[code, PEOPLE], store.items[code, FIRST] = 0, -1
        store.items[code, TALLY], store.items[code, FLAG] = 0, UNKNOWN
        store.counts[ITEMS] += 1
        if not is_label:
            store.counts[PHRASES] += 1
        return int(code)
    return int(store.slots[slot, CODE])


@inlined_kernel
def _key(above: int, word: int) -> np.uint64:
    """Return the key of a run: the item of the run without its last word, or -1, and that word; -1 = no word."""
    return np.uint64(above + 1) << np.uint64(32) | np.uint64(word + 1)


@kernel
def name_items(store: Store, texts: Texts, all_runs: bool, most: int, begin: int) -> int:
    """Find the items of texts from `begin` on, and make new ones; runs that begin later only with `all_runs`.

    `most` = phrases that may be known. Writes to texts.runs, which must be -1, texts.whole and texts.spelling. Returns
    how many texts are done.
    """
    for q in range(begin, len(texts.first) - 1):
        a, b = texts.first[q], texts.first[q + 1]
        wanted = store.counts[ITEMS] + (LONGEST + 1) * (b - a) + 2
        if 2 * wanted > len(store.slots) or wanted > len(store.items):
            return q
        for p in range(a, b if all_runs else a):
            node = -1
            for n in range(min(LONGEST, b - p)):
                if texts.word[p + n] < 0:
                    break
                node = _item(store, _key(node, texts.word[p + n]), most)
                texts.runs[p, n] = node
                if node < 0:
                    break
        node, p = -1, a
        if all_runs and b > a:  # the run of its first words is known
            p = min(a + LONGEST, b)
            node = texts.runs[a, p - a - 1]
        while p < b and texts.word[p] >= 0 and (node >= 0 or p == a):
            node = _item(store, _key(node, texts.word[p]), most)
            p += 1
        if p < b:
            node = -1
        texts.whole[q] = -1 if node < 0 else _item(store, _key(node, -1), most)
        if texts.spelling[q] != -2:
            code = texts.spelled[q]
            texts.spelling[q] = -1 if code < 0 else _item(store, SPELLED | np.uint64(code), most)
    return len(texts.first) - 1


@kernel
def name_labels(store: Store, label: Int32s, item: Int32s, begin: int) -> int:
    """Find the items of labels, by the codes of their paths, from `begin` on; returns how many are done."""
    for i in range(begin, len(label)):
        if 2 * (store.counts[ITEMS] + 1) > len(store.slots) or store.counts[ITEMS] + 1 > len(store.items):
            return i
        item[i] = _item(store, LABELLED | np.uint64(label[i]), 0)
    return len(label)


@inlined_kernel
def _is_wanted(store: Store, item: int, least: int) -> bool:
    """Tell whether an item may be published in this batch, and nobody has looked at its text; it is marked."""
    if item < 0 or store.items[item, FLAG] != UNKNOWN:
        return False
    if store.items[item, PEOPLE] + store.items[item, TALLY] < least:
        return False
    store.items[item, FLAG] = PENDING
    return True


@inlined_kernel
def _add_tally(store: Store, texts: Texts, q: int, times: int) -> None:
    for p in range(texts.first[q], texts.first[q + 1]):
        for n in range(LONGEST):
            if texts.runs[p, n] < 0:
                break
            store.items[texts.runs[p, n], TALLY] += times
    for item in (texts.whole[q], texts.spelling[q]):
        if item >= 0:
            store.items[item, TALLY] += times


@kernel
def find_wanted(store: Store, texts: Texts, times: Int64s, least: int, out: Int32s) -> int:
    """Find the items that may reach `least` people in a batch in which each text comes so many times.

    Whatever was not looked at before goes to out int32[*, 4]: item, text, first word, words; first word -1 = the
    spelling, -2 = the whole text. Returns how many there are.
    """
    n_texts, found = len(texts.first) - 1, 0
    for q in range(n_texts):
        _add_tally(store, texts, q, times[q])
    for q in range(n_texts):
        if _is_wanted(store, texts.whole[q], least):
            out[found, 0], out[found, 1], out[found, 2], out[found, 3] = texts.whole[q], q, -2, 0
            found += 1
        if _is_wanted(store, texts.spelling[q], least):
            out[found, 0], out[found, 1], out[found, 2], out[found, 3] = texts.spelling[q], q, -1, 0
            found += 1
        for p in range(texts.first[q], texts.first[q + 1]):
            for n in range(LONGEST):
                item = texts.runs[p, n]
                if item < 0:
                    break
                if texts.content[p + n + 1] > texts.content[p] and _is_wanted(store, item, least):
                    out[found, 0], out[found, 1], out[found, 2], out[found, 3] = item, q, p, n + 1
                    found += 1
    for q in range(n_texts):
        _add_tally(store, texts, q, -times[q])
    return found


@inlined_kernel
def _may(store: Store, item: int, rule: Rule) -> bool:
    """Tell whether enough people have asked an item, and it may be published."""
    if item < 0 or store.items[item, PEOPLE] < rule.people:
        return False
    flag = store.items[item, FLAG]
    return bool(flag == FINE or (flag == NAMED and store.items[item, PEOPLE] >= rule.famous))


@inlined_kernel
def _choose_run(store: Store, texts: Texts, rule: Rule, q: int, where: Int32s) -> bool:
    """Find the longest run of a text that may be published; of several the one of more people, then the left one."""
    a, b = texts.first[q], texts.first[q + 1]
    for n in range(min(LONGEST, b - a), 0, -1):
        most = 0
        for p in range(a, b - n + 1):
            item = texts.runs[p, n - 1]
            if texts.content[p + n] == texts.content[p] or not _may(store, item, rule):
                continue
            if store.items[item, PEOPLE] > most:
                most = store.items[item, PEOPLE]
                where[0], where[1] = p, n
        if most > 0:
            return True
    return False


@inlined_kernel
def _count(store: Store, item: int, person: int, enough: int) -> None:
    """Count a person for an item, if there are not enough and the person is not among them."""
    if item < 0:
        return
    people = store.items[item, PEOPLE]
    if people >= enough or store.items[item, FIRST] == person:
        return
    if people == 0:
        store.items[item, FIRST] = person
        store.items[item, PEOPLE] = 1
        return
    pair = np.uint64(item + 1) << np.uint64(32) | np.uint64(person)
    mask = len(store.pairs) - 1
    slot = np.int64(_mix(pair) >> np.uint64(store.counts[PAIR_SHIFT]))
    while store.pairs[slot] != 0 and store.pairs[slot] != pair:
        slot = (slot + 1) & mask
    if store.pairs[slot] == 0:
        store.pairs[slot] = pair
        store.counts[PAIRS] += 1
        store.items[item, PEOPLE] = people + 1


@kernel
def choose(
    store: Store,
    texts: Texts,
    rule: Rule,
    records: tuple[Int32s, Int32s, Int32s],
    labels: tuple[Int64s, Int32s],
    rows: Int64s,
    choice: Choice,
    begin: int,
) -> int:
    """Choose what of each record is published, by the records before it; then count the record, whoever asked it.

    records = text, person and path of each, path -1 = none; labels = where those of each path begin, and their items,
    the deepest first, -1 = never to be published; rows int64[people] = records of each person so far. Writes to
    `choice`. Returns how many records are done.
    """
    text, person, path = records
    label_first, label_item = labels
    for i in range(begin, len(text)):
        q, u, c = text[i], person[i], path[i]
        a, b = texts.first[q], texts.first[q + 1]
        of_path = label_first[c + 1] - label_first[c] if c >= 0 else 0
        if 2 * (store.counts[PAIRS] + LONGEST * (b - a) + 2 + of_path) > len(store.pairs):
            return i
        choice.kind[i] = NOTHING
        whole, spelling = texts.whole[q], texts.spelling[q]
        if rule.rare == KEEP:
            people = store.items[whole, PEOPLE] if whole >= 0 else 0
            if texts.flag[q] == FINE or (texts.flag[q] == NAMED and people >= rule.famous):
                choice.kind[i], choice.where[i, 0] = QUERY, AS_IT_CAME
        elif _may(store, whole, rule):
            as_it_came = spelling == -2 or _may(store, spelling, rule)
            choice.kind[i], choice.where[i, 0] = QUERY, AS_IT_CAME if as_it_came else COMPARED
        elif rule.rare == RUNS and _choose_run(store, texts, rule, q, choice.where[i]):
            choice.kind[i] = PHRASE
        elif rule.rare != DROP and c >= 0:
            for j in range(label_first[c], label_first[c + 1]):
                if label_item[j] >= 0 and store.items[label_item[j], PEOPLE] >= rule.people:
                    choice.kind[i], choice.where[i, 0] = LABEL, j
                    break
        rows[u] += 1
        if rows[u] > rule.most_rows:
            continue
        _count(store, whole, u, rule.enough)
        _count(store, spelling, u, rule.enough)
        for p in range(a, b):
            for n in range(LONGEST):
                if texts.runs[p, n] < 0:
                    break
                _count(store, texts.runs[p, n], u, rule.enough)
        for j in range(label_first[c] if c >= 0 else 0, label_first[c + 1] if c >= 0 else 0):
            _count(store, label_item[j], u, rule.enough)
    return len(text)


@kernel
def keep_pairs(pairs: Words, items: Int32s, enough: int, shift: int, kept: Words) -> int:
    """Put the pairs of items that do not have enough people yet into another set; return how many they are."""
    mask, found = len(kept) - 1, 0
    for pair in pairs:
        if pair != 0 and items[np.int64(pair >> np.uint64(32)) - 1, PEOPLE] < enough:
            slot = np.int64(_mix(pair) >> np.uint64(shift))
            while kept[slot] != 0 and kept[slot] != pair:
                slot = (slot + 1) & mask
            kept[slot] = pair
            found += 1
    return found


@kernel
def move_keys(old: Words, shift: int, slots: Words) -> bool:
    """Put keys with their items into an empty table; False where one is there twice."""
    for i in range(len(old)):
        if old[i, KEY] != 0:
            slot = _slot(slots, old[i, KEY], shift)
            if slots[slot, KEY] != 0:
                return False
            slots[slot, KEY], slots[slot, CODE] = old[i, KEY], old[i, CODE]
    return True


@kernel
def find_words(data: npt.NDArray[np.uint8], begin: Int64s, end: Int64s, spans: Int32s, first: Int64s) -> int:
    """Find the words of texts, which single spaces separate: spans int32[*, 2], begin and end of each in `data`.

    Writes to first int64[texts + 1]: where the words of each begin. Returns how many there are.
    """
    found = 0
    for i in range(len(begin)):
        first[i] = found
        start = begin[i]
        for at in range(begin[i], end[i] + 1):
            if at == end[i] or data[at] == 32:
                if at > start:
                    spans[found, 0], spans[found, 1] = start, at
                    found += 1
                start = at + 1
    first[len(begin)] = found
    return found
