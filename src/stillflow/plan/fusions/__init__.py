"""Fusions: patterns of nodes that one kernel computes faster than the nodes do one by one, to the same bits.

STILLFLOW_WITHOUT_FUSIONS in the environment switches fusions off: their names, separated by commas. It is read
whenever a plan is compiled.
"""

from __future__ import annotations

import os

from stillflow.plan.elementwise import fuse_elementwise
from stillflow.plan.fusions.bottom_k import fuse_bottom_k
from stillflow.plan.fusions.elementwise import fuse_operations
from stillflow.plan.fusions.nce_loss import fuse_nce_loss
from stillflow.plan.fusions.scaled_scatter import fuse_scaled_scatter
from stillflow.plan.verify import verify

__all__ = ["FUSIONS", "fuse", "lower_elementwise", "names"]

# Applied in this order. Each takes the plan and `reduce(plan)`, the passes that the plan has been through.
FUSIONS = {
    "nce_loss": fuse_nce_loss,
    "scaled_scatter": lambda plan, reduce: fuse_scaled_scatter(plan),
    "bottom_k": lambda plan, reduce: fuse_bottom_k(plan),
    "elementwise_operations": lambda plan, reduce: fuse_operations(plan),
}
# The last fusion is also the lowering of elementwise nodes, which remains when it is switched off.
_CHAINS = "elementwise_chains"


def names():
    """The names of all fusions."""
    return [*FUSIONS, _CHAINS]


def fuse(plan, reduce):
    """Applies every fusion that is not switched off; `reduce(plan)` runs the passes that the plan has been through.

    Raises ValueError if STILLFLOW_WITHOUT_FUSIONS names a fusion that does not exist.
    """
    switched_off = _switched_off()
    for name, apply in FUSIONS.items():
        if name not in switched_off:
            apply(plan, reduce)
            verify(plan, name)


def lower_elementwise(plan):
    """Lowers elementwise nodes to the kernel that runs chains of them; each is its own chain if that is switched off.

    Raises ValueError as `fuse` does.
    """
    fuse_elementwise(plan, joins=_CHAINS not in _switched_off())
    verify(plan, _CHAINS)


def _switched_off():
    text = os.environ.get("STILLFLOW_WITHOUT_FUSIONS")
    if not text:
        return ()
    found = [name.strip() for name in text.split(",")]
    for name in found:
        if name not in names():
            raise ValueError(f"STILLFLOW_WITHOUT_FUSIONS names {name!r}, which is not one of {', '.join(names())}")
    return found
