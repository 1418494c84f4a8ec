"""The arrow engine: files and in-memory tables, streamed as Arrow batches."""
