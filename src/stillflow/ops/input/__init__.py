"""Data on its way into a graph: queues and readers."""
