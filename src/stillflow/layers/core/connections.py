"""How layers are connected: nodes that record their calls, and masks that tensors carry from one to the next."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.graph import nest
from stillflow.graph.name_scope import name_scope
from stillflow.layers.core.attributes import LayerAttributes
from stillflow.layers.core.nodes import KerasHistory, Node
from stillflow.platform.argument_specs import getfullargspec


def default(method):
    """Marks a method that subclasses may replace, so that one can tell whether they did."""
    method._is_default = True
    return method


class Connected(LayerAttributes):
    """What a layer knows of its calls. Calls are recorded where all inputs come from layers that record theirs."""

    _inbound_nodes: list
    _outbound_nodes: list
    supports_masking: bool
    stateful: bool
    call: Any

    @property
    def inbound_nodes(self):
        return self._inbound_nodes

    @property
    def outbound_nodes(self):
        return self._outbound_nodes

    def _record_call(self, inputs, outputs, arguments):
        """Adds a node, and returns the outputs. Those that are inputs are copied: they have a history already."""
        given = {id(tensor) for tensor in nest.flatten(inputs)}

        def own(tensor):
            if id(tensor) not in given:
                return tensor
            with name_scope(self.name):
                return ops.identity(tensor)

        outputs = nest.map_structure(own, outputs)
        self._add_inbound_node(inputs, outputs, arguments)
        return outputs

    def _add_inbound_node(self, input_tensors, output_tensors, arguments=None):
        Node(self, input_tensors, output_tensors, arguments)
        for index, tensor in enumerate(nest.flatten(output_tensors)):
            tensor._keras_history = KerasHistory(self, len(self._inbound_nodes) - 1, index)

    # ---- Inputs and outputs ---------------------------------------------------------------------------------

    def _at_node(self, index, attribute, what):
        if not self._inbound_nodes:
            raise RuntimeError(f"The layer has never been called and thus has no defined {what}.")
        if len(self._inbound_nodes) <= index:
            raise ValueError(
                f"Asked to get {what} at node {index}, but the layer has only {len(self._inbound_nodes)} inbound "
                "nodes."
            )
        found = getattr(self._inbound_nodes[index], attribute)
        return found[0] if isinstance(found, list) and len(found) == 1 else found

    def get_input_at(self, node_index):
        """The input tensors of one call. Raises RuntimeError or ValueError if there was no such call."""
        return self._at_node(node_index, "input_tensors", "input")

    def get_output_at(self, node_index):
        """The output tensors of one call. Raises RuntimeError or ValueError if there was no such call."""
        return self._at_node(node_index, "output_tensors", "output")

    def get_input_shape_at(self, node_index):
        """The shapes of one call's inputs. Raises RuntimeError or ValueError if there was no such call."""
        return self._at_node(node_index, "input_shapes", "input shape")

    def get_output_shape_at(self, node_index):
        """The shapes of one call's outputs. Raises RuntimeError or ValueError if there was no such call."""
        return self._at_node(node_index, "output_shapes", "output shape")

    @property
    def input(self):
        """The input tensors of the first call. Raises AttributeError if none was recorded."""
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} is not connected, no input to return.")
        return self.get_input_at(0)

    @property
    def output(self):
        """The output tensors of the first call. Raises AttributeError if none was recorded."""
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} has no inbound nodes.")
        return self.get_output_at(0)

    def _shapes_of_all_calls(self, direction, attribute, opening):
        if not self._inbound_nodes:
            raise AttributeError(f"The layer has never been called and thus has no defined {direction} shape.")
        shapes = [getattr(node, attribute) for node in self._inbound_nodes]
        if len({str(shape) for shape in shapes}) > 1:
            raise AttributeError(
                f'The layer "{opening} has multiple inbound nodes, with different {direction} shapes. Hence the '
                f'notion of "{direction} shape" is ill-defined for the layer. Use '
                f"`get_{direction}_shape_at(node_index)` instead."
            )
        return shapes[0]

    @property
    def input_shape(self):
        """The inputs' shapes, as tuples, if they were the same in all calls; else raises AttributeError."""
        return self._shapes_of_all_calls("input", "input_shapes", self.name)

    @property
    def output_shape(self):
        """The outputs' shapes, as tuples, if they were the same in all calls; else raises AttributeError."""
        return self._shapes_of_all_calls("output", "output_shapes", f'{self.name}"')

    # ---- Masks ----------------------------------------------------------------------------------------------

    @default
    def compute_mask(self, inputs, mask=None):
        """The mask of the outputs: that of the inputs. Raises TypeError if there is one and none is supported."""
        if self.supports_masking:
            return mask
        if any(each is not None for each in nest.flatten(mask)):
            raise TypeError(f"Layer {self.name} does not support masking, but was passed an input_mask: {mask}")
        return None

    def get_input_mask_at(self, node_index):
        """The masks of one call's inputs, None where there is none."""
        return _masks(self.get_input_at(node_index))

    def get_output_mask_at(self, node_index):
        """The masks of one call's outputs, None where there is none."""
        return _masks(self.get_output_at(node_index))

    @property
    def input_mask(self):
        """The masks of the first call's inputs. Raises AttributeError if no call was recorded."""
        return _masks(self.input)

    @property
    def output_mask(self):
        """The masks of the first call's outputs. Raises AttributeError if no call was recorded."""
        return _masks(self.output)

    def _masks_of_inputs(self, inputs):
        """The masks that the inputs carry, or None if there are none."""
        masks = nest.map_structure(_mask, inputs)
        return None if all(mask is None for mask in nest.flatten(masks)) else masks

    def _set_masks(self, inputs, outputs, masks_of_inputs):
        flat = nest.flatten(outputs)
        if getattr(self, "_compute_output_and_mask_jointly", False) or all(_mask(each) is not None for each in flat):
            return
        masks = [None] * len(flat)
        if self.supports_masking or not hasattr(self.compute_mask, "_is_default"):
            computed = self.compute_mask(inputs, masks_of_inputs)
            if computed is not None:
                masks = nest.flatten(computed)
        for output, mask in zip(flat, masks, strict=False):
            if hasattr(output, "__dict__"):
                output._keras_mask = mask

    # ---- Arguments of call ----------------------------------------------------------------------------------

    @property
    def _call_fn_args(self):
        return self._call_signature()[0]

    @property
    def _call_accepts_kwargs(self):
        return self._call_signature()[1]

    def _call_signature(self):
        """The names of the arguments of `call`, and whether it takes any others. Kept, as each call asks."""
        found = self.__dict__.get("_call_arguments")
        if found is None:
            spec = getfullargspec(self.call)
            names = spec.args[1:] if spec.args and spec.args[0] == "self" else spec.args
            found = self.__dict__["_call_arguments"] = names, spec.varkw is not None
        return found

    def _expects(self, argument):
        return argument in self._call_fn_args or self._call_accepts_kwargs

    @property
    def _expects_training_arg(self):
        return self._expects("training")

    def _given(self, argument, args, kwargs):
        """(whether an argument of `call` besides the inputs was passed, its value)."""
        if argument in kwargs:
            return True, kwargs[argument]
        by_position = dict(zip(self._call_fn_args[1:], args, strict=False))
        return argument in by_position, by_position.get(argument)


def _mask(tensor):
    return getattr(tensor, "_keras_mask", None)


def _masks(tensors):
    return [_mask(tensor) for tensor in tensors] if isinstance(tensors, list) else _mask(tensors)
