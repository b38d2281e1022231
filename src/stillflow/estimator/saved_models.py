"""How an Estimator exports its model: a SavedModel with a graph for each mode that is wanted."""

from __future__ import annotations

import os

from stillflow import errors
from stillflow.files import filesystem, gfile
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.graph import Graph
from stillflow.random.seeds import set_random_seed
from stillflow.saver import session_state
from stillflow.saver.checkpoint_state import latest_checkpoint
from stillflow.saver.saved_model import exporting
from stillflow.saver.saved_model.builder import SavedModelBuilder
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.saver.saver import Saver
from stillflow.session.session import Session
from stillflow.training_loop.scaffold import Scaffold


def checkpoint_to_export(estimator, checkpoint_path):
    """The checkpoint given, the newest one, or that to start from. Raises ValueError if there is none."""
    found = checkpoint_path or latest_checkpoint(estimator.model_dir)
    if found:
        return found
    settings = estimator._warm_start_settings
    if not settings:
        raise ValueError(f"Couldn't find trained model at {estimator.model_dir}.")
    found = settings.ckpt_to_initialize_from
    return latest_checkpoint(found) if gfile.IsDirectory(found) else found


def export(estimator, export_dir_base, receiver_fns, assets_extra, as_text, checkpoint_path, strip_default_attrs):
    """Writes a SavedModel; see Estimator.experimental_export_all_saved_models. Returns its folder, as bytes."""
    checkpoint_path = checkpoint_to_export(estimator, checkpoint_path)
    export_dir = exporting.get_timestamped_export_dir(export_dir_base)
    temporary_dir = exporting.get_temp_export_dir(export_dir)
    builder = SavedModelBuilder(temporary_dir)
    saves_variables = True
    for mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT):
        if receiver_fns.get(mode):
            estimator._add_meta_graph_for_mode(
                builder,
                receiver_fns,
                checkpoint_path,
                saves_variables,
                mode=mode,
                strip_default_attrs=strip_default_attrs,
            )
            saves_variables = False
    if saves_variables:
        raise ValueError(f"No valid modes for exporting found. Got {receiver_fns.keys()}.")
    builder.save(as_text)
    copy_extra_assets(temporary_dir, assets_extra)
    gfile.Rename(temporary_dir, export_dir)
    return export_dir


def copy_extra_assets(export_dir, assets_extra):
    """Copies files, {path below "assets.extra": path}, into the folder of an export."""
    for name, source in (assets_extra or {}).items():
        target = os.path.join(filesystem.path_text(export_dir), "assets.extra", filesystem.path_text(name))
        gfile.MakeDirs(os.path.dirname(target))
        gfile.Copy(source, target)


def add_graph(
    estimator, builder, receiver_fns, checkpoint_path, saves_variables, mode, tags, checks_variables,
    strip_default_attrs,
):  # fmt: skip
    """Adds the graph of a mode to a SavedModel, with the variables if it is the first.

    Raises ValueError if the checkpoint lacks variables of it.
    """
    tags = exporting.tags_of(mode) if tags is None else tags
    with Graph().as_default() as graph:
        session_state.set_policy(graph, session_state.NEVER)
        estimator._create_and_assert_global_step(graph)
        set_random_seed(estimator.config.tf_random_seed)
        receiver = receiver_fns[mode]()
        spec = estimator._call_model_fn(
            features=receiver.features,
            labels=getattr(receiver, "labels", None),
            mode=mode,
            config=estimator.config,
        )
        signatures = exporting.build_all_signature_defs(
            receiver.receiver_tensors,
            exporting.export_outputs_for_mode(
                mode=spec.mode,
                serving_export_outputs=spec.export_outputs,
                predictions=spec.predictions,
                loss=spec.loss,
                metrics=spec.eval_metric_ops,
            ),
            getattr(receiver, "receiver_tensors_alternatives", None),
            serving_only=mode == ModeKeys.PREDICT,
        )
        with Session(config=estimator._session_config) as session:
            local_init_op = spec.scaffold.local_init_op
            if local_init_op is None:
                local_init_op = Scaffold.default_local_init_op()
            saver = spec.scaffold.saver or Saver(sharded=True)
            if saves_variables and not checks_variables:
                raise ValueError("If `save_variables` is `True, `check_variables`must not be `False`.")
            if checks_variables:
                _restore(saver, session, checkpoint_path, mode)
            builder._add_train_op(spec.train_op)
            options = {
                "tags": tags,
                "signature_def_map": signatures,
                "assets_collection": get_default_graph().get_collection(GraphKeys.ASSET_FILEPATHS),
                "main_op": local_init_op,
                "saver": saver,
                "strip_default_attrs": strip_default_attrs,
            }
            if saves_variables:
                builder.add_meta_graph_and_variables(session, **options)
            else:
                builder.add_meta_graph(**options)


def _restore(saver, session, checkpoint_path, mode):
    try:
        saver.restore(session, checkpoint_path)
    except errors.NotFoundError as error:
        raise ValueError(
            "Could not load all requested variables from checkpoint. Please make sure your model_fn does not expect "
            f"variables that were not saved in the checkpoint.\n\nEncountered error with mode `{mode}` while "
            f"restoring checkpoint from: `{checkpoint_path}`. Full Traceback:\n\n{error}"
        ) from None
