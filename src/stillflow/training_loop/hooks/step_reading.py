"""How hooks read the global step: by one tensor of the graph, as it is before the step that they are part of."""

from __future__ import annotations

from stillflow.training.global_step import get_or_create_global_step_read


def step_tensor(hook_name):
    """The tensor, made if need be. Raises RuntimeError if the graph counts no steps."""
    found = get_or_create_global_step_read()
    if found is None:
        raise RuntimeError(f"Global step should be created to use {hook_name}.")
    return found
