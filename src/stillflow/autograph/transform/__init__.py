"""The conversion of syntax trees: of jumps into conditions, and of what depends on tensors into calls of operators."""
