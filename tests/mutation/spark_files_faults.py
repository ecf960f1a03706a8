"""Seeded faults: files that Spark reads and folders that it writes."""

from __future__ import annotations

from mutation.fault import Fault, fault

LINES = "spark/test_text_lines.py"
ATTACKED = "spark/test_spark_attacked.py"

SPARK_FILES: list[Fault] = [
    fault("spark: half a quoted field is a row", "spark/text_lines.py", "% 2 == 1", "% 2 == 2",
          f"{LINES}::test_a_field_of_several_lines_is_seen_on_each_of_its_ends"),
    fault("release: a folder without its names", "releases/folder.py", "{digests[name]}  {name}\\n",
          "{digests[name]}\\n", f"{LINES}::test_a_folder_is_known_by_all_its_parts"),
    fault("release: an added part is not seen", "releases/folder.py", 'startswith(("_", "."))',
          'startswith(("_", ".", "m"))', f"{LINES}::test_a_folder_is_known_by_all_its_parts"),
    fault("spark: spellings of an id are several people", "spark/spark_log.py", "pc.ascii_trim(ids, characters=SPACES)",
          "pc.ascii_trim_whitespace(ids)",
          f"{ATTACKED}::test_the_normal_form_of_an_id_does_not_depend_on_the_ids_beside_it"),
    fault("spark: a ledger is left unread", "spark/refusals.py", 'getattr(settings, "ledger", None) is not None',
          'getattr(settings, "ledger", "") is None',
          f"{ATTACKED}::test_what_is_for_one_machine_is_refused_by_its_settings_alone"),
]  # fmt: skip
