"""Pages need no library of charts: they are complete in a core install."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
sys.modules["vl_convert"] = None  # importing it fails
sys.path[:0] = {paths!r}
from pathlib import Path
from report.test_reproduction import found
from sample_reports import check, comparison, run
from querycloak.report.check_page import write_check_page
from querycloak.report.html import write_report
from querycloak.report.reproduction import write_reproduction
folder = Path({folder!r})
write_report(comparison(run("a"), run("b", relink=0.5)), folder)
write_check_page(check(), folder / "check.html")
write_reproduction(found(), folder)
"""


def test_every_page_is_written_with_its_pictures_without_a_library_of_charts(tmp_path):
    script = SCRIPT.format(paths=[path for path in sys.path if path], folder=str(tmp_path))
    subprocess.run([sys.executable, "-c", script], check=True)
    for name, pictures in (("report.html", 'class="plot"'), ("check.html", 'class="strip-plot"')):
        assert (tmp_path / name).read_text().count(pictures) > 2
    assert (tmp_path / "reproduction.html").read_text().count('class="plot"') == 4
    assert len(list(tmp_path.glob("fig-*.svg"))) == 4
