"""Set-up that all tests share."""

from __future__ import annotations

import os

from hypothesis import Phase, settings

# Kernels compile on first use, so the first example of a test may take seconds: no deadline. In CI the examples are the
# same in every run of the same tests; anywhere else they are new each time.
settings.register_profile("querycloak", deadline=None, print_blob=True, derandomize="CI" in os.environ)
# Seeded faults (tests/mutation): the same examples in every run, and no time spent on the smallest failing one.
settings.register_profile(
    "faults", deadline=None, derandomize=True, phases=(Phase.explicit, Phase.generate), report_multiple_bugs=False
)
settings.load_profile("querycloak")
