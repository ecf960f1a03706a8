"""The rules of a generated log, read back from its rows one by one: plain Python, for small logs."""

from querycloak.generator.generated_log import EVENT_KINDS, START


def events_of(made):
    """Return each event as a dict, in the order of the log."""
    log = made.log
    concepts = {}
    for row, concept in zip(made.concepts.row.tolist(), made.concepts.concept.tolist(), strict=True):
        concepts.setdefault(row, []).append(concept)
    first_rows = [row for row in range(len(log)) if log.event[row]]
    return [
        {
            "user": int(log.user[row]),
            "query": log.queries[int(log.query[row])],
            "time": int(log.time[row]) - START,
            "kind": EVENT_KINDS[made.kind[i]],
            "concepts": concepts[row],
        }
        for i, row in enumerate(first_rows)
    ]


def broken_rules(made, days):
    """Return the rules that the log breaks; an empty list is a good log."""
    broken = []
    last, asked = {}, {}
    for event in events_of(made):
        before = last.get(event["user"])
        history = asked.setdefault(event["user"], set())
        if not 0 <= event["time"] < days * 86_400:
            broken.append("time out of range")
        if before is not None and event["time"] <= before["time"]:
            broken.append("times of a user do not rise")
        if before is None and event["kind"] in {"next page", "repeated", "added", "dropped", "replaced", "reworded"}:
            broken.append("the first event of a user follows nothing")
        if event["kind"] == "next page" and before is not None and event["query"] != before["query"]:
            broken.append("a next page of another query")
        if event["kind"] == "repeated" and event["query"] not in history:
            broken.append("a repeated query that was not asked before")
        if event["kind"] == "added" and len(event["concepts"]) != len(before["concepts"]) + 1:
            broken.append("an added term that is not there")
        if event["kind"] == "dropped" and len(event["concepts"]) != len(before["concepts"]) - 1:
            broken.append("a dropped term that is still there")
        last[event["user"]] = event
        history.add(event["query"])
    return broken
