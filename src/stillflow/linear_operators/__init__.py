"""Linear operators: matrices, or batches of them, that multiply and solve without being written out."""

# Loaded with any operator: what functions of tensors do with operators, and what two kinds of operators give together.
from stillflow.linear_operators import dispatch, rules  # noqa: F401
