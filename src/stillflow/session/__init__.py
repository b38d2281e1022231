"""Runs a graph: sessions, feeds, fetches, partial runs, and what is measured while they run."""
