"""tf.train.warm_start: variables whose initializers take their values from a checkpoint, by name or by vocabulary."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from stillflow import ops
from stillflow.files import filesystem
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.saver import checkpoint_state
from stillflow.saver.initialization import init_from_checkpoint
from stillflow.saver.remapped_matrix import remapped_matrix_initializer
from stillflow.saver.restoring import object_keys
from stillflow.saver.saveable import by_name
from stillflow.variables.partitioned_variables import PartitionedVariable
from stillflow.variables.resource_variable import is_resource_variable
from stillflow.variables.slices import PartitionInfo
from stillflow.variables.variable import Variable


class _VocabInfo(NamedTuple):
    new_vocab: Any
    new_vocab_size: Any
    num_oov_buckets: Any
    old_vocab: Any
    old_vocab_size: Any
    backup_initializer: Any
    axis: Any


@public("train.VocabInfo", "estimator.VocabInfo")
class VocabInfo(_VocabInfo):
    """Which entry of a vocabulary each row or column of a matrix belongs to, in a checkpoint and now.

    Args:
      new_vocab: the file of the new vocabulary: an entry on each line.
      new_vocab_size: how many of its entries count.
      num_oov_buckets: how many rows or columns there are for what is not in it.
      old_vocab: the file of the checkpoint's vocabulary.
      old_vocab_size: how many of its entries count; -1 for all.
      backup_initializer: of what was not in it; zeros by default.
      axis: 0 for rows, 1 for columns.

    Raises ValueError for another axis.
    """

    def __new__(
        cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size=-1, backup_initializer=None, axis=0
    ):
        if axis not in (0, 1):
            raise ValueError(f"The only supported values for the axis argument are 0 and 1.  Provided axis: {axis}")
        return super().__new__(
            cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size, backup_initializer, axis
        )


@public("train.warm_start")
def warm_start(
    ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None, var_name_to_prev_var_name=None
):
    """Makes the initializers of variables read a checkpoint. Nothing is read before they run.

    Args:
      ckpt_to_initialize_from: a checkpoint, or a folder of which to take the newest one.
      vars_to_warm_start: a pattern of names of trainable variables; a list of such patterns, of all variables; a list
        of variables; None for the trainable variables with a VocabInfo.
      var_name_to_vocab_info: {name: VocabInfo} of variables whose vocabulary has changed.
      var_name_to_prev_var_name: {name: name in the checkpoint} of those that had another one.

    Raises:
      ValueError: for names that are not used, and what is missing in the checkpoint.
      TypeError: for lists of other things.
      tf.errors.OpError: if there is no such checkpoint.
    """
    _log().info("Warm-starting from: %s", ckpt_to_initialize_from)
    groups = _groups(vars_to_warm_start)
    vocabularies = var_name_to_vocab_info or {}
    renamed = var_name_to_prev_var_name or _keys_of_objects(ckpt_to_initialize_from, groups)
    plain = {}
    count = 0
    for name, parts in groups.items():
        old_name = renamed.get(name) or name
        if vocabularies.get(name):
            _initialize_from_vocabulary(parts, vocabularies[name], ckpt_to_initialize_from, old_name)
        elif vars_to_warm_start:
            plain[old_name] = parts[0] if len(parts) == 1 else parts
        else:
            continue
        count += 1
    init_from_checkpoint(ckpt_to_initialize_from, plain)
    _log().info("Warm-started %d variables.", count)
    for argument, names in (("var_name_to_prev_var_name", renamed), ("var_name_to_vocab_info", vocabularies)):
        unused = {name for name in names if name not in groups}
        if unused:
            raise ValueError(
                f"You provided the following variables in {argument} that were not used: {unused}.  Perhaps you "
                f"misspelled them?  Here is the list of viable variable names: {groups.keys()}"
            )


def _groups(wanted):
    """{name: its variables, the parts of one that is partitioned}."""
    graph = get_default_graph()
    if wanted is None or isinstance(wanted, str):
        _log().info("Warm-starting variables only in TRAINABLE_VARIABLES.")
        found = graph.get_collection(GraphKeys.TRAINABLE_VARIABLES, wanted)
    elif not isinstance(wanted, list):
        raise ValueError(f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(wanted)}")
    elif all(isinstance(item, str) for item in wanted):
        found = [v for scope in wanted for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES, scope)]
    elif all(isinstance(item, Variable) for item in wanted):
        found = wanted
    else:
        raise ValueError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are "
            f"{[type(item) for item in wanted]}"
        )
    groups: dict = {}
    for variable in found:
        (name,) = by_name([variable])
        groups.setdefault(name, []).append(variable)
    return groups


def _path(checkpoint):
    path = filesystem.path_text(checkpoint)
    return checkpoint_state.latest_checkpoint(path) if os.path.isdir(path) else path


def _keys_of_objects(checkpoint, names):
    """{name: key} if it is a checkpoint of tf.train.Checkpoint, and nothing otherwise."""
    path = _path(checkpoint)
    keys = object_keys(path) if path else None
    if keys is None:
        return {}
    missing = set(names) - set(keys)
    if missing:
        raise ValueError(
            "Attempting to warm-start from an object-based checkpoint, but found that the checkpoint did not contain "
            f"values for all variables. The following variables were missing: {missing}"
        )
    return {name: keys[name] for name in names}


@public("python.training.warm_starting_util._infer_var_name")
def infer_var_name(var):
    """The name that a Saver gives to a list of one variable, or of the parts of one. TypeError for other lists."""
    names = by_name(var)
    if len(names) > 1:
        raise TypeError(f"`var` = {var} passed as arg violates the constraints.  name_to_var_dict = {names}")
    return next(iter(names))


def _parts(var):
    """The variables that a variable, a list of parts or a PartitionedVariable is made of."""
    if isinstance(var, Variable):
        return [var]
    if isinstance(var, PartitionedVariable):
        return list(var)
    if isinstance(var, list) and all(isinstance(part, Variable) for part in var):
        return var
    raise TypeError(
        f"var MUST be one of the following: a Variable, list of Variable or PartitionedVariable, but is {type(var)}"
    )


@public("python.training.warm_starting_util._get_var_info")
def get_var_info(var, prev_tensor_name=None):
    """(Name in the checkpoint, by default that of now; the variable, or the list of its parts)."""
    parts = _parts(var)
    return prev_tensor_name or infer_var_name(parts), var if isinstance(var, Variable) else parts


@public("python.training.warm_starting_util._warm_start_var_with_vocab")
def warm_start_var_with_vocab(
    var, current_vocab_path, current_vocab_size, prev_ckpt, prev_vocab_path, previous_vocab_size=-1,
    current_oov_buckets=0, prev_tensor_name=None, initializer=None, axis=0,
):  # fmt: skip
    """Makes the initializer of one variable, or of its parts, read a checkpoint by its vocabulary's entries.

    Arguments are those of VocabInfo and of tf.train.warm_start, errors as there.
    """
    name, _ = get_var_info(var, prev_tensor_name)
    info = VocabInfo(
        current_vocab_path, current_vocab_size, current_oov_buckets, prev_vocab_path, previous_vocab_size,
        initializer, axis,
    )  # fmt: skip
    _initialize_from_vocabulary(_parts(var), info, prev_ckpt, name)


def _initialize_from_vocabulary(parts, info, checkpoint, old_name):
    if not (info.new_vocab and info.new_vocab_size and checkpoint and info.old_vocab):
        raise ValueError(
            "Invalid args: Must provide all of [current_vocab_path, current_vocab_size, prev_ckpt, prev_vocab_path}."
        )
    row_count = sum(part.get_shape().as_list()[0] for part in parts)
    for part in parts:
        shape = part.get_shape().as_list()
        piece = part._get_save_slice_info()
        partition = PartitionInfo(piece.full_shape, piece.var_offset) if piece else None
        size = (info.new_vocab_size, shape[1]) if info.axis == 0 else (row_count, info.new_vocab_size)
        axis = "row" if info.axis == 0 else "col"
        initializer = remapped_matrix_initializer(
            _path(checkpoint), old_name, *size,
            old_row_vocab_size=info.old_vocab_size if info.axis == 0 else -1,
            initializer=info.backup_initializer,
            **{
                f"old_{axis}_vocab_file": info.old_vocab,
                f"new_{axis}_vocab_file": info.new_vocab,
                f"num_{axis}_oov_buckets": info.num_oov_buckets,
            },
        )  # fmt: skip
        value = convert_to_tensor(initializer(shape, partition_info=partition))
        part._initializer_op = part.assign(value).op if is_resource_variable(part) else ops.assign(part, value).op


def _log():
    from stillflow.platform import logging

    return logging
