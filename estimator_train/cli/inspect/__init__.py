"""Looking at a job before it is run: its data, its model, a dry run."""
