"""What an old program finds around it: a tensorflow, and Python, numpy and other libraries much as they were."""

from __future__ import annotations

import sys

from stillflow.graph.device import stand_in_for_gpus
from stillflow.runner import library_names, numpy_changes, python_names, tensorflow_modules


def install():
    """Makes `import tensorflow` mean stillflow, and gives Python and libraries what they have dropped."""
    tensorflow_modules.install()
    numpy_changes.install()
    python_names.install()
    library_names.install()
    stand_in_for_gpus(_GpuNotice())


class _GpuNotice:
    """Says once that there is no GPU."""

    def __init__(self):
        self._has_told = False

    def __call__(self, op):
        if not self._has_told:
            self._has_told = True
            sys.stderr.write(f"stillflow: {op.name} is assigned to {op._device}; here it runs on the processor.\n")
