"""EstimatorSpec, the modes, and export outputs."""
