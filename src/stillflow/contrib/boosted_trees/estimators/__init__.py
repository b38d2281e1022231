"""Estimators of boosted trees: their heads, model functions and hooks."""
