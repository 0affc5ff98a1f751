"""Signals that end a job, forced exits, and limits on waits and steps."""
