"""Many steps in one session call: the loop in the graph and what asks it to stop."""
