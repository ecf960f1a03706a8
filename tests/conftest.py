"""Set-up that all tests share."""

from __future__ import annotations

from hypothesis import settings

# Kernels compile on first use, so the first example of a test may take seconds: no deadline.
settings.register_profile("querycloak", deadline=None, print_blob=True)
settings.load_profile("querycloak")
