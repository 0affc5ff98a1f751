"""Models of tf_keras in graphs: rebuilt layer by layer, with their losses and metrics.

`family.py` has the functions that both families have, and `checkpoints.py` reads and writes weights
and optimizers.
"""
