"""The ledger: what a publisher has released, and what the next release may add."""
