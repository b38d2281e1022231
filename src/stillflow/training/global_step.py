"""The global step: the variable that counts the steps of a graph."""

from __future__ import annotations

import logging

from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.variables.assignments import assign_add
from stillflow.variables.copies import VariableAggregation
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros
from stillflow.variables.variable import Variable


@public("train.global_step")
@by_mode
def global_step(sess, global_step_tensor):
    """The number of steps so far in a session, an int; in eager execution no session is asked."""
    return int(sess.run(global_step_tensor))


@eager_version_of(global_step)
def eager_global_step(sess, global_step_tensor):
    return int(global_step_tensor.numpy())


@public("train.get_global_step", "contrib.framework.get_global_step")
def get_global_step(graph=None):
    """The global step of a graph, the default graph by default: a variable, a tensor, or None.

    It is what the collection GLOBAL_STEP has, or the tensor "global_step:0". Raises TypeError for one that is no
    integer scalar.
    """
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        logging.getLogger("tensorflow").error("Multiple tensors in global_step collection.")
        return None
    if found:
        step = found[0]
    else:
        try:
            step = graph.get_tensor_by_name("global_step:0")
        except KeyError:
            return None
    assert_global_step(step)
    return step


@public("train.create_global_step", "contrib.framework.create_global_step")
def create_global_step(graph=None):
    """Makes the global step, an int64 variable that begins at 0. Raises ValueError if there is one."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        return get_variable(
            GraphKeys.GLOBAL_STEP,
            shape=[],
            dtype=dtypes.int64,
            initializer=Zeros(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
            aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
        )


@public("train.get_or_create_global_step", "contrib.framework.get_or_create_global_step")
def get_or_create_global_step(graph=None):
    """The global step of a graph, made if there is none."""
    graph = graph or get_default_graph()
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


@public("train.assert_global_step", "contrib.framework.assert_global_step")
def assert_global_step(global_step_tensor):
    """Raises TypeError for anything but an integer scalar, variable or tensor."""
    if not isinstance(global_step_tensor, (Variable, Tensor)):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not global_step_tensor.dtype.base_dtype.is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}')
    shape = global_step_tensor.shape
    if shape.is_fully_defined() and shape.rank != 0:
        raise TypeError(f'Existing "global_step" is not scalar: {shape}')


_READ_KEY = "global_step_read_op_cache"


@public("python.training.training_util._get_or_create_global_step_read")
def get_or_create_global_step_read(graph=None):
    """A tensor that copies the global step, one for each graph; None if the graph has no global step.

    Raises RuntimeError if there is more than one.
    """
    graph = graph or get_default_graph()
    found = graph.get_collection(_READ_KEY)
    if len(found) > 1:
        raise RuntimeError(f"There are multiple items in collection {_READ_KEY}. There should be only one.")
    if found:
        return found[0]
    step = get_global_step(graph)
    if step is None:
        return None
    with graph.as_default(), graph.name_scope(None), graph.name_scope(f"{step.op.name}/"):
        value = step.initialized_value() if isinstance(step, Variable) else step
        graph.add_to_collection(_READ_KEY, value + 0)
    return graph.get_collection(_READ_KEY)[0]


@public("python.training.training_util._increment_global_step")
def increment_global_step(increment, graph=None):
    """An operation that adds to the global step after it has been read. Raises ValueError if there is none."""
    graph = get_default_graph() if graph is None else graph
    step = get_global_step(graph)
    if step is None:
        raise ValueError(
            "Global step tensor should be created by tf.train.get_or_create_global_step before calling increment."
        )
    read = get_or_create_global_step_read(graph)
    scope = f"{step.op.name}/"
    with graph.as_default(), graph.name_scope(None), graph.name_scope(scope), graph.control_dependencies([read]):
        return assign_add(step, increment)
