"""Starts the processes of a cluster on this machine, or writes a manifest for a scheduler."""
