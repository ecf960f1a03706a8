"""What a record of a stream may say, read plainly: sets of people for every text, run of words and label."""

from __future__ import annotations

from querycloak.mapping.stopwords import STOP_WORDS


class ReferenceTexts:
    """`push` returns (kind, text) of a record, by the records before it, and counts the record."""

    def __init__(self, rule, holds_identifier, holds_name, most_phrases=10**9):
        self.rule, self.most_phrases = rule, most_phrases
        self.holds_identifier, self.holds_name = holds_identifier, holds_name
        self.people: dict[tuple, set] = {}
        self.known: set[tuple] = set()  # phrases there is room for
        self.rows: dict = {}

    def push(self, user, query, path=()):
        rule = self.rule
        words = query.lower().split()
        items = self.items(query, words)
        chosen = self.choose(query, words, path)
        self.rows[user] = self.rows.get(user, 0) + 1
        if rule.most_rows is None or self.rows[user] <= rule.most_rows:
            for item in items + [("label", p) for p in labels(path)]:
                self.people.setdefault(item, set()).add(user)
        return chosen

    def items(self, query, words):
        """The items of a query there is room for, in the order in which they are made; a run needs its beginning."""
        out = []

        def add(item, above=None):
            if above is not None and above not in self.known:
                return
            if item not in self.known and len(self.known) < self.most_phrases:
                self.known.add(item)
            if item in self.known:
                out.append(item)

        if self.rule.rare == "phrase":
            for i in range(len(words)):
                for j in range(i + 1, min(i + 6, len(words)) + 1):
                    add(("run", *words[i:j]), ("run", *words[i : j - 1]) if j > i + 1 else None)
        for j in range(1, len(words) + 1):  # the beginnings of a text lead to the whole
            add(("run", *words[:j]), ("run", *words[: j - 1]) if j > 1 else None)
        if words:
            add(("whole", *words), ("run", *words))
        if query != " ".join(words):
            add(("spelled", query))
        return out

    def count(self, item):
        return len(self.people.get(item, ()))

    def harmless(self, text, people):
        if self.rule.identifiers == "keep":
            return True
        return not self.holds_identifier(text) and (people >= self.rule.famous or not self.holds_name(text))

    def may(self, item, text):
        return self.count(item) >= self.rule.people and self.harmless(text, self.count(item))

    def choose(self, query, words, path):
        rule, plain = self.rule, " ".join(words)
        whole = ("whole", *words)
        if rule.rare == "keep":
            return ("query", query) if self.harmless(query, self.count(whole)) else None
        if self.may(whole, plain):
            return ("query", query if self.may(("spelled", query), query) else plain)
        enough = max(rule.people, rule.famous) if rule.identifiers == "drop" else rule.people
        runs = [
            (j - i, min(self.count(("run", *words[i:j])), enough), -i, " ".join(words[i:j]))
            for i in range(len(words))
            for j in range(i + 1, min(i + 6, len(words)) + 1)
            if rule.rare == "phrase"
            and not set(words[i:j]) <= STOP_WORDS
            and self.may(("run", *words[i:j]), " ".join(words[i:j]))
        ]
        if runs:
            return ("phrase", max(runs)[-1])
        if rule.rare != "drop":
            for p in labels(path):
                if self.count(("label", p)) >= rule.people and not (
                    rule.identifiers == "drop" and self.holds_identifier(f"[{p[-1]}]")
                ):
                    return ("label", f"[{p[-1]}]")
        return None


def labels(path):
    """The prefixes of a path that are published as labels: its own, and those of five levels or more."""
    return [path[:d] for d in range(len(path), 0, -1) if d == len(path) or d >= 5]
