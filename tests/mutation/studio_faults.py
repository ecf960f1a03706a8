"""Seeded faults in the studio: files that nobody may reach, guesses that publish people, runs that leave something."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["STUDIO"]

STUDIO: list[Fault] = [
    fault(
        "studio: a link leads out of the folder",
        "studio/folders.py",
        "        if not path.is_relative_to(base) or (base == self.folder and path.is_relative_to(self.work)):",
        "        if base == self.folder and path.is_relative_to(self.work):",
        "studio/test_folders.py::test_links_that_leave_the_folder_are_not_there",
    ),
    fault(
        "studio: a link leads to the truth of a run",
        "studio/folders.py",
        "        if not path.is_relative_to(base) or (base == self.folder and path.is_relative_to(self.work)):",
        "        if not path.is_relative_to(base):",
        "studio/test_folders.py::test_a_link_into_the_work_folder_is_not_followed",
    ),
    fault(
        "studio: a pipe is opened as a log",
        "studio/folders.py",
        "        if not stat.S_ISREG(found.st_mode):",
        "        if stat.S_ISDIR(found.st_mode):",
        "studio/test_folders.py::test_a_pipe_or_a_device_is_no_log",
    ),
    fault(
        "studio: a first line that may be data names the columns",
        "studio/looking.py",
        "    named = header or _like_names(head, rest)",
        "    named = True",
        "studio/test_looking.py::test_a_first_line_that_may_be_data_does_not_name_columns",
    ),
    fault(
        "studio: a session is suggested as the user",
        "studio/looking.py",
        '        if role in found and (again or (role == "user" and session_hint(names))):',
        "        if role in found and again:",
        "studio/test_looking.py::test_a_session_is_not_suggested_as_the_user",
    ),
    fault(
        "studio: digits of samples are shown",
        "studio/looking.py",
        '        return "0"',
        "        return character",
        "studio/test_looking.py::test_samples_show_the_form_and_not_the_value",
    ),
    fault(
        "studio: the header is guessed",
        "studio/roles.py",
        "    if asked is None and not look.named:",
        "    if asked is None and look.named:",
        "studio/test_looking.py::TestReading::test_the_header_must_be_said",
    ),
    fault(
        "studio: an answer that comes after cancel leaves the child alive",
        "studio/jobs.py",
        '        if entry.job.state == "cancelled":  # while its last answer was on the way',
        '        if entry.job.state == "failed":',
        "studio/test_jobs.py::test_what_is_cancelled_while_its_answer_is_on_the_way_stays_cancelled",
    ),
    fault(
        "studio: what a killed studio left of a truth stays",
        "studio/state.py",
        "                remove_folder(inner / UNFINISHED)",
        "                inner / UNFINISHED",
        "studio/test_studio_state.py::test_after_a_restart_nothing_runs",
    ),
    fault(
        "studio: an upload above the limit is kept",
        "studio/uploads.py",
        "                if size > limit:",
        "                if len(chunk) > limit:",
        "studio/test_folders.py::TestUploads::test_above_the_limit_nothing_is_kept",
    ),
]
