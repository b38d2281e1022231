"""Patterns of nodes, found in a graph: the type of a node and the patterns of its inputs."""

from __future__ import annotations

import itertools

from stillflow.names import public

_MOST_INPUTS = 8


class Pattern:
    """What a node may match."""

    def match(self, op, tensor):
        """A MatchResult, or None; `tensor` is the output of the node that led to it, or None."""
        raise NotImplementedError('Method "match" not implemented.')


@public("contrib.quantize.python.graph_matcher.OpTypePattern")
class OpTypePattern(Pattern):
    """Nodes of a type.

    Args:
      op_type: the type, or several with | between them, or * for any.
      name: a name by which the match can be asked for it.
      inputs: patterns of all inputs, or their types; any inputs fit if there are none.
      ordered_inputs: whether their order matters.

    Raises ValueError for more than eight inputs.
    """

    def __init__(self, op_type, name=None, inputs=None, ordered_inputs=True):
        self._types, self._name = op_type.split("|"), name
        inputs = inputs or []
        if len(inputs) > _MOST_INPUTS:
            raise ValueError("Only < 8 inputs are allowed when ordered_inputs is False.")
        self._inputs = [each if isinstance(each, Pattern) else OpTypePattern(each) for each in inputs]
        self._is_ordered = ordered_inputs

    @property
    def name(self):
        """The name, or None."""
        return self._name

    def match(self, op, tensor):
        if self._types != ["*"] and op.type not in self._types:
            return None
        if self._inputs and len(op.inputs) != len(self._inputs):
            return None
        orders = [self._inputs] if self._is_ordered else itertools.permutations(self._inputs)
        for order in orders:
            found = self._match_inputs(op, tensor, order)
            if found is not None:
                return found
        return None

    def _match_inputs(self, op, tensor, patterns):
        found = MatchResult()
        found.add(self, op, tensor)
        for given, pattern in zip(op.inputs, patterns, strict=False):
            part = pattern.match(given.op, given)
            if part is None:
                return None
            found.merge_from(part)
        return found


@public("contrib.quantize.python.graph_matcher.OneofPattern")
class OneofPattern(Pattern):
    """The first of several patterns that matches."""

    def __init__(self, sub_patterns):
        self._patterns = sub_patterns

    def match(self, op, tensor):
        for pattern in self._patterns:
            found = pattern.match(op, tensor)
            if found is not None:
                return found
        return None


class MatchResult:
    """Which node and tensor were found for which pattern."""

    def __init__(self):
        self._found: dict = {}
        self._named: dict = {}

    def add(self, pattern, op, tensor):
        """Notes what a pattern has matched."""
        self._found[pattern] = (op, tensor)
        if pattern.name is not None:
            self._named[pattern.name] = pattern

    def merge_from(self, other):
        """Takes what another has found."""
        self._found.update(other._found)
        self._named.update(other._named)

    def _pair(self, pattern_or_name):
        if isinstance(pattern_or_name, Pattern):
            return self._found.get(pattern_or_name)
        if isinstance(pattern_or_name, str):
            return self._found.get(self._named.get(pattern_or_name))
        raise ValueError(f"pattern_or_name has type {type(pattern_or_name)}. Expect Pattern or str.")

    def get_op(self, pattern_or_name):
        """The node of a pattern, or None."""
        pair = self._pair(pattern_or_name)
        return pair[0] if pair else None

    def get_tensor(self, pattern_or_name):
        """The output of that node that was matched, or None."""
        pair = self._pair(pattern_or_name)
        return pair[1] if pair else None


@public("contrib.quantize.python.graph_matcher.GraphMatcher")
class GraphMatcher:
    """Finds the nodes that match a pattern."""

    def __init__(self, pattern):
        self._pattern = pattern

    def match_op(self, op):
        """The MatchResult of a node, or None."""
        return self._pattern.match(op, None)

    def match_ops(self, ops):
        """The MatchResults of those nodes that match, one after the other."""
        for op in ops:
            found = self.match_op(op)
            if found is not None:
                yield found

    def match_graph(self, graph):
        """The MatchResults of a graph's nodes, as far as there are now."""
        return self.match_ops(graph.get_operations())
