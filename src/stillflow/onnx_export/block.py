"""Block: the nodes and constants of an ONNX graph, or of the body of a loop or branch, while it is being made."""

from __future__ import annotations

import itertools
import re

import numpy as np

_UNSAFE = re.compile(r"[^\w./:-]")


class Names:
    """Names that are unique in a model, the bodies of its loops included."""

    def __init__(self):
        self._taken = set()

    def unique(self, wanted):
        wanted = _UNSAFE.sub("_", wanted)
        candidates = itertools.chain([wanted], (f"{wanted}_{i}" for i in itertools.count(1)))
        name = next(candidate for candidate in candidates if candidate not in self._taken)
        self._taken.add(name)
        return name


class Block:
    """A graph under construction. Values go by their names, as in ONNX."""

    def __init__(self, names: Names):
        self.names = names
        self.nodes: list = []
        self.initializers: list = []
        self._constants: dict = {}
        self._permuted: dict = {}

    def add(self, op_type, *inputs, outputs=1, name="", **attrs):
        """Adds a node; returns the name of its output, or a list of them. Optional inputs are "" where left out."""
        from onnx import helper

        if op_type == "Transpose":
            undone = self._permuted.get(inputs[0])
            if undone is not None and [undone[1][axis] for axis in attrs["perm"]] == sorted(attrs["perm"]):
                return undone[0]
        results = [self.names.unique(name or op_type.lower()) for _ in range(outputs)]
        node = helper.make_node(op_type, list(inputs), results, name=results[0], **attrs)
        self.nodes.append(node)
        if op_type == "Transpose":
            self._permuted[results[0]] = (inputs[0], attrs["perm"])
        return results[0] if outputs == 1 else results

    def constant(self, value, dtype=None, name="const"):
        """The name of a constant. Small ones are made once."""
        from onnx import numpy_helper

        value = np.asarray(value, dtype)
        key = (value.dtype.str, value.shape, value.tobytes()) if value.nbytes <= 64 else None
        if key in self._constants:
            return self._constants[key]
        result = self.names.unique(name)
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), result))
        if key is not None:
            self._constants[key] = result
        return result

    def graph(self, name, inputs, outputs):
        """The GraphProto of the nodes. `inputs` and `outputs` are ValueInfoProtos."""
        from onnx import helper

        return helper.make_graph(self.nodes, name, inputs, outputs, self.initializers)
