"""What can be told from the sources of a codebase; nothing is executed."""
