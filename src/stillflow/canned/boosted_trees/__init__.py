"""Boosted trees: ensembles as what a session initializes and saves, and the Estimators that grow them."""
