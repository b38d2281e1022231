"""What a thread is calling: the layer, its inputs, and whether it is being trained."""

from __future__ import annotations

import contextlib
import threading

from stillflow.graph.mode import by_outermost_mode


class CallContext(threading.local):
    """The innermost layer whose `call` is running in this thread.

    Attributes:
      layer: the layer, or None.
      inputs: what it was called with.
      in_call: whether there is one.
      frozen: whether it, or one that calls it, is not trainable.
      training: the layer's argument of that name, which layers that it calls get too.
    """

    def __init__(self):
        self.layer = None
        self.inputs = None
        self.in_call = False
        self.frozen = False
        self.training = None

    @contextlib.contextmanager
    def enter(self, layer, inputs, training):
        """A context in which `layer` is the one that runs."""
        outer = vars(self).copy()
        vars(self).update(
            layer=layer, inputs=inputs, in_call=True, frozen=self.frozen or not layer.trainable, training=training
        )
        try:
            yield
        finally:
            vars(self).update(outer)


call_context = CallContext()


@by_outermost_mode
def training_of_outermost_layer(is_symbolic):
    """`training` of a layer that no other calls and that is not told: Keras' learning phase in eager execution."""
    return
