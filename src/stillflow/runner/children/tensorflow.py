"""`import tensorflow` in processes that a program under `stillflow run` starts."""

import sys

from stillflow.runner import numpy_changes, tensorflow_modules

del sys.modules[__name__]  # what takes its place is stillflow
tensorflow_modules.install()
numpy_changes.install()
