"""Boosted trees: ensembles, the sums by which they grow, and quantiles of features."""
