"""TensorShape and Dimension: what is known of a tensor's shape while the graph is built."""

from __future__ import annotations

import operator

from stillflow.names import public

# A shape in its plain form, as shape rules take and return it: None when even the rank is unknown, else a
# tuple of sizes, None where a size is unknown.
Dims = "tuple[int | None, ...] | None"

_sizes_are_plain = False  # what single sizes of a TensorShape are: as in TensorFlow 2, or Dimensions


@public("enable_v2_tensorshape")
def enable_v2_tensorshape():
    """Makes the single sizes of every TensorShape ints and None, as they are in TensorFlow 2.

    That is what indexing and iterating return, and how shapes are written; `dims` is a list of Dimensions still.
    """
    global _sizes_are_plain
    _sizes_are_plain = True


@public("disable_v2_tensorshape")
def disable_v2_tensorshape():
    """Makes the single sizes of every TensorShape Dimensions, as they are in TensorFlow 1."""
    global _sizes_are_plain
    _sizes_are_plain = False


@public("Dimension")
class Dimension:
    """One size of a TensorShape; `value` is None when it is unknown."""

    __slots__ = ("_value",)
    _value: int | None

    def __init__(self, value):
        if isinstance(value, Dimension):
            value = value._value
        if value is not None:
            try:
                value = operator.index(value)
            except TypeError:
                if not isinstance(value, (str, bytes, float)):
                    raise TypeError(f"Dimension value must be integer or None, got {value!r}") from None
                if isinstance(value, float) and int(value) != value:
                    raise ValueError(f"Ambiguous dimension: {value}") from None
                value = int(value)
            if value < 0:
                raise ValueError(f"Dimension {value} must be >= 0")
        self._value = value

    @property
    def value(self):
        return self._value

    def is_compatible_with(self, other) -> bool:
        other = as_dimension(other)
        return self._value is None or other._value is None or self._value == other._value

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other) -> Dimension:
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return other if self._value is None else self

    def _combine(self, other, function):
        """Dimension arithmetic: unknown if either is; NotImplemented for what is no dimension."""
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return Dimension(None)
        return Dimension(function(self._value, other._value))

    def __add__(self, other):
        return self._combine(other, operator.add)

    __radd__ = __add__

    def __sub__(self, other):
        return self._combine(other, operator.sub)

    def __rsub__(self, other):
        return self._combine(other, lambda a, b: b - a)

    def __mul__(self, other):
        return self._combine(other, operator.mul)

    __rmul__ = __mul__

    def __floordiv__(self, other):
        return self._combine(other, operator.floordiv)

    __div__ = __floordiv__

    def __rfloordiv__(self, other):
        return self._combine(other, lambda a, b: b // a)

    def __mod__(self, other):
        return self._combine(other, operator.mod)

    def __rmod__(self, other):
        return self._combine(other, lambda a, b: b % a)

    def __truediv__(self, other):
        raise TypeError(
            f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', please use // instead"
        )

    def __rtruediv__(self, other):
        raise TypeError(
            f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', please use // instead"
        )

    def _compare(self, other, function):
        other = as_dimension(other)
        if self._value is None or other._value is None:
            return None
        return function(self._value, other._value)

    def __eq__(self, other):
        try:
            return self._compare(other, operator.eq)
        except (TypeError, ValueError):
            return NotImplemented

    def __ne__(self, other):
        try:
            return self._compare(other, operator.ne)
        except (TypeError, ValueError):
            return NotImplemented

    def __lt__(self, other):
        return self._compare(other, operator.lt)

    def __le__(self, other):
        return self._compare(other, operator.le)

    def __gt__(self, other):
        return self._compare(other, operator.gt)

    def __ge__(self, other):
        return self._compare(other, operator.ge)

    def __hash__(self):
        return hash(self._value)

    def __int__(self):
        return self._value

    def __index__(self):
        return self._value

    def __repr__(self):
        return f"Dimension({self._value!r})"

    def __str__(self):
        return "?" if self._value is None else str(self._value)

    def __reduce__(self):
        return Dimension, (self._value,)


@public("python.framework.tensor_shape.as_dimension")
def as_dimension(value) -> Dimension:
    return value if isinstance(value, Dimension) else Dimension(value)


@public("TensorShape")
class TensorShape:
    """A shape of which the rank, or single sizes, may be unknown.

    Made from None (unknown rank), a TensorShape, a TensorShapeProto, one size, or an iterable of sizes, each
    an int, a Dimension or None.
    """

    __slots__ = ("_dims",)
    _dims: tuple | None

    def __init__(self, dims):
        if dims is None:
            self._dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif hasattr(dims, "unknown_rank"):  # a TensorShapeProto
            sizes = (None if dim.size == -1 else dim.size for dim in dims.dim)
            self._dims = None if dims.unknown_rank else tuple(Dimension(size).value for size in sizes)
        elif isinstance(dims, (str, bytes)):
            raise TypeError(
                f"A string has ambiguous TensorShape, please wrap in a list or convert to an int: {dims}"  # type: ignore[str-bytes-safe]
            )
        else:
            try:
                iterator = iter(dims)
            except TypeError:
                iterator = iter([dims])
            self._dims = tuple(
                size if type(size) is int and size >= 0 else Dimension(size).value for size in iterator
            )

    @classmethod
    def _of(cls, dims) -> TensorShape:
        """Wraps the plain form without looking at it."""
        shape = cls.__new__(cls)
        shape._dims = dims
        return shape

    @property
    def rank(self):
        """The number of dimensions, or None."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self):
        return self.rank

    @property
    def dims(self):
        """A list of Dimensions, or None."""
        return None if self._dims is None else [Dimension(size) for size in self._dims]

    def as_list(self):
        """A list of ints and None. Raises ValueError when the rank is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def as_proto(self):
        """A TensorShapeProto."""
        from stillflow.formats import protobuf

        proto = protobuf.message("TensorShapeProto")()
        if self._dims is None:
            proto.unknown_rank = True
        else:
            for size in self._dims:
                proto.dim.add().size = -1 if size is None else size
        return proto

    def num_elements(self):
        """The number of elements, or None when it is unknown."""
        if not self.is_fully_defined():
            return None
        count = 1
        for size in self._dims or ():
            count *= size
        return count

    def is_fully_defined(self) -> bool:
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self):
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_compatible_with(self, other) -> bool:
        """Whether some shape fits both."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims, strict=True)
        )

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def is_subtype_of(self, other) -> bool:
        other = as_shape(other)
        if other._dims is None:
            return True
        if self._dims is None or len(self._dims) != len(other._dims):
            return False
        return all(b is None or a == b for a, b in zip(self._dims, other._dims, strict=True))

    def most_specific_compatible_shape(self, other) -> TensorShape:
        other = as_shape(other)
        if self._dims is None or other._dims is None or len(self._dims) != len(other._dims):
            return TensorShape(None)
        return TensorShape._of(tuple(a if a == b else None for a, b in zip(self._dims, other._dims, strict=True)))

    def merge_with(self, other) -> TensorShape:
        """The shape with what both know. Raises ValueError when they contradict each other."""
        other = as_shape(other)
        merged = merge(self._dims, other._dims)
        if merged is False:
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape._of(merged)

    def concatenate(self, other) -> TensorShape:
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape._of(self._dims + other._dims)

    def assert_same_rank(self, other):
        other = as_shape(other)
        if self._dims is not None and other._dims is not None and len(self._dims) != len(other._dims):
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank):
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank) -> TensorShape:
        try:
            return self.merge_with(unknown_shape(rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank) -> TensorShape:
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank) -> TensorShape:
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def __len__(self):
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self):
        return self._dims is not None

    def __iter__(self):
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims if _sizes_are_plain else self.dims or ())

    def __getitem__(self, key):
        if self._dims is not None:
            if isinstance(key, slice):
                return TensorShape._of(self._dims[key])
            return self._dims[key] if _sizes_are_plain else Dimension(self._dims[key])
        if not isinstance(key, slice):
            return None if _sizes_are_plain else Dimension(None)
        start = key.start or 0
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        if key.stop is None or start < 0 or key.stop < 0 or key.stop < start:
            return TensorShape(None)
        return unknown_shape(key.stop - start)

    def __add__(self, other):
        return self.concatenate(other)

    def __radd__(self, other):
        return as_shape(other).concatenate(self)

    def __eq__(self, other):
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        return self._dims == other._dims

    def __ne__(self, other):
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        if self._dims is None or other._dims is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return self._dims != other._dims

    def __hash__(self):
        return hash(self._dims)

    def __repr__(self):
        if _sizes_are_plain and self._dims is not None:
            return f"TensorShape({list(self._dims)!r})"
        return f"TensorShape({self.dims!r})"

    def __str__(self):
        if self._dims is None:
            return "<unknown>"
        unknown = "None" if _sizes_are_plain else "?"
        sizes = [unknown if size is None else str(size) for size in self._dims]
        return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"

    def __reduce__(self):
        return TensorShape, (None if self._dims is None else list(self._dims),)


@public("python.framework.tensor_shape.as_shape")
def as_shape(value) -> TensorShape:
    return value if isinstance(value, TensorShape) else TensorShape(value)


@public("python.framework.tensor_shape.unknown_shape")
def unknown_shape(rank=None, **kwargs) -> TensorShape:
    """A shape of which nothing is known but its rank, if that is given; `ndims` is the old name of `rank`.

    Raises TypeError for other arguments, or for both.
    """
    if rank is None and "ndims" in kwargs:
        rank = kwargs.pop("ndims")
    if kwargs:
        raise TypeError(f"Unknown argument: {kwargs}")
    return TensorShape._of(None if rank is None else (None,) * rank)


@public("python.framework.common_shapes.unknown_shape")
def unknown_shapes(op):
    """A list of unknown shapes, one for each output of an operation."""
    return [TensorShape._of(None) for _ in op.outputs]


def merge(a, b):
    """Plain shapes joined: what either knows. False when they contradict each other."""
    if a is None:
        return b
    if b is None or a == b:
        return a
    if len(a) != len(b):
        return False
    merged = []
    for x, y in zip(a, b, strict=True):
        if x is not None and y is not None and x != y:
            return False
        merged.append(y if x is None else x)
    return tuple(merged)


@public("dimension_value", "compat.dimension_value")
def dimension_value(dimension):
    """The size that a Dimension stands for; a plain size as it is."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


@public("dimension_at_index", "compat.dimension_at_index")
def dimension_at_index(shape, index):
    """The Dimension of a TensorShape at `index`; an unknown one where the rank is not known."""
    return Dimension(None) if shape.rank is None else shape.dims[index]


# ---- tensorflow.python.framework.tensor_shape --------------------------------------------------------------------


@public("python.framework.tensor_shape.scalar")
def scalar():
    """The shape of one value."""
    return TensorShape([])


@public("python.framework.tensor_shape.vector")
def vector(length):
    """The shape of a vector."""
    return TensorShape([length])


@public("python.framework.tensor_shape.matrix")
def matrix(rows, cols):
    """The shape of a matrix."""
    return TensorShape([rows, cols])
