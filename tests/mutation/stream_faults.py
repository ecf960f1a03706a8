"""Seeded faults of waiting, epochs, ids, `nearest`, and of the attackers who watch a stream."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["STREAMS"]

NEAREST = "methods/stream/_nearest_kernels.py"
ENGINE = "methods/stream/_engine_kernels.py"
MEMORY = "methods/stream/stream_release.py"
EPOCHS = "methods/stream/log_epochs.py"
PUBLISHER = "live/publisher.py"
PLAIN = "live/_plain_kernels.py"
POOL = "attacks/_stream_pool_kernels.py"
TIMING = "attacks/_stream_timing_kernels.py"

OF_NEAREST = "methods/stream/test_nearest.py"
NEAREST_RULES = f"{OF_NEAREST}::test_the_four_rules"
EXPIRED = f"{OF_NEAREST}::test_expired_records_leave_or_are_dropped_and_counted"
WAITING = "methods/stream/test_stream_waiting.py"
WAITING_RULES = f"{WAITING}::test_the_four_rules_with_a_longest_delay"
SMALLEST = f"{WAITING}::test_of_the_sets_with_enough_users_the_smallest_lets_out"
IN_MEMORY = "methods/stream/test_stream_epochs.py"
OF_RECORDS = f"{IN_MEMORY}::test_an_epoch_of_records_has_what_left_while_they_entered"
LIVE = "live/test_live_epochs.py"
LIKE_MEMORY = f"{LIVE}::test_the_rows_are_those_of_the_same_log_in_memory"
PERIODS = "releases/test_period_checks.py"
POOL_TESTS = "attacks/test_stream_pool.py"

ONE_PERSON = "live/test_plain_reader.py::test_two_spellings_of_a_user_are_one_person"

OF_THE_READER = [
    fault(
        "plain tables: a user with a blank at the end is somebody else",
        PLAIN,
        "if begin == stop or data[begin] <= SPACE or data[stop - 1] <= SPACE:",
        "if begin == stop or data[begin] <= SPACE:",
        ONE_PERSON,
    ),
    fault(
        "plain tables: a user outside ASCII is not brought to its normal form",
        PLAIN,
        "            if data[i] >= 128:",
        "            if data[i] >= 255:",
        ONE_PERSON,
    ),
]

OF_THE_METHOD = [
    fault(
        "nearest: the asker is drawn from the set below",
        NEAREST,
        "if near >= 0 and slot >= m.entries[near, SLOT]:",
        "if near >= 0 and slot > m.entries[near, SLOT]:",
        NEAREST_RULES,
    ),
    fault(
        "nearest: the asker is drawn from the last class",
        NEAREST,
        "    if own >= 0:  # the asker and",
        "    if own < -1:  # the asker and",
        NEAREST_RULES,
    ),
    fault(
        "nearest: a set of k users is ready",
        NEAREST,
        "sets[where, USERS + SIZE] > m.counts[K]",
        "sets[where, USERS + SIZE] >= m.counts[K]",
        NEAREST_RULES,
    ),
    fault(
        "nearest: the circle leaves the asker out before it is drawn",
        NEAREST,
        "met = near >= 0 or (own >= 0 and _draw(m, end - inside) < missing)",
        "met = near >= 0 or own >= 0",
        f"{OF_NEAREST}::test_the_circle_is_drawn_whoever_asked",
    ),
    fault(
        "nearest: one candidate too many",
        NEAREST,
        "if slot < inside - (near >= 0):",
        "if slot < inside:",
        NEAREST_RULES,
        f"{OF_NEAREST}::test_who_is_published_tells_nothing_of_who_asked",
    ),
    fault(
        "nearest: the last token is used up",
        NEAREST,
        "token = m.entries[e, HEAD]\n",
        "token = m.entries[e, TAIL]\n",
        f"{OF_NEAREST}::test_of_a_users_tokens_the_first_is_used_up",
    ),
    fault(
        "nearest: another user is dropped than the one told",
        NEAREST,
        "_number(m, record), m.tokens[token, HOLDER]",
        "_number(m, record), m.records[record, ASKER]",
        EXPIRED,
    ),
    fault(
        "nearest: dropped though a set is ready",
        NEAREST,
        "level), READY_AT] >= 0:",
        "level), READY_AT] > 0:",
        f"{OF_NEAREST}::test_an_expired_record_leaves_where_a_set_around_it_is_ready",
    ),
    fault(
        "nearest: the pool lets go one early",
        NEAREST,
        "QUERIES + SIZE] <= m.counts[POOL]",
        "QUERIES + SIZE] < m.counts[POOL]",
        f"{OF_NEAREST}::test_nothing_leaves_from_a_branch_before_the_pool_is_full",
    ),
    fault(
        "nearest: the widest branch comes first",
        NEAREST,
        "for row in range(last, end, -1):",
        "for row in range(end + 1, last + 1):",
        f"{OF_NEAREST}::test_deeper_branches_come_first",
    ),
    fault(
        "nearest: a record waits for one more",
        NEAREST,
        "_number(m, oldest) >= counts[MAX_DELAY]",
        "_number(m, oldest) > counts[MAX_DELAY]",
        NEAREST_RULES,
    ),
    fault(
        "nearest: the oldest are not let out",
        NEAREST,
        "_number(m, oldest) >= before:",
        "_number(m, oldest) >= before - 1:",
        EXPIRED,
    ),
]

OF_WAITING = [
    fault(
        "waiting: an overdue record leaves with k - 1 others",
        ENGINE,
        ">= 0 else 0) < k:",
        ">= 0 else 0) < k - 1:",
        WAITING_RULES,
    ),
    fault(
        "waiting: the asker is one of the k others",
        ENGINE,
        "(1 if _find(m, where, asker) >= 0 else 0) < k:",
        "0 < k:",
        WAITING_RULES,
    ),
    fault(
        "waiting: the longest delay is one longer",
        ENGINE,
        "number = m.counts[SEEN] - 1 - m.counts[LIMIT]",
        "number = m.counts[SEEN] - 2 - m.counts[LIMIT]",
        WAITING_RULES,
    ),
    fault(
        "waiting: an overdue record leaves from the widest set",
        ENGINE,
        "        smallest = where\n",
        "        smallest = where if smallest < 0 else smallest\n",
        SMALLEST,
    ),
    fault(
        "waiting: no user moves for an overdue record",
        ENGINE,
        "    if query_node != user_node:\n        _balance(m, query_node, user_node)\n\n\n",
        "\n\n",
        WAITING_RULES,
    ),
    fault(
        "waiting: dropped without the token that is told",
        ENGINE,
        "waits[token, _of_token(m, TOKEN_USER)], DROPPED",
        "waits[record, ASKER], DROPPED",
        WAITING_RULES,
    ),
    fault(
        "waiting: the first user is dropped instead of any",
        ENGINE,
        "node = waits[_get(m, m.sets, top, QUERIES, _draw(m, m.sets[top, QUERIES + SIZE])), NODE]",
        "node = waits[_get(m, m.sets, top, QUERIES, 0), NODE]",
        f"{WAITING}::test_the_dropped_user_is_uniform_over_the_places_of_the_top_level_category",
    ),
    fault(
        "waiting: nobody is too old",
        MEMORY,
        "parts.append(engine.expire(old))",
        "parts.append(engine.expire(0))",
        f"{IN_MEMORY}::test_who_is_too_old_does_not_wait",
    ),
]

OF_EPOCHS = [
    fault(
        "epochs: one time far in the future stops the clock",
        "methods/stream/_clock_kernels.py",
        "elif t > now + leap:",
        "elif t > now + 4_000_000_000:",
        "methods/stream/test_clock.py::test_a_time_far_in_the_future_ends_no_epoch",
    ),
    fault(
        "epochs: the clock goes back when something was published",
        "methods/stream/_clock_kernels.py",
        "if state[BEHIND] == enough and is_first:",
        "if state[BEHIND] == enough:",
        "methods/stream/test_clock.py::test_the_clock_does_not_go_back_over_what_was_published",
    ),
    fault(
        "epochs: what the clock waits for is lost in a crash",
        "live/publisher.py",
        "self.clock.from_state(said.clock)",
        "self.clock.from_state([*said.clock[:1], *Clock(self.settings).to_state()[1:7], *said.clock[7:]])",
        "live/test_live_epochs.py::test_exact_after_a_stop_at_any_checkpoint",
    ),
    fault(
        "epochs: not shuffled",
        EPOCHS,
        "begin + random.permutation(end - begin)",
        "begin + np.arange(end - begin)",
        f"{IN_MEMORY}::test_rows_of_an_epoch_are_shuffled_and_each_place_is_as_likely",
    ),
    fault(
        "epochs: rows keep their times",
        MEMORY,
        "time = np.where(time[order] == MISSING_TIME, MISSING_TIME, epochs.time[period])",
        "time = time[order]",
        OF_RECORDS,
    ),
    fault(
        "epochs: the wait for the end is not counted",
        MEMORY,
        'left["delay"] = epochs.last(period) - left["record"]',
        'left["delay"] = left["delay"] + 0',
        OF_RECORDS,
    ),
    fault(
        "epochs: the first record belongs to the epoch before",
        EPOCHS,
        'np.searchsorted(self.begin, moment, side="right") - 1',
        'np.maximum(np.searchsorted(self.begin, moment, side="left") - 1, 0)',
        OF_RECORDS,
    ),
    fault(
        "epochs: a late record opens an epoch again",
        "methods/stream/_clock_kernels.py",
        "now = max(now, t)",
        "now = t",
        "methods/stream/test_clock.py::test_like_the_reference_in_any_pieces",
    ),
    fault(
        "epochs: ids of a day without the day",
        MEMORY,
        'period if settings.ids in {"epoch", "day"} else None',
        'period if settings.ids in {"epoch"} else None',
        f"{IN_MEMORY}::test_ids_change_with_the_period_and_nowhere_else",
    ),
    fault(
        "epochs: times are not rounded",
        MEMORY,
        "time = round_down(time, settings.time_grain)",
        "time = time + 0",
        f"{IN_MEMORY}::test_times_are_rounded_down_and_the_statement_promises_it",
    ),
    fault(
        "live epochs: not shuffled",
        PUBLISHER,
        "order = self._random.permutation(len(found))",
        "order = np.arange(len(found))",
        LIKE_MEMORY,
    ),
    fault(
        "live epochs: rows keep their times",
        PUBLISHER,
        "time = np.where(time == MISSING_TIME, MISSING_TIME, self.time)",
        "time = time + 0",
        LIKE_MEMORY,
    ),
    fault(
        "live epochs: times are not rounded",
        PUBLISHER,
        "return time if self.settings.time_grain is None else round_down(time, self.settings.time_grain)",
        "return time",
        LIKE_MEMORY,
    ),
    fault(
        "live epochs: ids of a day without the day",
        PUBLISHER,
        "np.where(time == MISSING_TIME, NO_DAY, time // DAY)",
        "np.zeros(len(time), dtype=np.int64)",
        f"{LIVE}::test_ids_change_with_the_period",
    ),
    fault(
        "live epochs: ids keyed without their period",
        "methods/stream/keyed_ids.py",
        'head.update(period.to_bytes(8, "little", signed=True))',
        "head.update(bytes(8))",
        f"{LIVE}::test_ids_change_with_the_period",
    ),
]

OF_THE_GATE = [
    fault(
        "gate: departures of a log in memory are not checked",
        "releases/publish.py",
        "    checks.check_departures(k, truth.asker, truth.user[table.user], evidence.candidates)\n",
        "",
        f"{PERIODS}::test_the_gate_counts_candidates_and_looks_for_askers",
    ),
    fault(
        "gate: an id in two periods",
        "releases/period_checks.py",
        "(np.bincount(pairs[0]) > 1)",
        "(np.bincount(pairs[0]) > 2)",
        f"{PERIODS}::test_an_id_in_two_periods_is_noticed",
    ),
    fault(
        "gate: epochs that go back",
        "releases/period_checks.py",
        "    if epochs_out_of_order(table, statement):\n",
        "    if False:\n",
        f"{PERIODS}::test_epochs_out_of_their_order_are_noticed",
    ),
    fault(
        "gate: periods are not checked",
        "releases/publish.py",
        "    check_periods(table, statement)\n",
        "",
        f"{PERIODS}::test_the_gate_checks_periods",
    ),
    fault(
        "verify: an id of any length is new",
        "releases/verify.py",
        r'r"^\d{12}(\d{4})?$"',
        r'r"^\d{12,}$"',
        f"{PERIODS}::test_ids_of_periods_have_the_form_of_new_ones",
    ),
]

OF_ATTACKERS = [
    fault(
        "pool: names the published id",
        POOL,
        "if p != own[i] and u != user[own[i]]:",
        "if p != own[i]:",
        f"{POOL_TESTS}::test_the_id_named_is_one_of_the_best_of_the_reference",
    ),
    fault(
        "pool: the order of an epoch counts",
        POOL,
        "common, gap, u = _common(chain, own[i], p), bins[moment[p] - asked[i]], user[p]",
        "common, gap, u = _common(chain, own[i], p), bins[min(p - asked[i], len(bins) - 1)], user[p]",
        f"{POOL_TESTS}::test_the_id_named_is_one_of_the_best_of_the_reference",
    ),
    fault(
        "pool: who looks inside names the published id",
        "attacks/stream_pool.py",
        "common = np.where(holder == published, 0, common)",
        "common = common + 0",
        f"{POOL_TESTS}::test_who_sees_what_waits_takes_the_nearest_id",
    ),
    fault(
        "timing: names the published id",
        TIMING,
        "if time_stamp[u] == stamp or u == user[row[i]]:",
        "if time_stamp[u] == stamp:",
        "attacks/test_stream_timing.py::test_an_id_under_which_the_record_is_published_is_never_named",
    ),
    fault(
        "timing: names the published id of an epoch",
        TIMING,
        "while left < BEST and best[left] == user[row[i]]:",
        "while left < 0 and best[left] == user[row[i]]:",
        f"{POOL_TESTS}::test_in_epochs_the_id_named_is_one_of_the_best_of_the_reference",
    ),
    fault(
        "timing: the own epoch counts twice",
        TIMING,
        "fits = weight[u] - np.log(1 - same + same * ratio) + missed + np.log(ratio / never)",
        "fits = weight[u] + np.log(ratio / never)",
        f"{POOL_TESTS}::test_in_epochs_the_id_named_is_one_of_the_best_of_the_reference",
    ),
]

OF_ADDRESSES = [
    fault(
        "stream: a mistyped address is a file, shown with its password",
        "live/address.py",
        "(_SCHEME.match(text) or _MISTYPED.match(text)) is not None",
        "_SCHEME.match(text) is not None",
        "live/test_addresses.py::test_what_looks_like_an_address_is_no_file",
    ),
]

STREAMS = [
    *OF_THE_READER,
    *OF_THE_METHOD,
    *OF_WAITING,
    *OF_EPOCHS,
    *OF_THE_GATE,
    *OF_ATTACKERS,
    *OF_ADDRESSES,
]
