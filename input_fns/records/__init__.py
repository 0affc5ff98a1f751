"""Sources of files of records: TFRecord, CSV, text."""
