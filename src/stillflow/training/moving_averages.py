"""Exponential moving averages of variables and tensors."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.name_scope import init_scope, name_scope
from stillflow.names import public, public_module
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.training import slot_creator
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros
from stillflow.variables.listing import global_variables, moving_average_variables, trainable_variables
from stillflow.variables.resource_variable import is_resource_variable
from stillflow.variables.scope import get_variable_scope, variable_scope
from stillflow.variables.variable import Variable

public_module("python.training.moving_averages")

_TYPES = (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64)


def assign_moving_average(variable, value, decay, zero_debias=True, name=None):
    """What, when computed, sets `variable` to variable * decay + value * (1 - decay).

    Args:
      variable: a variable.
      value: a tensor of its shape.
      decay: a float, or a float scalar tensor.
      zero_debias: whether the variable began as zero and is to be divided by 1 - decay ** number of updates, as in
        Kingma and Ba, "Adam: a method for stochastic optimization", section 3. Two variables beside it keep count.
      name: the scope of the new nodes.
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        decay = convert_to_tensor(1.0 - decay, name="decay")
        if decay.dtype is not variable.dtype.base_dtype:
            decay = ops.cast(decay, variable.dtype.base_dtype)
        if zero_debias:
            return _assign_debiased(variable, value, decay)
        return _assign_sub(variable, (variable - value) * decay, scope)


def _assign_debiased(variable, value, decay):
    with variable_scope(variable.name.removesuffix(":0"), values=[variable, value, decay]):
        options = {"dtype": variable.dtype, "initializer": Zeros(), "trainable": False}
        with get_default_graph().colocate_with(variable):
            biased = get_variable(_free_name("biased"), shape=variable.shape, **options)
            local_step = get_variable(_free_name("local_step"), shape=[], **options)
    update = _assign_sub(biased, (biased - value) * decay, None)
    steps = local_step.assign_add(1)
    average = update / (1 - ops.pow(1.0 - decay, steps))
    scope = (get_default_graph().get_name_scope() or "") + "/"
    if is_resource_variable(variable):
        return variable.assign(average, name=scope)
    return ops.assign(variable, average, name=scope)


def _assign_sub(variable, value, name):
    if is_resource_variable(variable):
        return variable.assign_sub(value)
    return ops.assign_sub(variable, value, name=name)


def _free_name(name):
    """`name`, with "_1", "_2", ... if the variable scope has a variable of that name and does not share it."""
    scope = get_variable_scope()
    if scope.reuse:
        return name
    taken = {variable._shared_name for variable in scope.global_variables()}
    found, number = name, 0
    while f"{scope.name}/{found}" in taken:
        number += 1
        found = f"{name}_{number}"
    return found


def weighted_moving_average(value, decay, weight, truediv=True, collections=None, name=None):
    """What, when computed, is the moving average of value * weight over that of `weight`, both updated.

    Args:
      value: a numeric tensor.
      decay: a float, or a float scalar tensor.
      weight: a tensor that can be multiplied with `value`.
      truediv: whether to divide as floating point numbers; otherwise as the types say.
      collections: where to put the two variables; by default [GraphKeys.GLOBAL_VARIABLES].
      name: the scope of the new nodes and variables.
    """
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    with variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:
        options = {"initializer": Zeros(), "trainable": False, "collections": collections}
        products = get_variable("value_x_weight", shape=value.shape, dtype=value.dtype, **options)
        weights = get_variable("weight", shape=weight.shape, dtype=weight.dtype, **options)
        numerator = assign_moving_average(products, value * weight, decay, zero_debias=False)
        denominator = assign_moving_average(weights, weight, decay, zero_debias=False)
        divide = ops.truediv if truediv else ops.div
        return divide(numerator, denominator, name=scope.name)


@public("train.ExponentialMovingAverage")
class ExponentialMovingAverage:
    """Keeps moving averages of variables and tensors, in shadow variables beside them.

    Each run of what `apply` returns changes a shadow variable by

        shadow_variable -= (1 - decay) * (shadow_variable - variable)

    Models are often better with the averages than with the variables at the end of training: `average` gives the
    shadow variable, `average_name` and `variables_to_restore` the names under which to restore it from a checkpoint.

    Args:
      decay: the decay, a number close to 1.
      num_updates: the number of updates so far, a number or a variable: the decay is then at most
        (1 + num_updates) / (10 + num_updates), so that the averages move faster at the start.
      zero_debias: whether to correct averages of tensors, which begin with zero.
      name: of the shadow variables, and of the scope of the nodes that `apply` adds.
    """

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay = decay
        self._num_updates = num_updates
        self._zero_debias = zero_debias
        self._name = name
        self._averages: dict = {}  # variable or tensor -> its shadow variable

    @property
    def name(self):
        return self._name

    def apply(self, var_list=None):
        """An operation that updates the averages of `var_list`; makes the shadow variables that are missing.

        Args:
          var_list: variables, whose averages begin with their initial values, and tensors, whose averages begin with
            zero; by default the trainable variables. Variables are added to GraphKeys.MOVING_AVERAGE_VARIABLES.

        Raises:
          TypeError: for other types than float16, bfloat16, float32 and float64, and in eager execution for tensors.
        """
        if var_list is None:
            var_list = trainable_variables()
        debiased = set()
        for variable in var_list:
            if variable.dtype.base_dtype not in _TYPES:
                raise TypeError(f"The variables must be half, float, or double: {variable.name}")
            if variable not in self._averages:
                if not isinstance(variable, Variable):
                    require_graph(
                        "tf.train.ExponentialMovingAverage does not support non-Variable tensors when eager "
                        "execution is enabled.",
                        TypeError,
                    )
                with init_scope():
                    average = self._shadow_of(variable)
                if self._zero_debias and not isinstance(variable, Variable):
                    debiased.add(average)
                self._averages[variable] = average
        with name_scope(self._name) as scope:
            decay = convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                updates = ops.cast(self._num_updates, dtypes.float32, name="num_updates")
                decay = ops.minimum(decay, (1.0 + updates) / (10.0 + updates))
            assignments = []
            for variable in var_list:
                average = self._averages[variable]
                assignments.append(assign_moving_average(average, variable, decay, average in debiased))
            return group(*assignments, name=scope)

    def _shadow_of(self, variable):
        if not isinstance(variable, Variable):
            is_variable = variable.op._op_def.is_variable
            return slot_creator.create_zeros_slot(variable, self._name, colocate_with_primary=is_variable)
        average = slot_creator.create_slot(variable, variable.initialized_value(), self._name)
        get_default_graph().add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, variable)
        return average

    def average(self, var):
        """The shadow variable of a variable or tensor; None if `apply` was not asked for one."""
        return self._averages.get(var)

    def average_name(self, var):
        """The name of the shadow variable, also of one that `apply` would make."""
        if var in self._averages:
            return slot_creator.name_of(self._averages[var])
        return get_default_graph().unique_name(f"{slot_creator.name_of(var)}/{self._name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables=None):
        """{name in a checkpoint: variable}, with the names of the shadow variables where there are averages.

        Args:
          moving_avg_variables: the variables to restore from their averages; by default the trainable ones and
            those in GraphKeys.MOVING_AVERAGE_VARIABLES.
        """
        if moving_avg_variables is None:
            moving_avg_variables = [*trainable_variables(), *moving_average_variables()]
        averaged = list(dict.fromkeys(moving_avg_variables))
        found = {self.average_name(variable): variable for variable in averaged}
        names = {variable.name for variable in averaged}
        for variable in dict.fromkeys(global_variables()):
            if variable.name not in names and slot_creator.name_of(variable) not in found:
                found[slot_creator.name_of(variable)] = variable
        return found
