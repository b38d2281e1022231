"""Element types: tf.float32 and its kin, and what connects them with numpy and TensorFlow's DataType."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from stillflow.names import public

_REF_OFFSET = 100
_C_NAMES = {"float16": "half", "float32": "float", "float64": "double"}


@public("DType", "dtypes.DType")
class DType:
    """The type of a tensor's elements.

    Types compare and hash by identity; `as_dtype` finds the type for a name, a numpy type, a Python type or
    a DataType number. A reference type (`tf.float32._ref`) is what a variable of `base_dtype` hands out.
    """

    __slots__ = ("_name", "_number", "_numpy", "_other")

    _name: str
    _number: int
    _numpy: Any
    _other: DType  # of a type its reference type, and the other way round

    def __new__(cls, type_enum):
        """The type of a DataType number. Raises TypeError if there is none."""
        if not isinstance(_TYPE_TO_STRING.get(type_enum), str):
            raise TypeError(f"type_enum is not a valid types_pb2.DataType: {type_enum}")
        return _BY_KEY[type_enum]

    @classmethod
    def _declare(cls, name: str, number: int, numpy_type=None, base: DType | None = None):
        self = object.__new__(cls)
        self._name = name
        self._number = number
        self._numpy = numpy_type
        self._other = base or cls._declare(f"{name}_ref", number + _REF_OFFSET, numpy_type, self)
        return self

    @property
    def name(self) -> str:
        return self._name

    @property
    def _c_name(self) -> str:
        """What TensorFlow's C++ calls it: "float" for float32, and so on."""
        base, _, ref = self._name.partition("_")
        return _C_NAMES.get(base, base) + (f"_{ref}" if ref else "")

    @property
    def as_datatype_enum(self) -> int:
        """TensorFlow's DataType number."""
        return self._number

    @property
    def as_numpy_dtype(self):
        """The numpy type: np.float32 and so on; np.object_ for strings."""
        if self._numpy is None:
            return _numpy_extension(self.base_dtype.name)
        return self._numpy

    @property
    def _is_ref_dtype(self) -> bool:
        return self._number > _REF_OFFSET

    @property
    def base_dtype(self) -> DType:
        return self._other if self._is_ref_dtype else self

    @property
    def _as_ref(self) -> DType:
        return self if self._is_ref_dtype else self._other

    @property
    def real_dtype(self) -> DType:
        base = self.base_dtype
        return {complex64: float32, complex128: float64}.get(base, self)

    @property
    def is_bool(self) -> bool:
        return self.base_dtype is bool_

    @property
    def is_complex(self) -> bool:
        return self.base_dtype in (complex64, complex128)

    @property
    def is_floating(self) -> bool:
        return self.base_dtype in (float16, float32, float64, bfloat16)

    @property
    def is_integer(self) -> bool:
        """Whether it counts; quantized types do not."""
        return self.base_dtype in _INTEGERS

    @property
    def is_quantized(self) -> bool:
        return self.base_dtype in (qint8, qint16, qint32, quint8, quint16)

    @property
    def is_unsigned(self) -> bool:
        return self.base_dtype in (uint8, uint16, uint32, uint64)

    @property
    def is_numpy_compatible(self) -> bool:
        return self.base_dtype not in (resource, variant)

    @property
    def size(self) -> int:
        """Bytes per element; 1 for types without a fixed size."""
        if self.base_dtype in (string, resource, variant):
            return 1
        return np.dtype(self.as_numpy_dtype).itemsize

    @property
    def min(self):
        """The smallest finite value. Raises TypeError where there is no order."""
        return self._limits()[0]

    @property
    def max(self):
        """The largest finite value. Raises TypeError where there is no order."""
        return self._limits()[1]

    @property
    def limits(self, clip_negative=True):
        """(0, 1) for floating-point types, else (0, max): the range of pixel values."""
        return (0, 1) if self.is_floating else (0, self.max)

    def _limits(self):
        base = self.base_dtype
        if base is bool_:
            return False, True
        if base.is_integer:
            integers = np.iinfo(base.as_numpy_dtype)
            return integers.min, integers.max
        if base is bfloat16:
            return float.fromhex("-0x1.FEp127"), float.fromhex("0x1.FEp127")
        if base.is_floating:
            floats = np.finfo(base.as_numpy_dtype)
            return floats.min, floats.max
        raise TypeError(f"Cannot find minimum value of {self}.")

    def is_compatible_with(self, other) -> bool:
        """Whether a tensor of type `other` may stand where this type is asked for."""
        other = as_dtype(other)
        return self is other or self is other.base_dtype

    def __eq__(self, other):
        if self is other:
            return True
        if other is None or type(other) is DType:
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return self._number

    def __int__(self):
        return self._number

    def __repr__(self):
        return f"tf.{self._name}"

    def __str__(self):
        return f"<dtype: {self._name!r}>"

    def __reduce__(self):
        return as_dtype, (self._name,)


@functools.cache
def _numpy_extension(name: str):
    if name == "bfloat16":
        import ml_dtypes  # 10 ms that only programs with bfloat16 pay

        return ml_dtypes.bfloat16
    raise TypeError(f"{name} has no numpy type")


@public("python.pywrap_tensorflow.TF_bfloat16_type")
def bfloat16_type():
    """The numpy type of bfloat16."""
    return _numpy_extension("bfloat16")


float32 = public("float32", "dtypes.float32")(DType._declare("float32", 1, np.float32))
float64 = public("float64", "dtypes.float64", "double", "dtypes.double")(DType._declare("float64", 2, np.float64))
int32 = public("int32", "dtypes.int32")(DType._declare("int32", 3, np.int32))
uint8 = public("uint8", "dtypes.uint8")(DType._declare("uint8", 4, np.uint8))
int16 = public("int16", "dtypes.int16")(DType._declare("int16", 5, np.int16))
int8 = public("int8", "dtypes.int8")(DType._declare("int8", 6, np.int8))
string = public("string", "dtypes.string")(DType._declare("string", 7, np.object_))
complex64 = public("complex64", "dtypes.complex64")(DType._declare("complex64", 8, np.complex64))
int64 = public("int64", "dtypes.int64")(DType._declare("int64", 9, np.int64))
bool_ = public("bool", "dtypes.bool")(DType._declare("bool", 10, np.bool_))
qint8 = public("qint8", "dtypes.qint8")(DType._declare("qint8", 11, np.int8))
quint8 = public("quint8", "dtypes.quint8")(DType._declare("quint8", 12, np.uint8))
qint32 = public("qint32", "dtypes.qint32")(DType._declare("qint32", 13, np.int32))
bfloat16 = public("bfloat16", "dtypes.bfloat16")(DType._declare("bfloat16", 14))
qint16 = public("qint16", "dtypes.qint16")(DType._declare("qint16", 15, np.int16))
quint16 = public("quint16", "dtypes.quint16")(DType._declare("quint16", 16, np.uint16))
uint16 = public("uint16", "dtypes.uint16")(DType._declare("uint16", 17, np.uint16))
complex128 = public("complex128", "dtypes.complex128")(DType._declare("complex128", 18, np.complex128))
float16 = public("float16", "dtypes.float16", "half", "dtypes.half")(DType._declare("float16", 19, np.float16))
resource = public("resource", "dtypes.resource")(DType._declare("resource", 20, np.object_))
variant = public("variant", "dtypes.variant")(DType._declare("variant", 21, np.object_))
uint32 = public("uint32", "dtypes.uint32")(DType._declare("uint32", 22, np.uint32))
uint64 = public("uint64", "dtypes.uint64")(DType._declare("uint64", 23, np.uint64))
# What variables that are no resources hand out.
float32_ref = public("python.framework.dtypes.float32_ref")(float32._as_ref)
float64_ref = public("python.framework.dtypes.float64_ref")(float64._as_ref)
int32_ref = public("python.framework.dtypes.int32_ref")(int32._as_ref)
uint8_ref = public("python.framework.dtypes.uint8_ref")(uint8._as_ref)
int16_ref = public("python.framework.dtypes.int16_ref")(int16._as_ref)
int8_ref = public("python.framework.dtypes.int8_ref")(int8._as_ref)
string_ref = public("python.framework.dtypes.string_ref")(string._as_ref)
complex64_ref = public("python.framework.dtypes.complex64_ref")(complex64._as_ref)
int64_ref = public("python.framework.dtypes.int64_ref")(int64._as_ref)
bool_ref = public("python.framework.dtypes.bool_ref")(bool_._as_ref)
qint8_ref = public("python.framework.dtypes.qint8_ref")(qint8._as_ref)
quint8_ref = public("python.framework.dtypes.quint8_ref")(quint8._as_ref)
qint32_ref = public("python.framework.dtypes.qint32_ref")(qint32._as_ref)
bfloat16_ref = public("python.framework.dtypes.bfloat16_ref")(bfloat16._as_ref)
qint16_ref = public("python.framework.dtypes.qint16_ref")(qint16._as_ref)
quint16_ref = public("python.framework.dtypes.quint16_ref")(quint16._as_ref)
uint16_ref = public("python.framework.dtypes.uint16_ref")(uint16._as_ref)
complex128_ref = public("python.framework.dtypes.complex128_ref")(complex128._as_ref)
float16_ref = public("python.framework.dtypes.float16_ref")(float16._as_ref)
resource_ref = public("python.framework.dtypes.resource_ref")(resource._as_ref)
variant_ref = public("python.framework.dtypes.variant_ref")(variant._as_ref)
uint32_ref = public("python.framework.dtypes.uint32_ref")(uint32._as_ref)
uint64_ref = public("python.framework.dtypes.uint64_ref")(uint64._as_ref)
QUANTIZED_DTYPES = public("dtypes.QUANTIZED_DTYPES", "QUANTIZED_DTYPES")(
    frozenset(x for base in (qint8, quint8, qint16, quint16, qint32) for x in (base, base._other))
)

ALL = (
    float32, float64, int32, uint8, int16, int8, string, complex64, int64, bool_, qint8, quint8, qint32,
    bfloat16, qint16, quint16, uint16, complex128, float16, resource, variant, uint32, uint64,
)  # fmt: skip
_INTEGERS = frozenset((int8, int16, int32, int64, uint8, uint16, uint32, uint64))

_BY_KEY: dict = {}
for _dtype in ALL:
    for _each in (_dtype, _dtype._as_ref):
        _BY_KEY[_each.name] = _BY_KEY[_each.as_datatype_enum] = _each
        _BY_KEY[_each._c_name] = _each
_TYPE_TO_STRING = public("python.framework.dtypes._TYPE_TO_STRING")(
    {each.as_datatype_enum: each.name for dtype in ALL for each in (dtype, dtype._as_ref)}
)
_BY_KEY.update({float: float32, bool: bool_, object: string, str: string, bytes: string, int: int64})

_BY_NUMPY = {
    np.dtype(_dtype._numpy): _dtype
    for _dtype in reversed(ALL)
    if _dtype._numpy is not None and not _dtype.is_quantized and _dtype not in (resource, variant)
}


def from_numpy(numpy_type: np.dtype) -> DType | None:
    """The type for a numpy dtype in any byte order, or None; text and bytes are strings."""
    found = _BY_NUMPY.get(numpy_type)
    if found is not None:
        return found
    if numpy_type.kind in "SU":
        return string
    if numpy_type.name == "bfloat16":
        return bfloat16
    return _BY_NUMPY.get(numpy_type.newbyteorder("="))


@public("as_dtype", "dtypes.as_dtype")
def as_dtype(type_value) -> DType:
    """The DType for a DType, name, numpy type, Python type or DataType number; TypeError for others."""
    if type(type_value) is DType:
        return type_value
    try:
        found = _BY_KEY.get(type_value)
        if found is None:
            found = from_numpy(np.dtype(type_value))
    except TypeError:
        found = None
    if found is None or type_value is None or isinstance(type_value, bool):
        raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.")
    return found
