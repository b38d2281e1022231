"""What programs say to conversion inside of functions."""

from __future__ import annotations

from stillflow.names import public

UNSPECIFIED = object()


@public(
    "autograph.experimental.set_loop_options",
    "contrib.autograph.set_loop_options",
    "python.autograph.lang.directives.set_loop_options",
)
def set_loop_options(
    parallel_iterations=UNSPECIFIED, back_prop=UNSPECIFIED, swap_memory=UNSPECIFIED, maximum_iterations=UNSPECIFIED
):  # fmt: skip
    """Says arguments of the tf.while_loop that the loop around it becomes; elsewhere it does nothing."""


@public("python.autograph.lang.directives.set_element_type", "contrib.autograph.set_element_type")
def set_element_type(entity, dtype, shape=None):
    """Says what a list holds; it does nothing, as lists stay Python's."""
