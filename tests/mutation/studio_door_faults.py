"""Seeded faults in the studio's doors: requests that nobody may make, texts that become pages."""

from __future__ import annotations

from mutation.fault import Fault, fault

__all__ = ["STUDIO_DOORS"]

SECURITY, TESTS = "studio/security.py", "studio/test_security.py"

STUDIO_DOORS: list[Fault] = [
    fault(
        "doors: any name of the host",
        SECURITY,
        '        if headers.getlist("host") not in [[host] for host in self._keys.hosts]:',
        '        if not headers.getlist("host"):',
        f"{TESTS}::test_a_foreign_host_is_refused",
    ),
    fault(
        "doors: a token is not compared",
        SECURITY,
        "        if len(given) != 1 or not _equal(given[0], self._keys.token):",
        "        if len(given) != 1:",
        f"{TESTS}::test_a_wrong_token_gets_no_cookie",
    ),
    fault(
        "doors: the token is the cookie",
        SECURITY,
        "            if found is not None and _equal(found.value, self._keys.session):",
        "            if found is not None and found.value in {self._keys.session, self._keys.token}:",
        f"{TESTS}::test_no_page_without_the_cookie_or_with_a_wrong_one",
    ),
    fault(
        "doors: pages without a cookie",
        SECURITY,
        '        if not path.startswith(f"{self._keys.room}/") or not self._has_cookie(headers):',
        '        if not path.startswith(f"{self._keys.room}/"):',
        f"{TESTS}::test_no_page_without_the_cookie_or_with_a_wrong_one",
    ),
    fault(
        "doors: another port may write",
        SECURITY,
        '    if site not in {None, "same-origin"} or origin not in ([], [f"http://{headers[\'host\']}"]):',
        '    if site == "cross-site" or origin not in ([], [f"http://{headers[\'host\']}"]):',
        f"{TESTS}::test_what_changes_something_must_come_from_our_own_page",
    ),
    fault(
        "doors: any origin may write",
        SECURITY,
        '    if site not in {None, "same-origin"} or origin not in ([], [f"http://{headers[\'host\']}"]):',
        '    if site not in {None, "same-origin"}:',
        f"{TESTS}::test_what_changes_something_must_come_from_our_own_page",
    ),
    fault(
        "doors: who says nothing may write",
        SECURITY,
        "    return bool(site or origin)",
        "    return True",
        f"{TESTS}::test_what_changes_something_must_come_from_our_own_page",
    ),
    fault(
        "doors: the cookie goes to every port",
        SECURITY,
        "path=self._keys.room, httponly=True",
        "httponly=True",
        f"{TESTS}::test_the_first_address_gives_the_cookie_and_loses_the_token",
    ),
    fault(
        "doors: scripts of the check run",
        SECURITY,
        '    sandbox="allow-same-origin",',
        '    sandbox="allow-same-origin allow-scripts",',
        f"{TESTS}::test_the_page_of_the_check_can_run_no_script",
    ),
    fault(
        "doors: pages are not escaped",
        "studio/pages.py",
        "        autoescape=True,",
        "        autoescape=False,",
        f"{TESTS}::test_hostile_texts_are_texts",
    ),
    fault(
        "doors: rows are shown unmasked",
        "studio/run_routes.py",
        'desk.rows(run, masked=not values["shown"])',
        "desk.rows(run, masked=False)",
        f"{TESTS}::test_texts_are_masked_until_they_are_asked_for",
    ),
    fault(
        "doors: the terminal learns what an error says",
        "studio/app.py",
        'print(f"querycloak studio: {_where(error)}", file=sys.stderr)',
        'print(f"querycloak studio: {error}", file=sys.stderr)',
        f"{TESTS}::test_a_fault_of_ours_is_a_sentence_and_the_terminal_learns_no_text",
    ),
]
