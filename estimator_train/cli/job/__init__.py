"""From flags to an estimator, its inputs and what goes with them."""
