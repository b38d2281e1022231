"""Updates of variables by optimizers."""
