"""CheckpointInputPipelineHook: checkpoints of where iterators are, apart from those of models."""

from __future__ import annotations

from stillflow.datasets.iterator import GLOBAL_ITERATORS
from stillflow.datasets.saved_position import IteratorPosition
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.saver.checkpoint_state import latest_checkpoint
from stillflow.saver.saver import Saver
from stillflow.training_loop.hooks.checkpoints import CheckpointSaverHook
from stillflow.training_loop.hooks.hook import SessionRunHook


@public("data.experimental.CheckpointInputPipelineHook", "contrib.data.CheckpointInputPipelineHook")
class CheckpointInputPipelineHook(SessionRunHook):
    """Saves the positions of all iterators of the graph when an estimator's model is saved, and restores them.

    The files lie in the model's folder: input.ckpt-..., with names of the task in a cluster, and checkpoint_input.

    Args:
      estimator: a tf.estimator.Estimator, whose configuration says where and how often.
    """

    def __init__(self, estimator):
        config = estimator._config
        prefix = "input"
        if config.num_worker_replicas > 1:
            prefix += f"_{config.task_type}_{config.task_id}"
        # Not derived from the other hook: an estimator that finds one of those does not save the model.
        self._checkpoint_saver_hook = CheckpointSaverHook(
            estimator.model_dir,
            save_secs=config.save_checkpoints_secs,
            save_steps=config.save_checkpoints_steps,
            checkpoint_basename=f"{prefix}.ckpt",
        )
        self._latest_filename = f"checkpoint_{prefix}"
        self._first_run = True

    def begin(self):
        hook = self._checkpoint_saver_hook
        if hook._saver is None and hook._scaffold is None:
            iterators = get_default_graph().get_collection(GLOBAL_ITERATORS)
            hook._saver = _InputSaver([IteratorPosition(each) for each in iterators], self._latest_filename)
        hook.begin()

    def before_run(self, run_context):
        # Not when the session is new: the hook that starts the iterators may come after this one.
        if self._first_run:
            self._restore_or_save(run_context.session)
            self._first_run = False
        return self._checkpoint_saver_hook.before_run(run_context)

    def _restore_or_save(self, session):
        hook = self._checkpoint_saver_hook
        latest = latest_checkpoint(hook._checkpoint_dir, latest_filename=self._latest_filename)
        if latest:
            hook._get_saver().restore(session, latest)
            return
        global_step = session.run(hook._global_step_tensor)
        hook._save(session, global_step)
        hook._timer.update_last_triggered_step(global_step)

    def after_run(self, run_context, run_values):
        self._checkpoint_saver_hook.after_run(run_context, run_values)

    def end(self, session):
        self._checkpoint_saver_hook.end(session)


class _InputSaver(Saver):
    """A Saver that keeps its list of checkpoints apart from that of the model."""

    def __init__(self, var_list, latest_filename):
        super().__init__(var_list)
        self._latest_filename = latest_filename

    def save(self, sess, save_path, global_step=None, latest_filename=None, *args, **kwargs):
        return super().save(sess, save_path, global_step, latest_filename or self._latest_filename, *args, **kwargs)
