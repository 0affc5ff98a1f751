"""Writing, checking, reading and keeping checkpoints."""
