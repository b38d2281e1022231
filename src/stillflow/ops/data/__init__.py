"""Data sets and their iterators as nodes."""
