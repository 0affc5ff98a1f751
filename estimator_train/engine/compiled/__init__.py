"""Training steps that XLA compiles: each step, or many steps over a chunk of the input."""
