"""tf.contrib.eager.Network: layers that belong together, from before Keras had models that are subclassed."""

from __future__ import annotations

import collections
import inspect
import weakref

from stillflow.layers.base import Layer
from stillflow.layers.core.layer_names import find_layer, to_snake_case, unique_object_name
from stillflow.names import public
from stillflow.variables.scope import VariableScope, get_variable_scope, scopes_opened, variable_scope


@public("contrib.eager.Network")
class Network(Layer):
    """A function of layers, whose variables are in one scope. tf.keras.Model has taken its place.

    A subclass hands each layer to `track_layer` and has `call`. The scope is that of the first network that it is a
    part of, or the one in which it is made.

    Args:
      name: its name, which is no other network's there; by default its class in snake case, made unique.

    Raises:
      ValueError: for a name with a slash.
    """

    def __init__(self, name=None):
        if isinstance(name, VariableScope):
            raise ValueError("VariableScopes are not valid Network names.")
        if name is not None and "/" in name:
            raise ValueError("Forward slashes ('/') are not allowed in Network names.")
        super().__init__(name=name)
        self._layers = []
        self._own_layers = {}  # name -> layer, of those whose variables are in this network's scope
        self._counts_of_names = collections.defaultdict(int)
        self._first_parent = None  # a weak reference to the network that it is in first; False says that none is
        self._outer_scope = get_variable_scope()
        self._names_taken = scopes_opened()

    def _init_set_name(self, name, zero_based=True):
        self._name, self._base_name = name, None

    @property
    def name(self):
        """Its name. Raises ValueError before the network is called or is part of another one."""
        if self._name is None:
            raise ValueError(
                "The network does not yet have a final name, but a name was requested for it. Networks get a name "
                "when they are added to another Network via track_layer, or when they are first called/built."
            )
        return self._name

    def _choose_name(self, parent):
        """Names the network, once, as a part of `parent` or, where that is None, for itself."""
        if not self._name:
            counts, taken = (parent._counts_of_names, parent._own_layers) if parent else (None, self._taken_beside())
            self._base_name = to_snake_case(type(self).__name__)
            namespace = self._outer_scope.name
            self._name = unique_object_name(self._base_name, counts, taken, namespace, zero_based=True)
        if self._first_parent is None or (self._first_parent and self._first_parent() is None):
            self._first_parent = weakref.ref(parent) if parent else False

    def _taken_beside(self):
        """Names of the scopes that there were beside this one when the network was made."""
        prefix = f"{self._outer_scope.name}/" if self._outer_scope.name else ""
        return {name.removeprefix(prefix) for name in self._names_taken if name and name.startswith(prefix)}

    def _set_scope(self, scope=None):
        if self._scope is not None:
            return
        parent = self._first_parent() if self._first_parent else None
        if parent is None:
            self._choose_name(None)
        if scope is not None:
            raise ValueError("Networks may not be created with explicit scopes.")
        if parent is not None:
            parent._set_scope()
        with variable_scope(parent._scope if parent is not None else self._outer_scope) as outer:
            if f"{outer.name}/{self._name}" in self._names_taken:
                raise self._is_taken()
            with variable_scope(None, use_resource=True, default_name=self._name) as self._scope:
                prefix, _, last = self._scope.name.rpartition("/")
        if last != self._name:
            self._scope, taken = None, self._is_taken()
            raise taken
        if parent is None and prefix:
            self._name = f"{prefix}/{last}"
        for layer in self._own_layers.values():
            if not isinstance(layer, Network) and layer._scope is None:
                with (
                    variable_scope(self._scope),
                    variable_scope(None, use_resource=True, default_name=layer.name) as it,
                ):
                    layer._scope = it

    def _is_taken(self):
        return ValueError(
            f"A Network named '{self._name}' already exists (or a variable_scope was created with this name). Names "
            "must be unique."
        )

    def track_layer(self, layer):
        """Makes a layer or network a part of this one, and returns it.

        Raises:
          RuntimeError: before `__init__` has been called.
          TypeError: for what is no tf.layers.Layer.
          ValueError: if a layer of its name is a part already.
        """
        if "_own_layers" not in self.__dict__:
            raise RuntimeError("Need to call Network.__init__ before adding layers")
        if not isinstance(layer, Layer):
            raise TypeError(f"Network.track_layer() passed type {type(layer)}, not a tf.layers.Layer")
        layer._use_resource_variables = True
        if isinstance(layer, Network):
            layer._choose_name(self)
        elif not layer.built and _first_parent(layer) is None:
            if layer._name != layer._base_name:
                layer._name = unique_object_name(
                    layer._base_name, self._counts_of_names, self._own_layers, zero_based=True
                )
            layer._first_parent = weakref.ref(self)
        if not layer.built and _first_parent(layer) is self:
            known = self._own_layers.setdefault(layer.name, layer)
            if known is not layer:
                raise ValueError(f"Attempt to add two Layers with the name '{layer.name}' to the same Network.")
            if any(layer is each for each in self._layers):
                return layer
        self._layers.append(layer)
        return layer

    def get_layer(self, name=None, index=None):
        """The part of that name, the first one, or of that index. Raises ValueError if there is none."""
        if index is not None and name is not None:
            raise ValueError("Exactly one of 'index' or 'name' must be provided")
        return find_layer(self._layers, name, index)

    @property
    def layers(self):
        """A list of its parts."""
        return self._layers

    @property
    def trainable(self):
        """True."""
        return True

    @trainable.setter
    def trainable(self, value):
        if not value:
            raise AttributeError("cannot mark Network as not trainable")

    @property
    def weights(self):
        """The variables of its parts."""
        return [weight for layer in self._layers for weight in layer.weights]

    @property
    def trainable_weights(self):
        """Those that are trained."""
        return [weight for layer in self._layers for weight in layer.trainable_weights]

    @property
    def non_trainable_weights(self):
        """Those that are not."""
        return [weight for layer in self._layers for weight in layer.non_trainable_weights]

    @property
    def losses(self):
        """The losses of its parts."""
        return [loss for layer in self._layers for loss in layer.losses]

    def add_variable(self, *args, **kwargs):
        """Raises RuntimeError: the variables are those of its layers."""
        raise RuntimeError(
            "add_variable not supported in Network class yet. Please file an issue at "
            "https://github.com/tensorflow/tensorflow/issues/new if this is important to you"
        )

    def add_loss(self, losses, inputs=None):
        """Raises RuntimeError: the losses are those of its layers."""
        raise RuntimeError(
            "add_loss is not supported in Network class yet. Please file an issue at "
            "https://github.com/tensorflow/tensorflow/issues/new if this is important to you"
        )

    def _gather_saveables_for_checkpoint(self):
        raise NotImplementedError("tfe.Network does not support object-based checkpointing.")


def _first_parent(layer):
    """The network whose scope a layer's variables are in, or None."""
    parent = getattr(layer, "_first_parent", None)
    return parent() if parent else None


@public("contrib.eager.Sequential")
class Sequential(Network):
    """Layers and functions, each of what the one before returns.

    Args:
      layers_funcs: the layers and functions; more of them are added by `add`.
      name: as of Network.
    """

    def __init__(self, layers_funcs=None, name=None):
        super().__init__(name=name)
        self._steps = []  # (function, the arguments that it takes)
        for step in layers_funcs or ():
            self.add(step)

    def add(self, layer_func):
        """Adds a layer or a function. Raises TypeError for anything else."""
        if isinstance(layer_func, Layer):
            parameters = inspect.signature(layer_func.call).parameters
            self.track_layer(layer_func)
        elif callable(layer_func):
            parameters = inspect.signature(layer_func).parameters
        else:
            raise TypeError(
                "Sequential.add() takes only tf.layers.Layer objects or callables; "
                f"not '{layer_func}' of type '{type(layer_func)}'."
            )
        self._steps.append((layer_func, "training" in parameters))

    def call(self, inputs, training=None):
        """What the last one returns. Those that have an argument `training` are given it, unless it is None."""
        for step, takes_training in self._steps:
            inputs = step(inputs, training) if takes_training and training is not None else step(inputs)
        return inputs
