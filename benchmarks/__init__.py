"""Speed and size beside their budgets: run each with ``python -m benchmarks.NAME``."""
