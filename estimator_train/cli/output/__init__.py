"""Output of commands: results, errors, log lines, summaries."""
