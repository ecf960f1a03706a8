"""Where the project is, and the real logs next to it; tests that use those are skipped where they are missing."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
EXCITE = DATA / "excite-small.log"
