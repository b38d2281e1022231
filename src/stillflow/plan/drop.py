"""drop: removes dead nodes: those whose outputs have no reader and that have no effects."""

from __future__ import annotations


def drop(plan):
    """Removes pure nodes that compute nothing of use and decide nothing. Targets stay: somebody asked for them."""
    wanted = set(plan.fetch_values)
    decided = set().union(*plan.fetch_guards)  # conditions on which something depends
    targets = set(plan.targets)
    kept = []
    for node in reversed(plan.nodes):
        is_needless = node.is_pure and not node.has_trait("is_check") and node.op not in targets
        if is_needless and wanted.isdisjoint(node.outputs) and decided.isdisjoint(node.conditions):
            continue
        wanted.update(node.inputs)
        decided.update(node.guard, *node.attrs.get("guards", ()))
        kept.append(node)
    plan.nodes = kept[::-1]
