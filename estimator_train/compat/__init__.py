"""Ways in for code that knows the original's names."""
