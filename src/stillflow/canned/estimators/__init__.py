"""Ready-made Estimators: baseline, linear, deep, and both together."""
