"""AutoCastVariable: a variable that is read as of another type where the graph says so."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.variables.resource_variable import ResourceVariable, is_resource_variable


@public("python.keras.mixed_precision.experimental.autocast_variable.AutoCastVariable")
class AutoCastVariable(ResourceVariable):
    """A variable that layers with mixed precision read as of the type that they compute with.

    It shares the place of another variable. What changes it changes that one, with values of that one's type.

    Args:
      variable: a resource variable of floating numbers. Raises ValueError for others.
    """

    def __init__(self, variable):
        if not is_resource_variable(variable):
            raise ValueError(f"variable must be of type tf.ResourceVariable, but got: {variable}")
        if not variable.dtype.is_floating:
            raise ValueError(f"variable must be a floating point variable but has type: {variable.dtype.name}")
        self.__dict__.update(variable.__dict__)
        self._variable = variable  # which owns the place

    def _read_dtype(self):
        return get_default_graph()._auto_cast_variable_read_dtype or self._dtype

    @property
    def dtype(self):
        """The type that the variable is read as."""
        return self._read_dtype()

    @property
    def true_dtype(self):
        """The type that the variable has."""
        return self._dtype

    def _cast(self, value):
        dtype = self._read_dtype()
        if dtype == self._dtype:
            return value
        graph = get_default_graph()
        with graph.colocate_with(None, ignore_existing=True), graph.device(value.device):
            return ops.cast(value, dtype)

    def value(self):
        return self._cast(super().value())

    def read_value(self):
        return self._cast(super().read_value())

    def sparse_read(self, indices, name=None):
        return self._cast(super().sparse_read(indices, name))

    def gather_nd(self, indices, name=None):
        return self._cast(super().gather_nd(indices, name))

    def __repr__(self):
        text = super().__repr__().replace("<tf.Variable", "<AutoCastVariable", 1)
        dtype = f"dtype={self.dtype.name}"
        return text.replace(dtype, f"{dtype} true_dtype={self._dtype.name}", 1)
