"""Fusions: programs that a kernel of their own computes faster than their nodes one by one, to the same bits."""

from __future__ import annotations

from stillflow.plan.fusions.bottom_k import fuse_bottom_k
from stillflow.plan.fusions.elementwise import fuse_operations
from stillflow.plan.fusions.nce_loss import fuse_nce_loss
from stillflow.plan.fusions.scaled_scatter import fuse_scaled_scatter

__all__ = ["fuse"]


def fuse(plan, reduce):
    """Puts every fusion in its places; `reduce(plan)` is what the plan has been through."""
    fuse_nce_loss(plan, reduce)
    fuse_scaled_scatter(plan)
    fuse_bottom_k(plan)
    fuse_operations(plan)
