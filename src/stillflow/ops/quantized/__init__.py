"""Arithmetic on real numbers that are kept as integers of few bits."""
