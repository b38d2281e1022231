"""prune: the operations that the fetches need, in the order in which they will run.

Order is by data and control dependence, ties broken by creation order: one fixed sequence.
"""

from __future__ import annotations

import heapq

from stillflow import errors


def needed_operations(fetches, targets, feeds, done=()):
    """Operations that `fetches` (tensors) and `targets` (operations) depend on, cut off at fed tensors.

    Nobody waits for operations that are `done`.

    Raises InvalidArgumentError if they depend on each other in a circle.
    """
    fed = set(feeds)
    stack = [tensor._op for tensor in fetches if tensor not in fed]
    stack.extend(targets)
    needed = set(stack)
    while stack:
        op = stack.pop()
        for tensor in op._inputs:
            if tensor not in fed and tensor._op not in needed:
                needed.add(tensor._op)
                stack.append(tensor._op)
        for control in op._control_inputs:
            if control not in needed and control not in done:
                needed.add(control)
                stack.append(control)
    ordered = sorted(needed, key=lambda op: op._id)
    if all(before._id < op._id for op in ordered for before in _predecessors(op, fed) if before in needed):
        return ordered
    return _sorted_by_dependence(ordered, fed)


def _predecessors(op, fed):
    """What runs before; the round before, in a loop, does not count."""
    is_merge = op._op_def.special == "merge"
    for tensor in op._inputs:
        if tensor not in fed and not (is_merge and tensor._op._op_def.special == "next_iteration"):
            yield tensor._op
    yield from op._control_inputs


def _sorted_by_dependence(ops, fed):
    waiting = {}
    waits = set(ops)
    successors: dict = {}
    for op in ops:
        before = set(_predecessors(op, fed)) & waits
        waiting[op] = len(before)
        for other in before:
            successors.setdefault(other, []).append(op)
    ready = [(op._id, op) for op in ops if waiting[op] == 0]
    heapq.heapify(ready)
    ordered = []
    while ready:
        _, op = heapq.heappop(ready)
        ordered.append(op)
        for after in successors.get(op, ()):
            waiting[after] -= 1
            if waiting[after] == 0:
                heapq.heappush(ready, (after._id, after))
    if len(ordered) < len(ops):
        stuck = [op for op in ops if waiting[op] > 0]
        message = f"Graph is invalid, contains a cycle with {len(stuck)} nodes"
        raise errors.make(errors.INVALID_ARGUMENT, message, stuck[0])
    return ordered
