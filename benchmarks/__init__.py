"""What Sfumato costs, measured: `python -m benchmarks`. The rules are in README.md."""
