"""Each rule of a policy, the plain way: rows are dictionaries with user, text, time, url and event."""

from collections import Counter

from reference.phrases import phrases_of

DAY = 86_400


def form(text):
    return " ".join(text.lower().split())


def askers(rows, key):
    out = {}
    for row in rows:
        out.setdefault(key(row), set()).add(row["user"])
    return out


def query_users(rows, people, days=None):
    last = max((row["time"] for row in rows), default=0)
    counted = [row for row in rows if days is None or row["time"] > last - days * DAY]
    who = askers(counted, lambda row: form(row["text"]))
    kept = [row for row in rows if len(who.get(form(row["text"]), ())) >= people]
    spelled = askers(kept, lambda row: row["text"])
    return [{**row, "text": row["text"] if len(spelled[row["text"]]) >= people else form(row["text"])} for row in kept]


def word_people(rows):
    out = {}
    for row in rows:
        for word in form(row["text"]).split():
            out.setdefault(word, set()).add(row["user"])
    return out


def every_word(rows, people):
    who = word_people(rows)
    return [row for row in rows if all(len(who[word]) >= people for word in form(row["text"]).split())]


def cut_words(rows, people):
    """Entities of single words, those of too few people left out."""
    who = word_people(rows)
    out = []
    for row in rows:
        words = form(row["text"]).split()
        left = [word for word in words if len(who[word]) >= people]
        if left:
            out.append({**row, "text": row["text"] if left == words else " ".join(left)})
    return out


def longest_phrases(rows, people):
    """Return the length of the longest shared run of words of each row; all its words where the query is shared."""
    whole, runs = askers(rows, lambda row: form(row["text"])), {}
    for row in rows:
        for run in phrases_of(form(row["text"]).split()):
            runs.setdefault(run, set()).add(row["user"])
    out = []
    for row in rows:
        words = form(row["text"]).split()
        if len(whole[" ".join(words)]) >= people:
            out.append(len(words))
        else:
            out.append(max((len(run) for run in phrases_of(words) if len(runs[run]) >= people), default=0))
    return out


def length(rows, words=None, characters=None, people=None):
    who = askers(rows, lambda row: form(row["text"]))

    def is_long(text):
        too_many = words is not None and len(text.split()) > words
        return too_many or (characters is not None and len(text) > characters)

    return [
        row
        for row in rows
        if not is_long(form(row["text"])) or (people is not None and len(who[form(row["text"])]) >= people)
    ]


def combination_users(rows, people, days=None):
    """Drop clicks; of an event without a click left, one row stays."""
    first = min((row["time"] // DAY for row in rows), default=0)

    def key(row):
        period = 0 if days is None else (row["time"] // DAY - first) // days
        return form(row["text"]), row["url"], period

    who = askers(rows, key)
    judged = [(row, len(who[key(row)]) >= people) for row in rows]
    events = {}
    for row, good in judged:
        events.setdefault(row["event"], []).append((row, good))
    out = []
    for members in events.values():
        clicked = [row for row, good in members if row["url"] is not None and good]
        unclicked = [row for row, _ in members if row["url"] is None]
        out += clicked or unclicked or [{**members[0][0], "url": None}]
    return out


def rounded(time, grain):
    if grain == "week":  # back to Monday: 1970-01-01 was a Thursday
        day = time // DAY
        while (day + 3) % 7:
            day -= 1
        return day * DAY
    seconds = {"second": 1, "hour": 3600, "day": DAY}[grain]
    return time - time % seconds


def sessions(rows, gap, most):
    """Return the sessions of a log as sets of row numbers; gap in minutes."""
    out = []
    for user in {row["user"] for row in rows}:
        mine = sorted(
            (row["time"], row["text"], row["url"] is not None, row["event"], i)
            for i, row in enumerate(rows)
            if row["user"] == user
        )
        current, events, before = set(), set(), None
        for time, _, _, event, i in mine:
            full = most is not None and event not in events and len(events) == most
            if current and (time - before > 60 * gap or full):
                out.append(frozenset(current))
                current, events = set(), set()
            current.add(i)
            events.add(event)
            before = time
        out.append(frozenset(current))
    return set(out)


def as_counts(rows, least, keys):
    count = Counter(tuple(row[key] for key in keys) for row in rows)
    return {row: n for row, n in count.items() if n >= least}
