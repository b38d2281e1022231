"""Functions that build several nodes."""
