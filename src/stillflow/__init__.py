"""TensorFlow 1.x programs, run as written: `import stillflow as tf`.

The same graphs, random numbers and files as TensorFlow 1.15, and the same bits on every machine and for every
number of threads.
"""

from stillflow.names import namespace as _namespace
from stillflow.names import public_module as _public_module
from stillflow.platform.version import COMPILER_VERSION as __compiler_version__
from stillflow.platform.version import GIT_VERSION as __git_version__
from stillflow.platform.version import VERSION as __version__

_public_module("compat.v1")
_namespace.install()
__getattr__, __dir__ = _namespace.serve("", __name__)
