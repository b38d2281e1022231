"""What operators that are made of several have in common: checks, hints, shapes."""

from __future__ import annotations

import functools
import operator as arithmetic

from stillflow import ops
from stillflow.composites.shape_checks import assert_proper_iterable
from stillflow.linear_operators.base import LinearOperator

_WORDS = {
    "is_non_singular": "non-singular",
    "is_self_adjoint": "self-adjoint",
    "is_positive_definite": "positive definite",
}


class OperatorList(LinearOperator):
    """An operator with a list of operators, of one type."""

    def _set_operators(self, operators, hints, what):
        """Keeps a list of operators; returns `hints` with what follows from theirs for `what` they make.

        Raises ValueError for an empty list or a contradicting hint, TypeError for several types.
        """
        assert_proper_iterable(operators)
        operators = list(operators)
        if not operators:
            raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
        self._operators = operators
        if any(each.dtype != operators[0].dtype for each in operators):
            found = "   ".join(str((each.name, each.dtype)) for each in operators)
            raise TypeError(f"Expected all operators to have the same dtype.  Found {found}")
        for hint in hints:
            if all(getattr(each, hint) for each in operators):
                if hints[hint] is False:
                    raise ValueError(f"The {what} of {_WORDS[hint]} operators is always {_WORDS[hint]}.")
                hints[hint] = True
        return hints

    def _parents(self):
        return [parent for each in self._operators for parent in each.graph_parents]

    @property
    def operators(self):
        return self._operators

    def _combined(self, method, combine=arithmetic.mul):
        """What a method gives for each operator, all multiplied or otherwise combined."""
        first, *rest = self._operators
        result = getattr(first, method)()
        for each in rest:
            result = combine(result, getattr(each, method)())
        return result

    def _broadcast_batch_shape(self):
        return functools.reduce(ops.broadcast_static_shape, (each.batch_shape for each in self._operators))

    def _batch_shape_of_sum(self):
        """The shape of the batch as a tensor: that of a sum of zeros."""
        zeros = ops.zeros(self._operators[0].batch_shape_tensor())
        for each in self._operators[1:]:
            zeros = zeros + ops.zeros(each.batch_shape_tensor())
        return ops.shape(zeros)
