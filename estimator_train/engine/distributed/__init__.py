"""Training with other processes: synchronous workers, and parameter servers."""
