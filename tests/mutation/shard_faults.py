"""Seeded faults of shards: wrong lines that would lose a record, publish it twice, or tell a person by two ids."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["SHARDS"]

TESTS = "live/test_shards.py"
KERNELS = "live/_shard_kernels.py"
FILTER = "live/shard_filter.py"
TAKE_OVER = "live/take_over.py"
ONE = f"{TESTS}::test_each_record_is_in_one_shard_that_of_its_label"
ALONE = f"{TESTS}::test_a_shard_is_a_run_over_its_categories"
LOSES_NOTHING = f"{TESTS}::test_another_number_of_shards_loses_nothing"
IDS = f"{TESTS}::test_ids_agree_between_shards"
REFUSED = f"{TESTS}::test_what_cannot_be_taken_over"

CAUGHT_UP = "live/test_exactly_once.py::test_a_shard_that_is_stopped_before_it_reads_has_not_caught_up"

SHARDS = [
    fault(
        "shards: what was not read yet is not ahead",
        "live/pipes.py",
        "        self._pauses = [self.place_of(mark) for mark in marks]\n        self.ahead = self._still_ahead()\n",
        "        self._pauses = [self.place_of(mark) for mark in marks]\n",
        CAUGHT_UP,
    ),
    fault(
        "shards: the root is a category",
        KERNELS,
        "            root = ROOT\n            marks &= ~np.uint64(0xFFFFFFFF)\n",
        "            root = 0\n",
        ONE,
    ),
    fault(
        "shards: foreign records are taken",
        KERNELS,
        "        if flags[row] == OWN:\n",
        "        if flags[row] <= OWN:\n",
        ALONE,
    ),
    fault(
        "shards: bad lines are counted by all",
        FILTER,
        "        owner = earlier = 0\n",
        "        owner, earlier = self.shard.index, 0\n",
        f"{TESTS}::test_bad_lines_are_counted_once_and_end_every_shard",
    ),
    fault(
        "shards: adding one moves everything",
        "live/shards.py",
        "    return max(range(count), key=lambda shard: _weight(shard, text))",
        "    return int.from_bytes(_weight(0, text)) % count",
        f"{TESTS}::test_another_shard_moves_only_what_it_takes",
    ),
    fault(
        "shards: each its own ids",
        "live/reader.py",
        "                self._keyed_ids(self._sharding.secret.run_key)\n",
        "                fresh_ids(self.ids, n, self._id_random, digits=self._digits)\n",
        IDS,
        f"{TESTS}::test_two_people_with_one_id_end_the_run",
    ),
    fault(
        "shards: ids of a period of their own",
        "live/publisher.py",
        " if secret is None else secret.period_key",
        "",
        IDS,
    ),
    fault("take over: records are read twice", FILTER, " and earlier not in self._behind", "", LOSES_NOTHING),
    fault(
        "take over: begin at the last position",
        TAKE_OVER,
        "    first = min(range(len(old))",
        "    first = max(range(len(old))",
        LOSES_NOTHING,
    ),
    fault(
        "take over: batches over a position",
        "live/pipes.py",
        "if at > self._read)",
        "if at > self._read + self.piece)",
        LOSES_NOTHING,
    ),
    fault(
        "take over: an open epoch goes to all",
        TAKE_OVER,
        " if j % shard.count == shard.index]",
        "]",
        LOSES_NOTHING,
    ),
    fault(
        "take over: from a shard that was killed",
        TAKE_OVER,
        "if stopped is None or stopped.catching_up:",
        "if False:",
        REFUSED,
    ),
    fault(
        "take over: the old shards go on",
        TAKE_OVER,
        "    if handed is not None:\n",
        "    if False:\n",
        LOSES_NOTHING,
        REFUSED,
    ),
    fault(
        "take over: tokens of other users",
        "methods/stream/state_parts.py",
        'tokens.append((s.set[set_of[taken]], position[s.arrays["set_tokens"][taken]]))',
        'tokens.append((s.set[set_of[taken]], position[s.arrays["set_records"][taken]]))',
        LOSES_NOTHING,
        f"{TESTS}::test_what_waits_is_taken_over_as_it_was",
    ),
]
