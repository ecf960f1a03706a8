"""Whether kernels are compiled: tests that are about numbers, not lines, take smaller ones where they are not."""

from __future__ import annotations

import os

JIT = os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
