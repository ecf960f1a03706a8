"""One policy: whatever the lines, batch and live accept the same records, leave the same out, and say the same."""

from __future__ import annotations

from random import Random

import pytest
from line_fuzz import disagreement, make_file


def agree(folder, lines: int, seed: int, sizes=(1, 5, 60, 400)) -> None:
    done, number = 0, 0
    while done < lines:
        random = Random(f"{seed}/{number}")
        file = make_file(random, random.choice(sizes))
        differ = disagreement(file, folder, random)
        if differ:
            (folder / "log").write_bytes(file.data)
            raise AssertionError(f"file {seed}/{number}: {differ}")
        done += file.lines
        number += 1


def test_batch_and_live_agree(tmp_path):
    agree(tmp_path, 2000, seed=1)


@pytest.mark.slow
def test_batch_and_live_agree_on_a_million_lines(tmp_path):
    agree(tmp_path, 1_000_000, seed=2, sizes=(5, 60, 5000, 5000))
