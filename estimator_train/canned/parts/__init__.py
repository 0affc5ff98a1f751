"""Parts of canned estimators: columns, models, layers, optimizers, specs."""
