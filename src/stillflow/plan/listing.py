"""listing: a plan as text, a line per step; what plan tests compare."""

from __future__ import annotations

from stillflow.graph.shape_inference import dims_text
from stillflow.plan.emit import numbered_conditions
from stillflow.plan.guards import to_be_checked


def listing(plan) -> str:
    """The plan's feeds and fetches, then its steps in the order in which they run."""
    feeds = ",".join(_typed(value) for value in plan.feed_values)
    fetches = ",".join(value.name for value in plan.fetch_values)
    lines = [f"plan  fetches={fetches}  feeds={feeds}"]
    conditions = numbered_conditions(plan) if plan.is_guarded else {}

    def numbers(guard):
        return ",".join(sorted(str(conditions[condition]) for condition in to_be_checked(guard)))

    for index, node in enumerate(plan.nodes):
        inputs = " ".join(_operand(value) for value in node.inputs)
        outputs = ", ".join(_typed(value) for value in node.outputs)
        name = getattr(node.lowering, "name", None) or getattr(node.lowering, "kind", node.type)
        decided = f"  decides {numbers(node.conditions)}" if node.conditions else ""
        guard = f"  if {numbers(node.guard)}" if to_be_checked(node.guard) else ""
        lines.append(f"{index:3d}  {name}  {inputs}  -> {outputs}{decided}{guard}")
        if node.type == "_Elementwise":
            lines.append(f"       {node.attrs['program'].decode()}")
    return "\n".join(lines)


def _typed(value):
    return f"{value.name}:{value.dtype.name}{dims_text(value.dims)}"


def _operand(value):
    if value.constant is not None:
        return f"const{dims_text(value.dims)}" if value.constant.size != 1 else f"{value.constant.item()}"
    return f"&{value.name}" if value.is_reference else value.name
