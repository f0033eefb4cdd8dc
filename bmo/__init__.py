"""BMO: a voice agent that remembers what matters about the person it talks with."""

__version__ = "0.1.0"
