"""Hooks that end a training early: by metrics, by time, at a checkpoint."""
