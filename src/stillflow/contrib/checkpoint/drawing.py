"""The objects of a checkpoint as a graph in the language of Graphviz."""

from __future__ import annotations

from stillflow.names import public
from stillflow.saver.checkpoint_reader import CheckpointReader
from stillflow.saver.objects.inventory import object_metadata


@public("contrib.checkpoint.dot_graph_from_checkpoint")
def dot_graph_from_checkpoint(save_path):
    """A graph in DOT format of the objects in a checkpoint that tf.train.Checkpoint has written, as a str.

    Variables are blue, slots of optimizers orange, optimizers red; what an object depends on is an arrow with a name.
    """
    reader = CheckpointReader(save_path)
    objects = object_metadata(save_path)
    shapes = reader.get_variable_to_shape_map()
    dtypes = reader.get_variable_to_dtype_map()
    slots = {slot.slot_variable_node_id for node in objects.nodes for slot in node.slot_variables}
    lines = []
    for number, node in enumerate(objects.nodes):
        look = ' width=.25 color=red,tooltip="Optimizer"' if node.slot_variables else " width=.25"
        if [attribute.name for attribute in node.attributes] == ["VARIABLE_VALUE"]:
            (attribute,) = node.attributes
            kind, color = ("Slot variable", "orange") if number in slots else ("Variable", "blue")
            shape, dtype = shapes[attribute.checkpoint_key], dtypes[attribute.checkpoint_key].name
            tooltip = f"{kind} {_quoted(attribute.full_name)} shape={shape} {dtype}"
            look = f' color={color} width=.25 tooltip="{tooltip}"'
        lines.append(f'N_{number} [shape=point label=""{look}]')
        for child in node.children:
            lines.append(f'N_{number} -> N_{child.node_id} [label="{_quoted(child.local_name)}"]')
        for slot in node.slot_variables:
            of = slot.slot_variable_node_id
            lines.append(f'N_{number} -> N_{of} [label="{_quoted(slot.slot_name)}" style=dotted]')
            lines.append(f"N_{slot.original_variable_node_id} -> N_{of} [style=dotted]")
    return "\n".join(["digraph {", *lines, "}", ""])


def _quoted(name):
    return name.replace('"', '\\"')
