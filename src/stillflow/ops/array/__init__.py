"""Ops that make, move and describe arrays."""
