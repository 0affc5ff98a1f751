"""From an input_fn to tensors, and where an input goes on after a restart."""
