"""Queues, readers, lookup tables and accumulators: state of a session that is no variable."""
