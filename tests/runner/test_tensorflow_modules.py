"""`import tensorflow` in all the forms that programs use."""

import json
import subprocess
import sys

import pytest

SERVED = """
import tensorflow as tf
import tensorflow.compat.v1 as tf
import tensorflow as tf, tensorflow.compat.v1 as v1; assert tf is v1
from tensorflow.compat import v1; import tensorflow; assert tensorflow is v1
from tensorflow.compat.v1.nn import relu
from tensorflow.examples.tutorials.mnist import input_data; input_data.read_data_sets
import tensorflow.examples.tutorials.mnist.input_data as input_data; input_data.read_data_sets
import tensorflow as tf; tf.examples.tutorials.mnist.input_data.read_data_sets
from tensorflow.python.framework import ops; ops.get_default_graph(); ops.reset_default_graph()
from tensorflow.python.framework import tensor_shape; assert tensor_shape.scalar() == []
from tensorflow.python.framework import dtypes; import tensorflow as tf; assert dtypes.float32 is tf.float32
from tensorflow.python.framework.errors import InvalidArgumentError
from tensorflow.python.platform import gfile; gfile.GFile
from tensorflow.python.ops.rnn import rnn_cell_impl; rnn_cell_impl.BasicLSTMCell
from tensorflow.python.ops import rnn; rnn.math_ops.reduce_sum, rnn.dtypes.float32
import tensorflow.compat.v2 as tf; assert tf.math.reduce_sum is tf.reduce_sum; tf.keras.layers.Dense
from tensorflow.python.ops.inplace_ops import alias_inplace_update
from tensorflow.python.client.session import register_session_run_conversion_functions
from tensorflow.contrib.rnn.python.ops.core_rnn_cell_impl import _linear, LSTMCell, EmbeddingWrapper, RNNCell
from tensorflow.contrib.rnn.python.ops import core_rnn_cell_impl; core_rnn_cell_impl.LSTMStateTuple
from tensorflow.python.ops.rnn_cell_impl import _RNNCell as RNNCell, _Linear
from tensorflow.contrib.rnn.python.tools.checkpoint_convert import convert_names
from tensorflow.contrib.grid_rnn.python.ops.grid_rnn_cell import Grid2LSTMCell
from tensorflow.python.platform import flags; flags.DEFINE_string
from tensorflow.python.platform import tf_logging as logging; logging.info
from tensorflow.python.ops import array_ops, math_ops, control_flow_ops; array_ops.concat, array_ops.identity
from tensorflow.python.ops import array_ops; array_ops.squeeze, array_ops.one_hot
from tensorflow.python.ops import control_flow_ops; control_flow_ops.with_dependencies, control_flow_ops.group
from tensorflow.python.ops import control_flow_ops as c; c.cond, c.case, c.switch, c.merge, c.CondContext
from tensorflow.python.framework import smart_cond; smart_cond.smart_cond, smart_cond.smart_constant_value
from tensorflow.python.training import moving_averages; moving_averages.assign_moving_average
from tensorflow.python.util import nest; nest.flatten, nest.map_structure
from tensorflow.python.ops import math_ops; math_ops.add, math_ops.reduce_sum, math_ops.sigmoid, math_ops.cast
from tensorflow.python.ops import standard_ops; standard_ops.one_hot
from tensorflow.python.ops import init_ops; init_ops.constant_initializer
from tensorflow.python.ops import state_ops; state_ops.assign_add
from tensorflow.python.ops import variable_scope as vs; vs.get_variable
from tensorflow.python.training import optimizer; optimizer.Optimizer
from tensorflow.python.training.adam import AdamOptimizer
from tensorflow.python.util import compat; compat.as_bytes("x")
from tensorflow.python.util.compat import as_str
from tensorflow.core.framework import summary_pb2; summary_pb2.Summary()
from tensorflow.core.framework.graph_pb2 import GraphDef
from tensorflow.core.example import example_pb2, feature_pb2; example_pb2.Example, feature_pb2.Int64List
from tensorflow.python.lib.io import tf_record; tf_record.TFRecordWriter, tf_record.tf_record_iterator
from tensorflow.python.ops import parsing_ops, string_ops, io_ops; parsing_ops.parse_example, string_ops.substr
from tensorflow.python.summary import summary; summary.scalar, summary.FileWriter
from tensorflow.python.summary.summary_iterator import summary_iterator
from tensorflow.python.training import session_run_hook; session_run_hook.SessionRunHook
from tensorflow.python.training.session_run_hook import SessionRunArgs
from tensorflow.python.training import basic_session_run_hooks as h; h.LoggingTensorHook, h.NeverTriggerTimer
from tensorflow.python.training import monitored_session as m; m.MonitoredSession, m.USE_DEFAULT, m.Scaffold
from tensorflow.python.training import training_util; training_util.get_global_step, training_util.write_graph
from tensorflow.python.training import saver as saver_lib; saver_lib.Saver, saver_lib.latest_checkpoint
from tensorflow.python.training import coordinator, queue_runner_impl, supervisor, session_manager, input
from tensorflow.python.training.summary_io import SummaryWriterCache; SummaryWriterCache.get
from tensorflow.python.training import learning_rate_decay; learning_rate_decay.exponential_decay
from tensorflow.python.training import checkpoint_management, checkpoint_utils, server_lib, device_setter
from tensorflow.python.training import warm_starting_util, basic_loops; warm_starting_util.warm_start
from tensorflow.python.client import device_lib; assert device_lib.list_local_devices()[0].name == "/device:CPU:0"
from tensorflow.core.protobuf import cluster_pb2, saver_pb2; cluster_pb2.ClusterDef(), saver_pb2.SaverDef()
import tensorflow.contrib.slim as slim; slim.conv2d, slim.learning.train, slim.losses.log_loss, slim.utils
from tensorflow.contrib import slim; slim.tfexample_decoder.Image, slim.dataset.Dataset, slim.get_model_variables
from tensorflow.contrib.slim.nets import vgg, resnet_v1, inception; vgg.vgg_16, resnet_v1.resnet_v1_50
from tensorflow.contrib.slim.python.slim.nets import resnet_utils; resnet_utils.Block
from tensorflow.contrib.slim.python.slim.nets.inception_v3 import inception_v3_base
from tensorflow.contrib.slim.python.slim.data import dataset_data_provider; dataset_data_provider.DatasetDataProvider
from tensorflow.contrib.slim.python.slim.learning import train_step
import tf_slim as slim; import tensorflow as tf; assert slim is tf.contrib.slim
from tf_slim.nets import resnet_v2; resnet_v2.resnet_v2_50
from tf_slim.data import dataset, tfexample_decoder; dataset.Dataset, tfexample_decoder.TFExampleDecoder
from tf_slim.layers import layers, utils; layers.conv2d, utils.collect_named_outputs
from tf_slim.ops.arg_scope import arg_scope; from tf_slim.ops import variables; variables.model_variable
from tensorflow import app, flags; app.run, flags.FLAGS
import tensorflow.contrib as contrib; contrib.layers.xavier_initializer
from tensorflow.contrib.layers import variance_scaling_initializer, xavier_initializer_conv2d
from tensorflow.contrib.layers.python.layers.initializers import xavier_initializer
import tensorflow.contrib.eager as tfe; tfe.gradients_function; from tensorflow.contrib.eager.python import tfe
from tensorflow.contrib.tensorboard.plugins import projector; projector.ProjectorConfig().embeddings.add()
import tensorflow as tf; tf.contrib.tensorboard.plugins.projector.visualize_embeddings
import tensorflow_estimator as e, tensorflow as tf; assert e.estimator.Estimator is tf.estimator.Estimator
from tensorflow_estimator.python.estimator import estimator, run_config; estimator.Estimator, run_config.TaskType
from tensorflow.python.estimator.export import export; export.ServingInputReceiver
import tensorflow.python as p; from tensorflow.python.client import session; session.Session
from tensorflow.python.ops import rnn_cell, seq2seq; rnn_cell.GRUCell, rnn_cell.linear, seq2seq.rnn_decoder
from tensorflow.models.rnn import linear, rnn, seq2seq; linear.linear, rnn.rnn, seq2seq.model_with_buckets
""".strip().splitlines()

MISSING = {
    "from tensorflow.contrib import bigtable": "tensorflow.contrib.bigtable",
    "import tensorflow.contrib.bigtable as bigtable": "tensorflow.contrib.bigtable",
    "from tensorflow.contrib.layers import sparse_feature_cross": "sparse_feature_cross",
    "from tensorflow.python.ops import linear": "linear",
    "from tensorflow.python.framework.ops import nothing_there": "nothing_there",
    "from tensorflow import lite": "tensorflow.lite",
    "from tensorflow.lite.python import lite": "tensorflow.lite",
    "from tensorflow.session import Session": "tensorflow.session",
}


# Runs statements, each in a process that has imported nothing else, and prints (exit code, standard error) of each.
ONE_BY_ONE = """
import json, os, sys
import google.protobuf.message, ml_dtypes, numpy
import stillflow
stillflow.install_as_tensorflow()
outcomes = []
for statement in json.load(sys.stdin):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(write, 2)
        exec(statement, {})
        sys.exit()
    os.close(write)
    with open(read) as file:
        text = file.read()
    outcomes.append([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text])
print(json.dumps(outcomes))
"""


def execute_each(statements):
    given = json.dumps(statements)
    command = [sys.executable, "-c", ONE_BY_ONE]
    result = subprocess.run(command, input=given, capture_output=True, text=True, timeout=300, check=True)
    return zip(statements, json.loads(result.stdout), strict=True)


def execute(program):
    program = f"import stillflow; stillflow.install_as_tensorflow(); {program}"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)


def test_served():
    failures = {statement: outcome for statement, outcome in execute_each(SERVED) if outcome != [0, ""]}
    assert not failures


def test_what_is_missing_is_named():
    for statement, (code, text) in execute_each(list(MISSING)):
        last = text.splitlines()[-1]
        assert code == 1
        assert last.startswith(("ModuleNotFoundError: ", "ImportError: "))
        assert MISSING[statement] in last


def test_missing_parts_can_be_tried():
    program = "\ntry:\n    import tensorflow.contrib.bigtable\nexcept ImportError:\n    print('without')"
    assert execute(program).stdout == "without\n"
    assert execute("import tensorflow as tf; print(hasattr(tf, 'lite'))").stdout == "False\n"


def test_modules_are_the_same_however_they_are_imported():
    program = (
        "import tensorflow.errors as e, tensorflow.nn as n, stillflow, sys; "
        "assert e is stillflow.errors and n is stillflow.nn; "
        "assert stillflow.__spec__.name == 'stillflow' and stillflow.errors.__spec__.name == 'stillflow.errors'; "
        "import importlib.util; assert importlib.util.find_spec('tensorflow') is not None; "
        "stillflow.install_as_tensorflow()"
    )
    result = execute(program)
    assert (result.returncode, result.stderr) == (0, "")


def test_another_tensorflow_is_left_alone():
    program = "import sys, types; sys.modules['tensorflow'] = types.ModuleType('tensorflow')\nimport stillflow\n"
    result = subprocess.run(
        [sys.executable, "-c", program + "stillflow.install_as_tensorflow()"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "RuntimeError: Another tensorflow has been imported already" in result.stderr


@pytest.mark.parametrize("name", ["train.AdamOptimizer", "nn.relu", "keras.Model", "contrib.layers.conv2d"])
def test_classes_and_functions_are_no_modules(name):
    """Programs that find a class by its path import ever shorter ones, until one is a module."""
    text = "import importlib, stillflow; stillflow.install_as_tensorflow(); importlib.import_module('tensorflow.{}')"
    result = subprocess.run([sys.executable, "-c", text.format(name)], capture_output=True, text=True, check=False)
    assert f"No module named 'tensorflow.{name}': it is a name in a module" in result.stderr


def test_functions_and_classes_are_located_by_their_paths():
    program = """
import pydoc, stillflow
stillflow.install_as_tensorflow()
print(pydoc.locate("tensorflow.nn.relu").__name__, pydoc.locate("tensorflow.train.AdamOptimizer").__name__)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("relu AdamOptimizer\n", "")
