"""Signals that end a job, exits that nothing can stop, and steps that take too long."""
