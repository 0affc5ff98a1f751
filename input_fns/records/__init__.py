"""Sources that read files of records: TFRecord, CSV, text."""
