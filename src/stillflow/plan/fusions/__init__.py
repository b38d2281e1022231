"""Fusions: programs that a kernel of their own computes faster than their nodes one by one, to the same bits."""

from __future__ import annotations

import contextlib

from stillflow.plan.elementwise import fuse_elementwise
from stillflow.plan.fusions.bottom_k import fuse_bottom_k
from stillflow.plan.fusions.elementwise import fuse_operations
from stillflow.plan.fusions.nce_loss import fuse_nce_loss
from stillflow.plan.fusions.scaled_scatter import fuse_scaled_scatter
from stillflow.plan.verify import verify

__all__ = ["FUSIONS", "fuse", "lower_elementwise", "without"]

# In the order in which they look for their places. Each is called with the plan and with `reduce(plan)`, the passes
# that the plan has been through.
FUSIONS = {
    "nce_loss": fuse_nce_loss,
    "scaled_scatter": lambda plan, reduce: fuse_scaled_scatter(plan),
    "bottom_k": lambda plan, reduce: fuse_bottom_k(plan),
    "elementwise_operations": lambda plan, reduce: fuse_operations(plan),
}
# Chains are joined last: what remains of elementwise nodes is lowered there.
CHAINS = "elementwise_chains"

_switched_off: set = set()


@contextlib.contextmanager
def without(*names):
    """A context in which plans are compiled without the fusions of these names; for tests, and for all sessions.

    Plans that have been compiled before stay as they are. Raises KeyError for a name that no fusion has.
    """
    for name in names:
        if name != CHAINS and name not in FUSIONS:
            raise KeyError(f"There is no fusion {name!r}")
    before = set(_switched_off)
    _switched_off.update(names)
    try:
        yield
    finally:
        _switched_off.clear()
        _switched_off.update(before)


def fuse(plan, reduce):
    """Puts every fusion in its places; `reduce(plan)` is what the plan has been through."""
    for name, apply in FUSIONS.items():
        if name not in _switched_off:
            apply(plan, reduce)
            verify(plan, name)


def lower_elementwise(plan):
    """Makes elementwise nodes what the engine runs: chains of them one kernel, unless that is switched off."""
    fuse_elementwise(plan, joins=CHAINS not in _switched_off)
    verify(plan, CHAINS)
