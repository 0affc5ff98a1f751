"""What commands print and write: results, errors, logs, charts."""
