"""Seeded faults: files that Spark reads and folders that it writes."""

from __future__ import annotations

from mutation.fault import Fault, fault

LINES = "spark/test_text_lines.py"

SPARK_FILES: list[Fault] = [
    fault("spark: half a quoted field is a row", "spark/text_lines.py", "% 2 == 1", "% 2 == 2",
          f"{LINES}::test_a_field_of_several_lines_is_seen_on_each_of_its_ends"),
    fault("release: a folder without its names", "releases/folder.py", "{digests[name]}  {name}\\n",
          "{digests[name]}\\n", f"{LINES}::test_a_folder_is_known_by_all_its_parts"),
    fault("release: an added part is not seen", "releases/folder.py", 'startswith(("_", "."))',
          'startswith(("_", ".", "m"))', f"{LINES}::test_a_folder_is_known_by_all_its_parts"),
]  # fmt: skip
