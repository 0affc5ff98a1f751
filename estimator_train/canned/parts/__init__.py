"""What the canned estimators are made of."""
