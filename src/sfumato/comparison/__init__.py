"""Compare policies with each other and releases with earlier ones."""
