"""Sessions of trainings, and of models that stay open between calls."""
