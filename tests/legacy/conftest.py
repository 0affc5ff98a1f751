"""Fixture that runs an old program in another process."""

from legacy_programs import run  # noqa: F401
