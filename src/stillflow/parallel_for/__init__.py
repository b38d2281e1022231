"""Loops whose rounds do not depend on each other, vectorized: pfor, vectorized_map, jacobians."""
