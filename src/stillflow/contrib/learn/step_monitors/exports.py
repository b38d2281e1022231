"""tf.contrib.learn.monitors.ExportMonitor: exports the model while an estimator trains."""

from __future__ import annotations

from stillflow.contrib.learn.step_monitors.base import EveryN
from stillflow.estimator.estimator import Estimator as CoreEstimator
from stillflow.names import public
from stillflow.saver.checkpoint_state import latest_checkpoint
from stillflow.training_loop.messages import log


@public("contrib.learn.monitors.ExportMonitor")
class ExportMonitor(EveryN):
    """Exports the newest checkpoint every so many steps, and at the end; see Estimator.export.

    Args:
      every_n_steps: how many steps later it exports again.
      export_dir: where to make the folders, which are called after steps.
      input_fn: a function that returns (features, labels); without one Examples are parsed as in training.
      input_feature_key: the feature that is the Examples, or None.
      exports_to_keep: how many exports stay; None for all.
      signature_fn: a function of examples, features and predictions to (a Signature, {name: Signature}).
      default_batch_size: how many Examples there are; None for any number.

    Training raises ValueError for a tf.estimator.Estimator.
    """

    def __init__(
        self, every_n_steps, export_dir, input_fn=None, input_feature_key=None, exports_to_keep=5, signature_fn=None,
        default_batch_size=1,
    ):  # fmt: skip
        super().__init__(every_n_steps=every_n_steps)
        self._export_dir = export_dir
        self._exports_to_keep = exports_to_keep
        self._signature_fn = signature_fn
        self._given = {
            "input_fn": input_fn,
            "input_feature_key": input_feature_key,
            "use_deprecated_input_fn": input_fn is None,
            "default_batch_size": default_batch_size,
        }
        self._last_export_dir = None

    @property
    def export_dir(self):
        """Where the folders are made."""
        return self._export_dir

    @property
    def exports_to_keep(self):
        """How many exports stay, or None."""
        return self._exports_to_keep

    @property
    def signature_fn(self):
        """The function that makes signatures, or None."""
        return self._signature_fn

    @property
    def last_export_dir(self):
        """The path of the newest export, as bytes, or None."""
        return self._last_export_dir

    def every_n_step_end(self, step, outputs):
        super().every_n_step_end(step, outputs)
        self._export()

    def end(self, session=None):
        super().end(session=session)
        if latest_checkpoint(self._estimator.model_dir) is None:
            log().info("Skipping export at the end since model has not been saved yet.")
        else:
            self._export()

    def _export(self):
        if isinstance(self._estimator, CoreEstimator):
            raise ValueError(
                "ExportMonitor does not support `tf.estimator.Estimator. `. "
                "Please pass an ExportStrategy to Experiment instead."
            )
        try:
            self._last_export_dir = self._estimator.export(
                self._export_dir,
                exports_to_keep=self._exports_to_keep,
                signature_fn=self._signature_fn,
                **self._given,
            )
        except RuntimeError:
            log().info("Skipping the export, as the checkpoint of this step is exported already.")
