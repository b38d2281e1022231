"""Losses, metrics and updates that layers add in one branch of a condition alone: nothing may refer to them."""

from __future__ import annotations

_INSTEAD = {
    "add_loss": ("loss = compute_loss(inputs)", "loss = 0.", "self.add_loss(loss)"),
    "add_metric": (
        "metric = compute_metric(inputs)", "metric = 0.",
        "self.add_metric(metric, name='my_metric', aggregation='mean')",
    ),
    "add_update": ("increment = 1", "increment = 0", "self.add_update(self.w.assign_add(increment))"),
    "activity_regularizer": ("scale = 1.", "scale = 0.", "return self.dense(x * scale)"),
}  # fmt: skip


def refuse_in_branch(graph, context, method):
    """Raises RuntimeError if a branch or a loop of the graph of models adds something.

    Args:
      graph: the graph that a layer is called in.
      context: the control flow context of what is added.
      method: how it is added, of `_INSTEAD`.
    """
    if context is None or not graph.serves_eager_execution:
        return
    if method == "activity_regularizer":
        what = f"a layer with `{method}` in a control flow branch"
    else:
        what = f"the method `{method}` in a control flow branch in your layer"
    on, off, call = _INSTEAD[method]
    raise RuntimeError(
        f"You are using {what}. This is currently not supported. Please move your call to {method} out of the "
        f"control flow branch, e.g.:\n\n    if training:\n      {on}\n    else:\n      {off}\n    {call}\n\n"
        "You can also resolve this by marking your layer as dynamic (eager-only) by passing `dynamic=True` to the "
        "layer constructor. Any kind of control flow is supported with dynamic layers. Note that using "
        "`dynamic=True` requires you to implement static shape inference in the "
        "`compute_output_shape(input_shape)` method."
    )
