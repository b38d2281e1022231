"""tf.contrib.eager.Saver: a tf.train.Saver without a session."""

from __future__ import annotations

from stillflow.graph.default_graph import require_eager_execution
from stillflow.names import public
from stillflow.saver.saver import Saver


@public("contrib.eager.Saver")
class EagerSaver:
    """Saves and restores variables by their names, in the files of tf.train.Saver.

    Args:
      var_list: a list of variables, or a dictionary of them by names.

    Raises RuntimeError in a graph.
    """

    def __init__(self, var_list):
        require_eager_execution(
            "tfe.Saver can only be used when eager execution is enabled. Use tf.train.Saver when building graphs."
        )
        self._saver = Saver(var_list=var_list)

    def save(self, file_prefix, global_step=None):
        """Writes a checkpoint; returns its prefix, with the step behind it if one is given."""
        return self._saver.save(None, file_prefix, write_meta_graph=False, global_step=global_step)

    def restore(self, file_prefix):
        """Gives the variables the values that the checkpoint has."""
        self._saver.restore(None, file_prefix)
