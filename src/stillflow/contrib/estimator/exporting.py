"""SavedModels of Estimators, by the names that tf.contrib had for it."""

from __future__ import annotations

from stillflow.names import public
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys


@public("contrib.estimator.export_saved_model_for_mode")
def export_saved_model_for_mode(
    estimator, export_dir_base, input_receiver_fn, assets_extra=None, as_text=False, checkpoint_path=None,
    mode=ModeKeys.PREDICT,
):  # fmt: skip
    """The method export_saved_model of an Estimator, with this mode as `experimental_mode`."""
    return estimator.export_saved_model(
        export_dir_base, input_receiver_fn, assets_extra=assets_extra, as_text=as_text,
        checkpoint_path=checkpoint_path, experimental_mode=mode,
    )  # fmt: skip


@public("contrib.estimator.export_all_saved_models")
def export_all_saved_models(
    estimator, export_dir_base, input_receiver_fn_map, assets_extra=None, as_text=False, checkpoint_path=None
):
    """The method experimental_export_all_saved_models of an Estimator."""
    return estimator.experimental_export_all_saved_models(
        export_dir_base, input_receiver_fn_map, assets_extra=assets_extra, as_text=as_text,
        checkpoint_path=checkpoint_path,
    )  # fmt: skip
