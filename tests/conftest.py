"""What all tests share: Hypothesis tries the same examples in every run."""

from hypothesis import settings

settings.register_profile("same_in_every_run", derandomize=True, deadline=None)
settings.load_profile("same_in_every_run")
