"""Shared by all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# First examples read tables from disk, so no deadline. In CI the examples are the same every time:
# a failure there is the change's, and what random examples find at home becomes a test of its own.
settings.register_profile("home", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "home")
