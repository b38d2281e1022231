"""tf.estimator.WarmStartSettings: from which checkpoint the variables of a new model take their first values."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow.files import filesystem, gfile
from stillflow.names import public
from stillflow.saver.saved_model import names
from stillflow.training_loop.messages import log


class _WarmStartSettings(NamedTuple):
    ckpt_to_initialize_from: Any
    vars_to_warm_start: Any
    var_name_to_vocab_info: Any
    var_name_to_prev_var_name: Any


@public("estimator.WarmStartSettings")
class WarmStartSettings(_WarmStartSettings):
    """The arguments of tf.train.warm_start, which is called when a model has no checkpoint of its own yet.

    Args:
      ckpt_to_initialize_from: a checkpoint, or a folder of which to take the newest one.
      vars_to_warm_start: a pattern of names of trainable variables; a list of patterns, of all variables; a list of
        variables; None for those with a VocabInfo.
      var_name_to_vocab_info: {name: tf.estimator.VocabInfo} of variables whose vocabulary has changed.
      var_name_to_prev_var_name: {name: name in the checkpoint}.

    Raises ValueError without a checkpoint.
    """

    def __new__(
        cls, ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None,
        var_name_to_prev_var_name=None,
    ):  # fmt: skip
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls,
            ckpt_to_initialize_from,
            vars_to_warm_start,
            var_name_to_vocab_info or {},
            var_name_to_prev_var_name or {},
        )


def settings_of(warm_start_from):
    """The WarmStartSettings that a checkpoint, a folder, a SavedModel or such settings mean; None for None.

    Raises ValueError for anything else.
    """
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, bytes)):
        raise ValueError(
            f"warm_start_from must be a string or a WarmStartSettings, instead got {type(warm_start_from)}"
        )
    folder = filesystem.path_text(warm_start_from)
    if gfile.Exists(names.variables_path(folder) + ".index"):
        log().info("Warm-starting from a SavedModel")
        return WarmStartSettings(names.variables_path(folder))
    return WarmStartSettings(warm_start_from)
