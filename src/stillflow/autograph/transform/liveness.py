"""live_before: the names whose values statements, or what comes after them, may still read."""

from __future__ import annotations

import ast

from stillflow.autograph.transform.names import blocks, bound, reads


def live_before(statements, after):
    """The names that are live before statements without jumps, given those that are live after them."""
    for statement in reversed(statements):
        after = _before(statement, after)
    return after


def live_in_loop(loop, after):
    """The names that are live before each round of a loop, and after the last."""
    test = loop.test if isinstance(loop, ast.While) else getattr(loop, "extra_test", None)
    live = after | reads(test)
    targets = bound(loop.target)[0] if isinstance(loop, ast.For) else set()
    while True:
        before = live | (live_before(loop.body, live) - targets)
        if before == live:
            return live
        live = before


def _before(statement, after):
    if isinstance(statement, ast.If):
        return (
            reads(statement.test) | live_before(statement.body, after) | live_before(statement.orelse, after)
        )  # fmt: skip
    if isinstance(statement, ast.While):
        return live_in_loop(statement, live_before(statement.orelse, after))
    if isinstance(statement, ast.For):
        return live_in_loop(statement, live_before(statement.orelse, after)) | reads(statement.iter)
    inner = blocks(statement)
    if not inner:
        names, _ = bound(statement)
        kept = after if isinstance(statement, ast.Delete) else after - names
        return kept | reads(statement)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        names, _ = bound(*(item.optional_vars for item in statement.items if item.optional_vars))
        inside = live_before(statement.body, after) - names
        return inside | reads(*(item.context_expr for item in statement.items))
    # Whatever may be left at any point, such as by an exception: all that a part reads is live before it.
    return after | reads(statement).union(*(live_before(block, after) for block in inner))
