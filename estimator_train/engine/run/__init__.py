"""What the verbs run: train, evaluate, predict."""
