"""convert_names: checkpoints of recurrent nets from before TensorFlow 1.2, with the names that variables have now.

What was called `weights` and `biases` is `kernel` and `bias`; attention decoders had other names still.
"""

from __future__ import annotations

import collections
import logging

from stillflow.graph.graph import Graph
from stillflow.names import public
from stillflow.saver.checkpoint_reader import NewCheckpointReader
from stillflow.saver.saver import Saver
from stillflow.session.session import Session
from stillflow.variables.listing import global_variables_initializer
from stillflow.variables.variable import Variable

# Layers whose variables were called weights and biases.
_LAYERS = (
    "basic_rnn_cell", "gru_cell", "gru_cell/gates", "gru_cell/candidate", "basic_lstm_cell", "lstm_cell",
    "lstm_cell/projection", "output_projection_wrapper", "input_projection_wrapper", "lstm_block_wrapper",
    "layer_norm_basic_lstm_cell", "ugrnn_cell", "nas_rnn", "intersection_rnn_cell",
    "intersection_rnn_cell/in_projection", "phased_lstm_cell/mask_gates", "phased_lstm_cell/new_input",
    "phased_lstm_cell/output_gate", "attention_cell_wrapper", "attention_cell_wrapper/attn_output_projection",
    "attention_cell_wrapper/attention", "attention_decoder", "attention_decoder/Attention_0",
    "attention_decoder/AttnOutputProjection",
)  # fmt: skip
# Layers of attention decoders whose variables were called Linear/Bias and Linear/Matrix before that.
_OLDER_LAYERS = ("attention_decoder/Attention_0", "attention_decoder/AttnOutputProjection", "attention_decoder")


def _replacements():
    found = collections.OrderedDict()
    for layer in _LAYERS:
        found[f"{layer}/weights"] = f"{layer}/kernel"
        if layer == "nas_rnn":  # has no bias, but two kernels
            found[f"{layer}/recurrent_weights"] = f"{layer}/recurrent_kernel"
        else:
            found[f"{layer}/biases"] = f"{layer}/bias"
    for layer in _OLDER_LAYERS:
        found[f"{layer}/Linear/Bias"] = f"{layer}/bias"
        found[f"{layer}/Linear/Matrix"] = f"{layer}/kernel"
    found["attention_decoder/LSTMCell/B"] = "attention_decoder/lstm_cell/bias"
    found["attention_decoder/LSTMCell/W_0"] = "attention_decoder/lstm_cell/kernel"
    return found


RNN_NAME_REPLACEMENTS = public("contrib.rnn.python.tools.checkpoint_convert.RNN_NAME_REPLACEMENTS")(_replacements())


def _new_name(name):
    for old, new in RNN_NAME_REPLACEMENTS.items():
        if old in name:
            return name.replace(old, new)
    return name


@public("contrib.rnn.python.tools.checkpoint_convert.convert_names")
def convert_names(checkpoint_from_path, checkpoint_to_path, write_v1_checkpoint=False):
    """Writes a checkpoint with the same values, under the names that variables of recurrent nets have now.

    Args:
      checkpoint_from_path: the prefix of a checkpoint.
      checkpoint_to_path: the prefix of what is written.
      write_v1_checkpoint: whether it is of the format of before 1.0.

    Returns (a dict from new names to variables, a dict from old names to those that changed).

    Raises NotFoundError if there is no such checkpoint.
    """
    log = logging.getLogger("tensorflow")
    with Graph().as_default():
        log.info("Reading checkpoint_from_path %s", checkpoint_from_path)
        reader = NewCheckpointReader(checkpoint_from_path)
        variables, changed = {}, {}
        for name in reader.get_variable_to_shape_map():
            new = _new_name(name)
            variables[new] = Variable(reader.get_tensor(name), name=name)
            if new != name:
                log.info("Converted: %s --> %s", name, new)
                changed[name] = new
        saver = Saver(variables, write_version=1 if write_v1_checkpoint else 2)
        with Session() as session:
            session.run(global_variables_initializer())
            log.info("Writing checkpoint_to_path %s", checkpoint_to_path)
            saver.save(session, checkpoint_to_path)
    log.info("Summary:")
    log.info("  Converted %d variable name(s).", len(variables))
    return variables, changed
