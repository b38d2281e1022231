"""Data sets: pipelines of elements that are described in the graph and gone through by iterators."""
