"""`import tensorflow` in processes that a program under `stillflow run` starts."""

import sys

from stillflow.runner import surroundings

del sys.modules[__name__]  # what takes its place is stillflow
surroundings.install()
