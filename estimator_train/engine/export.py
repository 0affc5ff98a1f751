"""Export (to come)."""
