"""TensorFlow 1.x programs, run as written: `import stillflow as tf`.

The same graphs, random numbers and files as TensorFlow 1.15, and the same bits on every machine and for every
number of threads.
"""

from stillflow.names import namespace as _namespace
from stillflow.names import public_module as _public_module
from stillflow.platform import version as _version

_public_module("compat.v1")
_namespace.install()
__getattr__, __dir__ = _namespace.serve("", __name__)
__version__ = _version.VERSION
__git_version__ = _version.GIT_VERSION
__compiler_version__ = _version.COMPILER_VERSION
