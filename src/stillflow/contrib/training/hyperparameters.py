"""HParams: hyperparameters by name, each of a type, which text and JSON can override."""

from __future__ import annotations

import json
import numbers

from stillflow.contrib.training.hyperparameter_text import parse_values
from stillflow.formats import protobuf
from stillflow.graph.collection_protos import register_proto_function
from stillflow.names import public
from stillflow.platform import compat

_TEXTS = (str, bytes)


def _cast(name, kind, value):
    """The value as one of that type. Raises ValueError where something would be lost."""
    if type(value) is kind or kind is type(None):
        return value
    is_refused = (
        (issubclass(kind, _TEXTS) and not isinstance(value, _TEXTS))
        or issubclass(kind, bool) != isinstance(value, bool)
        or (issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral))
        or (issubclass(kind, numbers.Number) and not isinstance(value, numbers.Number))
    )
    if is_refused:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    return kind(value)


def _values_of_message(message):
    """(name, value) of an HParamDef. Raises AssertionError for anything else."""
    if not isinstance(message, protobuf.message("HParamDef")):
        raise AssertionError(f"{message!r} is no HParamDef")

    def plain(value):
        return value.decode() if isinstance(value, bytes) else value

    for name, value in message.hparam.items():
        kind = value.WhichOneof("kind")
        found = getattr(value, kind)
        yield name, plain(found) if kind.endswith("_value") else [plain(item) for item in found.value]


def _field_of_message(kind, is_list):
    """The field of an HParamDef for values of a Python type."""
    for name, types in (("bool", bool), ("int64", numbers.Integral), ("bytes", _TEXTS), ("float", numbers.Real)):
        if issubclass(kind, types):
            return f"{name}_{'list' if is_list else 'value'}"
    raise ValueError(f"Unsupported parameter type: {kind}")


@public("contrib.training.HParams")
class HParams:
    """Hyperparameters, which are attributes of this object.

        hparams = HParams(learning_rate=0.1, units=[20, 10], activation="relu")
        hparams.parse("learning_rate=0.3,activation=tanh")
        hparams.learning_rate == 0.3

    Args:
      hparam_def: an HParamDef message to take names and values from; or
      kwargs: names and values. A value is of the type that the parameter keeps; of a list, the first item is.
      model_structure: anything, for `get_model_structure`.

    Raises:
      ValueError: for names that are taken, empty lists, or both a message and values.
    """

    def __init__(self, hparam_def=None, model_structure=None, **kwargs):
        self._hparam_types = {}
        self._model_structure = model_structure
        if hparam_def and kwargs:
            raise ValueError("hparam_def and initialization values are mutually exclusive")
        for name, value in _values_of_message(hparam_def) if hparam_def else kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name, value):
        """Adds a parameter. Raises ValueError if the name is taken, or for an empty list."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name, value):
        """Changes a parameter's value.

        Raises:
          KeyError: if there is no such parameter.
          ValueError: for a list in place of a value or the other way, and for another type.
        """
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [_cast(name, kind, item) for item in value])
        else:
            if is_list:
                raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
            setattr(self, name, _cast(name, kind, value))

    def del_hparam(self, name):
        """Removes a parameter, if there is one of that name."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values):
        """Changes values as a text says, such as "rate=0.1,sizes=[1,2]", and returns this object.

        Raises:
          ValueError: for what does not parse or fit, and for names of no parameter.
        """
        kinds = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, kinds))

    def override_from_dict(self, values_dict):
        """Changes values, {name: value}, and returns this object. Raises what `set_hparam` does."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map):
        """The former name of `override_from_dict`."""
        return self.override_from_dict(values_map)

    def set_model_structure(self, model_structure):
        """Keeps an object."""
        self._model_structure = model_structure

    def get_model_structure(self):
        """The object that was kept."""
        return self._model_structure

    def to_json(self, indent=None, separators=None, sort_keys=False):
        """The values as JSON; the arguments are those of json.dumps."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json):
        """Changes values as a JSON object says, and returns this object. Raises what `set_hparam` does."""
        return self.override_from_dict(json.loads(values_json))

    def to_proto(self, export_scope=None):
        """The names and values as an HParamDef. Raises ValueError for a value of a type that it does not have."""
        message = protobuf.message("HParamDef")()
        for name, (kind, is_list) in self._hparam_types.items():
            value, field = getattr(self, name), _field_of_message(kind, is_list)
            stored = compat.as_bytes if issubclass(kind, _TEXTS) else kind
            if is_list:
                getattr(message.hparam[name], field).value.extend(map(stored, value))
            else:
                setattr(message.hparam[name], field, stored(value))
        return message

    @staticmethod
    def from_proto(hparam_def, import_scope=None):
        """The HParams that an HParamDef says."""
        return HParams(hparam_def=hparam_def)

    def values(self):
        """{name: value}."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key, default=None):
        """The value of that name; `default` if there is none. Raises ValueError for a default of another type."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            self._check_default(key, default)
        return getattr(self, key)

    def _check_default(self, key, default):
        kind, is_list = self._hparam_types[key]
        kind_name = f"list<{kind}>" if is_list else str(kind)
        message = f"Hparam '{key}' of type '{kind_name}' is incompatible with default={default}"
        if is_list != isinstance(default, list):
            raise ValueError(message)
        try:
            for value in default if is_list else [default]:
                _cast(key, kind, value)
        except ValueError as error:
            raise ValueError(f"{message}. {error}") from None

    def __contains__(self, key):
        return key in self._hparam_types

    def __str__(self):
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self):
        return f"{type(self).__name__}({sorted(self.values().items())})"


register_proto_function(
    "hparams",
    proto_type=protobuf.message("HParamDef"),
    to_proto=HParams.to_proto,
    from_proto=HParams.from_proto,
)
