"""Adapters to RL libraries, each importable only where its library is installed."""
