"""Staging areas: elements that are kept between steps, so that one is ready when a step begins."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("python.ops.data_flow_ops.BaseStagingArea")
class BaseStagingArea:
    """What staging areas have in common.

    Args:
      dtypes: the dtypes of the components of an element.
      shapes: their shapes, or None for any.
      names: names of the components; elements are then dictionaries by these names.
      shared_name: the name under which graphs of a session share the area.
      capacity: how many elements fit in; 0 for any number.
      memory_limit: how many bytes fit in; 0 for any number.

    Raises:
      ValueError: if there are not as many shapes, or names, as dtypes.
    """

    def __init__(self, dtypes, shapes=None, names=None, shared_name=None, capacity=0, memory_limit=0):
        if shared_name is None:
            self._name = get_default_graph().unique_name(type(self).__name__)
        elif isinstance(shared_name, str):
            self._name = shared_name
        else:
            raise ValueError("shared_name must be a string")
        self._dtypes = dtypes
        if shapes is not None and len(shapes) != len(dtypes):
            raise ValueError("StagingArea shapes must be the same length as dtypes")
        self._shapes = [TensorShape(shape) for shape in ([None] * len(dtypes) if shapes is None else shapes)]
        if names is not None and len(names) != len(dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._names = names
        self._capacity = capacity
        self._memory_limit = memory_limit
        with name_scope(None, f"{self._name}_root"):
            self._coloc_op = ops.no_op()

    @property
    def name(self):
        """The name of the area."""
        return self._name

    @property
    def dtypes(self):
        """The dtypes of the components."""
        return self._dtypes

    @property
    def shapes(self):
        """The shapes of the components."""
        return self._shapes

    @property
    def names(self):
        """The names of the components, or None."""
        return self._names

    @property
    def capacity(self):
        """How many elements fit in; 0 for any number."""
        return self._capacity

    @property
    def memory_limit(self):
        """How many bytes fit in; 0 for any number."""
        return self._memory_limit

    def _limits(self):
        return {"capacity": self._capacity, "memory_limit": self._memory_limit, "shared_name": self._name}

    def _named(self, name, action):
        return f"{self._name}_{action}" if name is None else name

    def _beside(self):
        return get_default_graph().colocate_with(self._coloc_op)

    def _components(self, vals, indices=None):
        """(the tensors of `vals`, which components they are)."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if not set(vals).issubset(self._names):
                raise ValueError(
                    "Keys in dictionary to put do not match names of staging area. "
                    f"Dictionary: ({sorted(vals)}), Queue: ({sorted(self._names)})"
                )
            indices = [index for index, name in enumerate(self._names) if name in vals]
            vals = [vals[self._names[index]] for index in indices]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a staging area with names")
            if indices is None:
                raise ValueError("Indices must be supplied when inserting a list of tensors")
            if len(indices) != len(vals):
                raise ValueError(f"Number of indices '{len(indices)}' doesn't match number of values '{len(vals)}'")
        if len(vals) > len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs '{len(vals)}' vs '{len(self._dtypes)}'")
        tensors = []
        for value, index in zip(vals, indices, strict=True):
            dtype = self._dtypes[index]
            if value.dtype != dtype:
                raise ValueError(f"Datatypes do not match. '{value.dtype}' != '{dtype}'")
            value.get_shape().assert_is_compatible_with(self._shapes[index])
            tensors.append(convert_to_tensor(value, dtype=dtype, name=f"component_{index}"))
        return tensors, indices

    def _transferred(self, tensors):
        """Tensors as they are where they are read, which may be another device than the area's."""
        if ops.no_op().device != self._coloc_op.device:
            return [ops.identity(tensor) for tensor in tensors]
        return list(tensors)

    def _element(self, tensors, indices):
        tensors = self._transferred(tensors if isinstance(tensors, (list, tuple)) else [tensors])
        for tensor, index in zip(tensors, indices, strict=True):
            tensor.set_shape(self._shapes[index])
        if self._names:
            return {self._names[index]: tensor for tensor, index in zip(tensors, indices, strict=True)}
        return tensors


def _values(vals):
    """What a scope is told of the values."""
    if isinstance(vals, dict):
        return list(vals.values())
    return list(vals) if isinstance(vals, (list, tuple)) else [vals]


@public("contrib.staging.StagingArea", "python.ops.data_flow_ops.StagingArea")
class StagingArea(BaseStagingArea):
    """Elements in the order in which they came. `put` waits for room, `get` and `peek` for elements."""

    def put(self, values, name=None):
        """The operation that puts an element in.

        Args:
          values: a tensor, a list of tensors, or a dictionary by the names of the area.

        Raises:
          ValueError: for values of other dtypes, shapes or names.
        """
        with name_scope(name, f"{self._name}_put", _values(values)) as scope:
            values = values if isinstance(values, (list, tuple, dict)) else [values]
            tensors, _ = self._components(values, list(range(len(values))))
            with self._beside():
                return ops.stage(values=tensors, name=scope, **self._limits())

    def get(self, name=None):
        """The oldest element, which is taken out: a list of tensors, or a dictionary."""
        with self._beside():
            tensors = ops.unstage(dtypes=self._dtypes, name=self._named(name, "get"), **self._limits())
        return self._element(tensors, list(range(len(self._dtypes))))

    def peek(self, index, name=None):
        """The element at a place, which stays: a list of tensors, or a dictionary."""
        with self._beside():
            tensors = ops.stage_peek(index, dtypes=self._dtypes, name=self._named(name, "peek"), **self._limits())
        return self._element(tensors, list(range(len(self._dtypes))))

    def size(self, name=None):
        """How many elements there are, an int32 scalar."""
        return ops.stage_size(dtypes=self._dtypes, name=self._named(name, "size"), **self._limits())

    def clear(self, name=None):
        """The operation that takes all elements out."""
        return ops.stage_clear(dtypes=self._dtypes, name=self._named(name, "clear"), **self._limits())


@public("python.ops.data_flow_ops.MapStagingArea")
class MapStagingArea(BaseStagingArea):
    """Elements by int64 keys. Components may come and go one by one; an element is there once it is complete.

    Args:
      ordered: whether `get` without a key takes the lowest one.
    """

    def __init__(
        self, dtypes, shapes=None, names=None, shared_name=None, ordered=False, capacity=0, memory_limit=0
    ):  # fmt: skip
        super().__init__(dtypes, shapes, names, shared_name, capacity, memory_limit)
        self._prefix = "ordered_map" if ordered else "map"

    def _op(self, action):
        return getattr(ops, f"{self._prefix}_{action}")

    def put(self, key, vals, indices=None, name=None):
        """The operation that puts components of the element `key` in.

        Args:
          vals: a list of tensors, or a dictionary by the names of the area, which may be incomplete.
          indices: which components they are, in increasing order; needed for a list.

        Raises:
          ValueError: for values of other dtypes, shapes or names.
        """
        with name_scope(name, f"{self._name}_put", _values(vals)) as scope:
            if indices is not None and not isinstance(vals, (list, tuple, dict)):
                vals, indices = [vals], [0]
            tensors, indices = self._components(vals, indices)
            with self._beside():
                return self._op("stage")(key, indices, tensors, dtypes=self._dtypes, name=scope, **self._limits())

    def _chosen(self, indices):
        """(which components, their dtypes), of indices or names."""
        if indices is None:
            indices = list(range(len(self._dtypes)))
        if not isinstance(indices, (tuple, list)):
            raise TypeError(f"Invalid indices type '{type(indices)}'")
        if not indices:
            raise ValueError("Empty indices")
        if all(isinstance(index, str) for index in indices):
            if self._names is None:
                raise ValueError(
                    f"String indices provided '{indices}', but this Staging Area was not created with names."
                )
            unknown = [name for name in indices if name not in self._names]
            if unknown:
                raise ValueError(f"Named index '{unknown[0]}' not in Staging Area names '{self._names}'")
            indices = [self._names.index(name) for name in indices]
        elif not all(isinstance(index, int) for index in indices):
            raise TypeError(f"Mixed types in indices '{indices}'. May only be str or int")
        return indices, [self._dtypes[index] for index in indices]

    def peek(self, key, indices=None, name=None):
        """Components of the element `key`, which stays: a list of tensors, or a dictionary."""
        indices, dtypes = self._chosen(indices)
        with self._beside():
            tensors = self._op("peek")(key, indices, dtypes=dtypes, name=self._named(name, "pop"), **self._limits())
        return self._element(tensors, indices)

    def get(self, key=None, indices=None, name=None):
        """(the key, components of its element), which are taken out; without a key of the lowest one."""
        indices, dtypes = self._chosen(indices)
        if key is not None:
            with self._beside():
                tensors = self._op("unstage")(
                    key, indices, dtypes=dtypes, name=self._named(name, "get"), **self._limits()
                )
            return key, self._element(tensors, indices)
        with self._beside():
            key, tensors = self._op("unstage_no_key")(
                indices, dtypes=dtypes, name=self._named(name, "get_nokey"), **self._limits()
            )
        (key,) = self._transferred([key])
        return key, self._element(tensors, indices)

    def size(self, name=None):
        """How many elements are complete, an int32 scalar."""
        return self._op("size")(dtypes=self._dtypes, name=self._named(name, "size"), **self._limits())

    def incomplete_size(self, name=None):
        """How many elements are begun and not complete, an int32 scalar."""
        return self._op("incomplete_size")(
            dtypes=self._dtypes, name=self._named(name, "incomplete_size"), **self._limits()
        )

    def clear(self, name=None):
        """The operation that takes all elements out."""
        return self._op("clear")(dtypes=self._dtypes, name=self._named(name, "clear"), **self._limits())
