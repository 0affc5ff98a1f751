"""Training with other processes: synchronous workers, and parameter servers.

The engine asks one object: that of `alone.py`, `synchronous.py` or `asynchronous.py`. The files
`ps_*` are about parameter servers and their workers (`ps_final_steps.py`: the end of a training).
"""
