"""Figures: corpora, annotated conversations, metrics; what ``bmo eval`` and ``bmo bench`` print."""
