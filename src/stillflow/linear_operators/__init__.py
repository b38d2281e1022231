"""Linear operators: matrices, or batches of them, that multiply and solve without being written out."""

from stillflow.linear_operators import dispatch  # noqa: F401  what functions of tensors do with operators
