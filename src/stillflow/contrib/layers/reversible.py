"""Reversible residual layers: on the way back, what they were given is computed from what they gave.

    y1 = x1 + f(x2)
    y2 = x2 + g(y1)

Gomez, Ren, Urtasun, Grosse: The reversible residual network, 2017.
"""

from __future__ import annotations

import functools
import logging
import re
from typing import Any

from stillflow import ops
from stillflow.autodiff.custom_gradient import custom_gradient
from stillflow.autodiff.reverse import gradients
from stillflow.graph import nest
from stillflow.layers import base
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import tuple_of
from stillflow.variables.scope import get_variable_scope, variable_scope

_LAYER = re.compile(r".*revlayer_([0-9]*)/([fg])/.*")


def _in_scope(function, scope):
    """The function, whose variables are those of resources in a scope."""

    def call(*args, **kwargs):
        with variable_scope(scope, use_resource=True):
            return function(*args, **kwargs)

    return call if isinstance(function, functools.partial) else functools.wraps(function)(call)


def _called(function, x, side_inputs):
    return function(x, side_inputs) if side_inputs else function(x)


def _sums(*lists):
    """The sums of gradients at the same places of lists, None where there are none."""
    found = ([each for each in each_place if each is not None] for each_place in zip(*lists, strict=True))
    return [ops.add_n(each) if each else None for each in found]


def _layer_gradients(ys, gradients_of_ys, f, g, f_inputs, g_inputs):
    """What a layer was given, and gradients, of what it gave.

    `f_inputs` and `g_inputs` are (variables, side inputs). Returns (x1, x2), their gradients, and for f and for g the
    lists of the gradients of their variables and of their side inputs.
    """
    (y1, y2), (grad_y1, grad_y2) = ys, gradients_of_ys
    (f_variables, f_side), (g_variables, g_side) = f_inputs, g_inputs
    y1_alone = ops.stop_gradient(y1)
    g_side = [ops.stop_gradient(each) for each in g_side]
    of_y1 = _called(g, y1_alone, g_side)
    x2 = y2 - of_y1
    x2_alone = ops.stop_gradient(x2)
    f_side = [ops.stop_gradient(each) for each in f_side]
    of_x2 = _called(f, x2_alone, f_side)
    x1 = y1 - of_x2
    through_g = gradients(of_y1, y1_alone, grad_y2)[0]
    grad_x1 = grad_y1 + through_g
    grad_x2 = gradients(of_x2, x2_alone, grad_y1)[0] + grad_y2 + gradients(of_x2, x2_alone, through_g)[0]
    by_g = gradients(of_y1, [*g_variables, *g_side], grad_y2)
    by_f = _sums(
        gradients(of_x2, [*f_variables, *f_side], grad_y1), gradients(of_x2, [*f_variables, *f_side], through_g)
    )
    count_f, count_g = len(f_variables), len(g_variables)
    found = ((x1, x2), (grad_x1, grad_x2), (by_f[:count_f], by_f[count_f:]), (by_g[:count_g], by_g[count_g:]))
    # Together, so that the layer before does not begin, and take memory, when a part of them is there.
    return nest.pack_sequence_as(found, tuple_of(nest.flatten(found)))


def _listed(functions, count):
    if not isinstance(functions, list):
        return [functions] * count
    if len(functions) != count:
        raise AssertionError(f"There are {len(functions)} functions for {count} layers")
    return functions


@public("contrib.layers.RevBlock")
class RevBlock(base.Layer):
    """Reversible layers, one after the other. Its variables are made when it is first called.

    Args:
      f, g: functions of a tensor, and of a list of side inputs if there are some, to a tensor of the same shape; or
        lists of such, one for each layer. They must not use other tensors.
      num_layers: how many layers.
      f_side_input, g_side_input: lists of tensors.
      use_efficient_backprop: whether gradients compute inputs of layers again instead of keeping them.
      name: of the layer.

    Raises AssertionError for a list of functions of another length.
    """

    def __init__(
        self, f, g, num_layers=1, f_side_input=None, g_side_input=None, use_efficient_backprop=True, name="revblock",
        **kwargs,
    ):  # fmt: skip
        super().__init__(name=name, **kwargs)
        self.f = [_in_scope(each, f"revlayer_{i}/f") for i, each in enumerate(_listed(f, num_layers))]
        self.g = [_in_scope(each, f"revlayer_{i}/g") for i, each in enumerate(_listed(g, num_layers))]
        self.num_layers = num_layers
        self.f_side_input = f_side_input or []
        self.g_side_input = g_side_input or []
        self._use_efficient_backprop = use_efficient_backprop

    def build(self, _):
        logging.getLogger("tensorflow").warning("RevBlock constructs its variables on first call, not on build.")
        self.built = True

    def call(self, inputs, forward=True):
        scope = get_variable_scope()
        before = len(scope.global_variables())
        outputs = self._forward(*inputs) if forward else self._backward(*inputs)
        trainable = {id(each) for each in scope.trainable_variables()}
        for made in scope.global_variables()[before:]:
            (self._trainable_weights if id(made) in trainable else self._non_trainable_weights).append(made)
        return outputs

    def forward(self, x1, x2):
        """(y1, y2)."""
        return self.apply([x1, x2])

    def backward(self, y1, y2):
        """The (x1, x2) that these come from."""
        return self.apply([y1, y2], forward=False)

    def _through(self, x1, x2, f_side, g_side):
        for f, g in zip(self.f, self.g, strict=True):
            y1 = x1 + _called(f, x2, f_side)
            y2 = x2 + _called(g, y1, g_side)
            x1, x2 = tuple_of([y1, y2]) if self._use_efficient_backprop else (y1, y2)
        return x1, x2

    def _forward(self, x1, x2):
        if not self._use_efficient_backprop:
            return self._through(x1, x2, self.f_side_input, self.g_side_input)
        count = len(self.f_side_input)

        @custom_gradient
        def with_gradient(x1, x2, *side_inputs):
            ys = self._through(x1, x2, list(side_inputs[:count]), list(side_inputs[count:]))

            def gradient(*gradients_of_ys, **kwargs):
                return self._gradients(ys, gradients_of_ys, kwargs["variables"])

            return ys, gradient

        return with_gradient(x1, x2, *self.f_side_input, *self.g_side_input)

    def _gradients(self, ys, gradients_of_ys, variables):
        """([gradients of x1, x2 and side inputs], [gradients of variables])."""
        places: Any = {(layer, kind): [] for layer in range(self.num_layers) for kind in "fg"}
        for i, variable in enumerate(variables):
            layer, kind = _LAYER.findall(variable.name)[0]
            places[int(layer), kind].append(i)
        of_variables: list = [None] * len(variables)
        of_sides: Any = {"f": [], "g": []}
        with variable_scope(self.scope_name, reuse=True):
            for layer in reversed(range(self.num_layers)):
                chosen = {kind: [variables[i] for i in places[layer, kind]] for kind in "fg"}
                ys, gradients_of_ys, *found = _layer_gradients(
                    ys, gradients_of_ys, self.f[layer], self.g[layer], (chosen["f"], self.f_side_input),
                    (chosen["g"], self.g_side_input),
                )  # fmt: skip
                for kind, (by_variable, by_side) in zip("fg", found, strict=True):
                    of_sides[kind].append(by_side)
                    for i, gradient in zip(places[layer, kind], by_variable, strict=True):
                        of_variables[i] = gradient
        return [*gradients_of_ys, *_sums(*of_sides["f"]), *_sums(*of_sides["g"])], of_variables

    def _backward(self, y1, y2):
        for f, g in zip(reversed(self.f), reversed(self.g), strict=True):
            x2 = y2 - _called(g, y1, self.g_side_input)
            y1, y2 = y1 - _called(f, x2, self.f_side_input), x2
        return y1, y2


@public("contrib.layers.rev_block")
def rev_block(x1, x2, f, g, num_layers=1, f_side_input=None, g_side_input=None, is_training=True):
    """What reversible layers make of two tensors: (y1, y2).

    Args:
      x1, x2: float tensors of one shape.
      f, g, num_layers, f_side_input, g_side_input: as of RevBlock.
      is_training: whether gradients compute inputs of layers again instead of keeping them.
    """
    block = RevBlock(
        f=f, g=g, num_layers=num_layers, f_side_input=f_side_input, g_side_input=g_side_input,
        use_efficient_backprop=is_training, _reuse=get_variable_scope().reuse,
    )  # fmt: skip
    return block.forward(x1, x2)
