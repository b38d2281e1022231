"""The conversion of syntax trees: jumps become conditions, what depends on tensors calls of operators."""
