"""Seeded faults of policies, and of attacks on people who have several published ids."""

from __future__ import annotations

from mutation.fault import Fault, fault

POLICY_FOLDER = "methods/policy"
PRESETS = f"{POLICY_FOLDER}/test_policy_presets.py"
RELEASE = f"{POLICY_FOLDER}/test_policy_release.py"
TEXT = f"{POLICY_FOLDER}/test_policy_text.py"
RULES = f"{POLICY_FOLDER}/test_policy_reference.py"
SEVERAL = "attacks/test_several_ids.py"


def rule(name: str, file: str, before: str, after: str, *tests: str) -> Fault:
    return fault(f"policy: {name}", f"{POLICY_FOLDER}/{file}.py", before, after, *tests)


POLICY: list[Fault] = [
    rule("a query of one person too few", "rule_query_users", "people >= rule.people)", "people >= rule.people - 1)",
         f"{PRESETS}::TestGoogle::test_people_of_a_query"),
    rule("one day more counts", "draft", "time > ends[1] - days * DAY", "time >= ends[1] - days * DAY",
         f"{PRESETS}::TestGoogle::test_days_before_the_end_of_the_log"),
    rule("the spelling of one person stays", "rule_query_users", ">= people\n", ">= 1\n",
         f"{RELEASE}::test_the_spelling_of_one_person_is_not_published"),
    rule("a click of one person too few", "rule_combination_users", "< rule.people) |", "< rule.people - 1) |",
         f"{PRESETS}::TestGoogle::test_people_of_a_click"),
    rule("quarters do not count", "rule_combination_users", "form[table.query], period, *", "form[table.query], *",
         f"{PRESETS}::TestGoogle::test_days_of_a_quarter"),
    rule("a word of one person too few", "rule_entities", "(people >= least)", "(people >= least - 1)",
         f"{PRESETS}::TestCommission::test_people_of_a_word"),
    rule("names count as words", "rule_entities", "rule.people if rule.span_people is None else rule.span_people",
         "rule.people", f"{PRESETS}::TestCommission::test_people_of_a_name_or_a_number"),
    rule("every word of one person too few", "rule_phrase_users", "known[word] < people", "known[word] < people - 1",
         f"{PRESETS}::TestDuckDuckGo::test_people_of_a_word"),
    rule("one word more", "rule_length", "> rule.words", "> rule.words + 1",
         f"{PRESETS}::TestDuckDuckGo::test_words_of_a_query"),
    rule("long queries of one person too few", "rule_length", ") < rule.people", ") < rule.people - 1",
         f"{PRESETS}::TestCommission::test_words_of_a_query"),
    rule("names stay", "rule_identifiers", "named[few] = find_names(texts.gather(few), given.taxonomy)", "pass",
         f"{PRESETS}::TestDuckDuckGo::test_personal_information_goes"),
    rule("a name is famous too soon", "rule_identifiers", "< rule.famous)", "< rule.famous - 1)",
         f"{PRESETS}::TestDuckDuckGo::test_a_famous_name_stays"),
    rule("a session goes on after its gap", "rule_ids", "(step > gap)", "(step > gap + 60)",
         f"{PRESETS}::TestCommission::test_minutes_between_two_queries"),
    rule("a session has one query more", "rule_ids", "[session]) // most", "[session]) // (most + 1)",
         f"{PRESETS}::TestCommission::test_queries_of_a_session"),
    rule("sessions join people", "rule_ids", "(user[1:] != user[:-1]) | ", "", f"{RULES}::test_sessions"),
    rule("an id lasts for ever", "rule_ids", "joint_codes(user, day)", "user",
         f"{PRESETS}::TestDuckDuckGo::test_an_id_lasts_a_day"),
    rule("rows stay in order", "rule_time", "    if not rule.shuffle:", "    if True:",
         f"{RELEASE}::test_rows_within_a_grain_are_shuffled_and_others_keep_their_order"),
    rule("small counts stay", "rule_as_counts", "count >= rule.least", "count >= 1", f"{RULES}::test_counts"),
    rule("columns stay", "rule_columns", "for name in ROLES if name not in keep}", "for name in ()}",
         f"{RELEASE}::test_without_rules_about_them_columns_are_not_published_and_ids_are_new"),
    rule("a cut puts an identifier together", "policy", " and draft.cut and ", " and False and ",
         f"{RELEASE}::test_an_identifier_that_a_cut_puts_together_is_not_published"),
    rule("words of many promise people for the text", "policy_statement", ' and phrases.every == "query"', "",
         f"{RELEASE}::test_people_are_promised_only_by_rules_about_whole_queries"),
    rule("some kinds promise all", "policy_statement", "rule.finds_all and rule.names", "rule.famous",
         f"{RELEASE}::test_identifiers_are_promised_only_where_all_kinds_go"),
    rule("order does not matter", "policy_text", "    if later:", "    if False:", TEXT),
    rule("counts have ids", "policy_text", '"as_counts" in rules and per != "none"', '"as_counts" in RULES and False',
         TEXT),
    fault("gate: several ids with a bound", "releases/checks.py",
          '(statement.model != "none" or statement.parameters)', "(not statement)",
          f"{RELEASE}::test_the_gate_lets_several_ids_through_only_where_the_statement_says_so"),
    fault("gate: several ids of anybody", "releases/checks.py", 'statement.ids == "person" and len', "False and len",
          f"{RELEASE}::test_the_gate_lets_several_ids_through_only_where_the_statement_says_so"),
    fault("linking: one id of several is right", "attacks/_matching_kernels.py", "                right += 1",
          "                right = 1", f"{SEVERAL}::test_the_chance_of_several_ids_is_the_sum_of_those_of_each"),
    fault("linking: the baseline has one id each", "attacks/interval.py",
          "float(owner.counts.mean()) if len(owner) else 1.0", "1.0",
          f"{SEVERAL}::test_linking_attacks_name_any_id_and_guess_among_all"),
    fault("claim: from a log that is known whole", "attacks/claim.py", "minlength=len(self.texts)) < self.texts)",
          "minlength=len(self.texts)) <= self.texts)",
          f"{SEVERAL}::test_claims_are_made_from_a_log_that_tells_something_new"),
    fault("exposure: ids are counted, not people", "releases/published_logs.py", ".ascending().distinct()",
          ".ascending()", f"{SEVERAL}::test_who_has_two_ids_in_a_class_hides_once"),
]  # fmt: skip
