"""What an old program finds around it: a tensorflow, and Python, numpy and other libraries much as they were."""

from __future__ import annotations

from stillflow.runner import library_names, numpy_changes, python_names, tensorflow_modules


def install():
    """Makes `import tensorflow` mean stillflow, and gives Python and libraries what they have dropped."""
    tensorflow_modules.install()
    numpy_changes.install()
    python_names.install()
    library_names.install()
