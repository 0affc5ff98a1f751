"""From an input_fn to tensors, and where an input continues after a restart."""
