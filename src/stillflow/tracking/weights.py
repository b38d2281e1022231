"""What lists and dictionaries have of the layers and variables in them: the same properties as layers."""

from __future__ import annotations


def has_weights(value):
    """Whether something is a layer, or has weights as layers have."""
    kind = type(value)
    return hasattr(kind, "trainable_weights") and hasattr(kind, "non_trainable_weights")


def _is_variable(value):
    kind = type(value)
    return hasattr(kind, "trainable") and hasattr(kind, "assign_add")


class HoldsWeights:
    """A list or dictionary: the weights, losses and updates of what it holds are its own."""

    _self_trainable = True

    def _held(self):
        """What it holds, in order."""
        raise NotImplementedError

    @property
    def trainable(self):
        """Whether any of its weights are trainable."""
        return self._self_trainable

    @trainable.setter
    def trainable(self, value):
        self._self_trainable = value

    @property
    def layers(self):
        """The layers that it holds, also in lists and dictionaries in it; none comes twice."""
        return list(layers_in(self._held(), set()))

    def _variables(self, trainable):
        return [value for value in self._held() if _is_variable(value) and bool(value.trainable) == trainable]

    def _of_parts(self, attribute):
        return [item for value in self._held() if has_weights(value) for item in getattr(value, attribute, ())]

    @property
    def trainable_weights(self):
        return self._of_parts("trainable_weights") + self._variables(True) if self.trainable else []

    @property
    def non_trainable_weights(self):
        first = [] if self.trainable else self._of_parts("trainable_weights") + self._variables(True)
        return first + self._of_parts("non_trainable_weights") + self._variables(False)

    @property
    def weights(self):
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_variables(self):
        return self.trainable_weights

    @property
    def non_trainable_variables(self):
        return self.non_trainable_weights

    @property
    def variables(self):
        return self.weights

    @property
    def updates(self):
        return [item for layer in self.layers for item in getattr(layer, "updates", ())]

    @property
    def losses(self):
        return [item for layer in self.layers for item in getattr(layer, "losses", ())]


def layers_in(values, seen):
    """The layers among values, and in lists and dictionaries among them; none comes twice."""
    for value in values:
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, HoldsWeights):
            yield from layers_in(value._held(), seen)
        elif has_weights(value):
            yield value
