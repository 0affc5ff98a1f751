"""Reads the sources of a codebase without executing them."""
