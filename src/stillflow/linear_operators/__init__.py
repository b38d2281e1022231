"""Linear operators: matrices, or batches of them, that multiply and solve without being written out."""

# Loaded with any operator: functions of tensors that take operators, and rules for pairs of operators.
from stillflow.linear_operators import dispatch, rules  # noqa: F401
