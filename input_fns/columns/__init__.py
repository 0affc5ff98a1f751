"""Sources that read tables of Apache Arrow: Parquet, IPC files and streams."""
