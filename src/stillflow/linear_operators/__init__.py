"""Linear operators: matrices, or batches of them, that multiply and solve without being written out."""
