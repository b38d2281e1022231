"""TensorFlow 1.x programs, run as written: `import stillflow as tf`.

The same graphs, random numbers and files as TensorFlow 1.15, and the same bits on every machine and for every
number of threads.
"""

from stillflow import errors
from stillflow.facade import bitwise as bitwise
from stillflow.facade import graph_util as graph_util
from stillflow.facade import initializers as initializers
from stillflow.facade import linalg as linalg
from stillflow.facade import math as math
from stillflow.facade.array import *
from stillflow.facade.array_order import *
from stillflow.facade.behavior import *
from stillflow.facade.casts import *
from stillflow.facade.checks import *
from stillflow.facade.clip import *
from stillflow.facade.control_flow import *
from stillflow.facade.fake_quant import *
from stillflow.facade.graph import *
from stillflow.facade.image_patches import *
from stillflow.facade.initializers import *
from stillflow.facade.input import *
from stillflow.facade.libraries import *
from stillflow.facade.linalg import *
from stillflow.facade.math_binary import *
from stillflow.facade.math_reductions import *
from stillflow.facade.math_special import *
from stillflow.facade.math_unary import *
from stillflow.facade.messages import MESSAGES as _MESSAGES
from stillflow.facade.parsing import *
from stillflow.facade.random import *
from stillflow.facade.segments import *
from stillflow.facade.space_blocks import *
from stillflow.facade.sparse_tensors import *
from stillflow.facade.string_names import *
from stillflow.facade.summary_tags import *
from stillflow.facade.variable_scope import *
from stillflow.facade.variables import *
from stillflow.graph.dtypes import bfloat16 as bfloat16
from stillflow.graph.dtypes import bool_ as bool
from stillflow.graph.dtypes import complex64 as complex64
from stillflow.graph.dtypes import complex128 as complex128
from stillflow.graph.dtypes import float16 as float16
from stillflow.graph.dtypes import float16 as half
from stillflow.graph.dtypes import float32 as float32
from stillflow.graph.dtypes import float64 as double
from stillflow.graph.dtypes import float64 as float64
from stillflow.graph.dtypes import int8 as int8
from stillflow.graph.dtypes import int16 as int16
from stillflow.graph.dtypes import int32 as int32
from stillflow.graph.dtypes import int64 as int64
from stillflow.graph.dtypes import qint8 as qint8
from stillflow.graph.dtypes import qint16 as qint16
from stillflow.graph.dtypes import qint32 as qint32
from stillflow.graph.dtypes import quint8 as quint8
from stillflow.graph.dtypes import quint16 as quint16
from stillflow.graph.dtypes import resource as resource
from stillflow.graph.dtypes import string as string
from stillflow.graph.dtypes import uint8 as uint8
from stillflow.graph.dtypes import uint16 as uint16
from stillflow.graph.dtypes import uint32 as uint32
from stillflow.graph.dtypes import uint64 as uint64
from stillflow.graph.dtypes import variant as variant
from stillflow.ops import operators as _operators
from stillflow.variables.variable import overload_operators as _overload_operators

_operators.install()
_overload_operators()
newaxis = None

# What programs ask for when they want to know which TensorFlow this is.
VERSION = __version__ = "1.15.5"
GIT_VERSION = __git_version__ = "v1.15.4-39-g3db52be"
COMPILER_VERSION = __compiler_version__ = "7.3.1 20180303"

# tf.nn and its kin: modules of the facade, imported when they are first asked for.
_NAMESPACES = frozenset(
    "app compat config contrib data debugging dtypes flags gfile image io logging lookup manip nest nn python_io "
    "quantization queue random saved_model sparse strings summary test train version".split()
)


# What stillflow has beyond TensorFlow's names.
_REPRODUCIBILITY = frozenset(("random_state", "reproducibility_report"))


def __getattr__(name):
    if name in _NAMESPACES:
        import importlib

        room = "platform" if name in ("app", "flags", "logging") else "facade"
        value = globals()[name] = importlib.import_module(f"stillflow.{room}.{name}")
        return value
    if name in _REPRODUCIBILITY:
        from stillflow.session import reproducibility

        return getattr(reproducibility, name)
    if name == "TensorSpec":
        from stillflow.datasets.specs import TensorSpec

        return TensorSpec
    if name == "SparseTensorSpec":
        from stillflow.datasets.sparse import SparseTensorSpec

        return SparseTensorSpec
    if name in _MESSAGES:
        from stillflow.formats import protobuf

        value = globals()[name] = protobuf.message(name)
        return value
    if name == "Module":
        from stillflow.variables.module import Module

        return Module
    if name == "GradientTape":
        from stillflow.eager.gradient_tape import GradientTape

        return GradientTape
    if name == "get_logger":
        from stillflow.platform import logging

        return logging.get_logger
    if name == "Snapshot":
        from stillflow.saver.snapshot import Snapshot

        return Snapshot
    if name == "examples":
        import stillflow.examples.tutorials.mnist.input_data

        return stillflow.examples
    if name == "install_as_tensorflow":
        from stillflow.runner import tensorflow_modules

        return tensorflow_modules.install
    raise AttributeError(f"module 'stillflow' has no attribute {name!r}")
