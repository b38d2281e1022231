"""keras.backend.function in eager execution: the layers between its inputs and outputs are called again."""

from __future__ import annotations

from stillflow.eager.tensor import EagerTensor
from stillflow.graph import nest
from stillflow.graph.mode import eager_version_of
from stillflow.keras.backend.phases import phase_of_step
from stillflow.keras.backend.running import make_function
from stillflow.keras.engine.network import Network
from stillflow.ops.convert import convert_to_tensor


class LayerFunction:
    """A function of arrays, which calls layers.

    Args:
      inputs: tensors that models begin with; a number stands for the learning phase.
      outputs: tensors that layers have made of them, or a structure of some.
    """

    def __init__(self, inputs, outputs):
        self.inputs = nest.flatten(inputs)
        self.outputs = nest.flatten(outputs)
        self._structure = outputs
        self._is_phase = [isinstance(each, int) for each in self.inputs]
        self._network = Network([each for each in self.inputs if not isinstance(each, int)], self.outputs)

    def __call__(self, inputs):
        """The values of the outputs, in a structure like theirs, for values of the inputs."""
        values = list(zip(nest.flatten(inputs), self._is_phase, strict=False))
        arrays = [
            convert_to_tensor(value, tensor.dtype)
            for value, tensor in zip((v for v, is_phase in values if not is_phase), self._network.inputs, strict=True)
        ]
        phase = int(next((value for value, is_phase in values if is_phase), 0))
        with phase_of_step(phase):
            outputs = nest.flatten(self._network(arrays[0] if len(arrays) == 1 else arrays, training=bool(phase)))
        numbers = [each.numpy() if isinstance(each, EagerTensor) else each for each in outputs]
        return nest.pack_sequence_as(self._structure, numbers)


@eager_version_of(make_function)
def _function_of_layers(inputs, outputs, updates=None, name=None, **kwargs):
    if kwargs:
        raise ValueError(f"Session keyword arguments are not support during eager execution. You passed: {kwargs}")
    if updates:
        raise ValueError("In eager execution updates take place when they are called; a function has none.")
    return LayerFunction(inputs, outputs)
