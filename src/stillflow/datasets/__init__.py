"""Data sets: input pipelines described in the graph and traversed by iterators."""
