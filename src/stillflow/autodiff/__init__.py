"""Gradients: reverse mode over the graph, by tapes, second derivatives, gradients that programs define."""

from stillflow.autodiff import tape as _tape  # noqa: F401 -- gradients of ops that are written out need it
