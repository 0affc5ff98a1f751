"""Sources of what is in memory or made by Python: arrays, frames, generators."""
