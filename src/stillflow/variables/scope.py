"""tf.variable_scope and tf.get_variable: variables that are found again by their names."""

from __future__ import annotations

import contextlib
import enum
import functools
import threading

from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode
from stillflow.graph.name_scope import graph_of_inputs, name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.copies import VariableAggregation, VariableSynchronization
from stillflow.variables.creators import creators
from stillflow.variables.store import VariableStore


class _ReuseMode(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = public("AUTO_REUSE")(_ReuseMode.AUTO_REUSE)


@public("no_regularizer")
def no_regularizer(_):
    """A regularizer that adds no loss; it shields variables from their scope's."""


# ---- Scopes -------------------------------------------------------------------------------------------------


@public("VariableScope")
class VariableScope:
    """What get_variable uses where it is not told otherwise: a prefix for names, and defaults.

    `reuse` is True (variables must exist), False or None (must not exist) or AUTO_REUSE (either).
    """

    def __init__(
        self, reuse, name="", initializer=None, regularizer=None, caching_device=None, partitioner=None,
        custom_getter=None, name_scope="", dtype=dtypes.float32, use_resource=None, constraint=None,
    ):  # fmt: skip
        self._reuse = reuse
        self._name = name
        self._initializer = initializer
        self._regularizer = regularizer
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = dtype
        self._use_resource = use_resource
        self._constraint = constraint
        self.settle()

    @by_mode
    def settle(self):
        """Corrects settings that the mode does not leave open."""

    @property
    def name(self):
        return self._name

    @property
    def original_name_scope(self):
        """The name scope that was opened with this scope."""
        return self._name_scope

    @property
    def reuse(self):
        return self._reuse

    @property
    def initializer(self):
        return self._initializer

    @property
    def dtype(self):
        return self._dtype

    @property
    def use_resource(self):
        return self._use_resource

    @property
    def regularizer(self):
        return self._regularizer

    @property
    def caching_device(self):
        return self._caching_device

    @property
    def partitioner(self):
        return self._partitioner

    @property
    def custom_getter(self):
        return self._custom_getter

    @property
    def constraint(self):
        return self._constraint

    def reuse_variables(self):
        """From now on variables must exist."""
        self._reuse = True

    def set_initializer(self, initializer):
        self._initializer = initializer

    def set_dtype(self, dtype):
        self._dtype = dtype

    @by_mode
    def set_use_resource(self, use_resource):
        self._use_resource = use_resource

    def set_regularizer(self, regularizer):
        self._regularizer = regularizer

    @by_mode
    def set_caching_device(self, caching_device):
        self._caching_device = caching_device

    def set_partitioner(self, partitioner):
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter):
        self._custom_getter = custom_getter

    def get_collection(self, name):
        """The items of a collection whose names begin with this scope's."""
        return get_default_graph().get_collection(name, f"{self._name}/" if self._name else "")

    def trainable_variables(self):
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self):
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self):
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self, var_store, name, shape=None, dtype=None, initializer=None, regularizer=None, reuse=None, trainable=None,
        collections=None, caching_device=None, partitioner=None, validate_shape=True, use_resource=None,
        custom_getter=None, constraint=None, synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
    ):  # fmt: skip
        """tf.get_variable in this scope, of the variables in `var_store`."""
        options = {
            "shape": shape, "regularizer": regularizer, "trainable": trainable, "collections": collections,
            "caching_device": caching_device, "partitioner": partitioner, "validate_shape": validate_shape,
            "use_resource": use_resource, "custom_getter": custom_getter, "constraint": constraint,
            "synchronization": synchronization, "aggregation": aggregation,
        }  # fmt: skip
        full_name = f"{self._name}/{name}" if self._name else name
        for key in ("regularizer", "caching_device", "partitioner", "custom_getter", "use_resource", "constraint"):
            if options.get(key) is None:
                options[key] = getattr(self, f"_{key}")
        reuse, options["use_resource"] = self.reuse_and_kind(var_store, reuse, options["use_resource"])
        with name_scope(None):
            if dtype is not None and initializer is not None and not callable(initializer):
                found = convert_to_tensor(initializer).dtype.base_dtype
                if found != dtype:
                    raise ValueError(f"Initializer type '{found}' and explicit dtype '{dtype}' don't match.")
            return var_store.get_variable(
                full_name,
                dtype=dtypes.as_dtype(self._dtype if dtype is None else dtype).base_dtype,
                initializer=self._initializer if initializer is None else initializer,
                reuse=reuse,
                **options,
            )

    @by_mode
    def reuse_and_kind(self, var_store, reuse, use_resource):
        """Whether a variable may exist, or must, and whether it is a resource variable, where None says nothing."""
        return self._reuse if reuse is None else reuse, use_resource

    def _with(self, settings):
        """A scope with this one's settings, except for those given that are not None."""
        inherited = {
            key: getattr(self, f"_{key}")
            for key in (
                "initializer", "regularizer", "caching_device", "partitioner", "custom_getter", "dtype",
                "use_resource",
            )
        }  # fmt: skip
        given = {key: value for key, value in settings.items() if value is not None}
        if "custom_getter" in given and self._custom_getter is not None:
            given["custom_getter"] = _chained(given["custom_getter"], self._custom_getter)
        return {**inherited, **given}


def _chained(custom_getter, outer_getter):
    """A getter that asks `custom_getter`, whose own getter asks `outer_getter`."""

    def getter_of_both(getter, *args, **kwargs):
        return custom_getter(functools.partial(outer_getter, getter), *args, **kwargs)

    return getter_of_both


class _ScopeStore(threading.local):
    """The current scope of a thread, and how often scopes have been opened."""

    def __init__(self):
        self.current = VariableScope(False)
        self.counts: dict = {}

    def unique_name(self, prefix):
        """`prefix`, or with "_1", "_2", ... if the current scope has had such a scope before."""
        outer = f"{self.current.name}/" if self.current.name else ""
        if self.counts.get(outer + prefix, 0) == 0:
            return prefix
        number = 1
        while self.counts.get(f"{outer}{prefix}_{number}", 0) > 0:
            number += 1
        return f"{prefix}_{number}"


def _scope_store():
    return get_default_graph().__dict__.setdefault("_variable_scopes", _ScopeStore())


def scopes_opened():
    """The names of the scopes that have been opened in the default graph, a set."""
    return set(_scope_store().counts)


def share_with_function(body):
    """Makes the default graph's scopes, variables and creators of variables those of the body of a function."""
    body.__dict__["_variable_scopes"] = _scope_store()
    share_variables_with_function(body)


def share_variables_with_function(body):
    """Like share_with_function, but the body begins without scopes."""
    body.__dict__["_variable_store"] = default_variable_store()
    body.__dict__["_variable_creators"] = creators()


@public("python.ops.variable_scope._get_default_variable_store")
def default_variable_store():
    """The variables that get_variable of the default graph knows."""
    graph = get_default_graph()
    found = graph.__dict__.get("_variable_store")
    if found is None:
        found = graph.__dict__["_variable_store"] = new_store()
    return found


@by_mode
def new_store():
    """The store that get_variable uses where there is none yet."""
    return VariableStore()


@public("get_variable_scope")
def get_variable_scope():
    """The current VariableScope: that of the innermost tf.variable_scope, else the default graph's own."""
    return _scope_store().current


@public("variable_scope")
class variable_scope:  # noqa: N801
    """A context in which get_variable puts names under a prefix and uses other defaults; also a name scope.

    Args:
      name_or_scope: the prefix's next part, or a VariableScope to return to.
      default_name: a name that is made unique, when `name_or_scope` is None.
      values: tensors whose graph is to be the default inside.
      initializer, regularizer, caching_device, partitioner, custom_getter, dtype, use_resource, constraint:
        defaults for get_variable.
      reuse: True, None (as outside) or AUTO_REUSE.
      auxiliary_name_scope: whether to open a name scope as well.
    """

    def __init__(
        self, name_or_scope, default_name=None, values=None, initializer=None, regularizer=None,
        caching_device=None, partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None,
        constraint=None, auxiliary_name_scope=True,
    ):  # fmt: skip
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if reuse not in (True, False, None, AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope}")
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._graph = graph_of_inputs(values or ())
        self._reuse = reuse or None
        self._settings = {
            "initializer": initializer, "regularizer": regularizer, "caching_device": caching_device,
            "partitioner": partitioner, "custom_getter": custom_getter, "dtype": dtype,
            "use_resource": use_resource,
        }  # fmt: skip
        self._constraint = constraint
        self._opens_name_scope = auxiliary_name_scope
        self._entered: list = []
        self._name_scope = None

    def __enter__(self):
        contexts = []
        try:
            contexts.append(self._enter(self._graph.as_default()))
            if self._name_or_scope is None and self._reuse:
                raise ValueError("reuse=True cannot be used without a name_or_scope")
            name_context = self._name_context()
            opened = None
            if name_context is not None:
                opened = name_context.__enter__()
                contexts.append(name_context)
            store = _scope_store()
            outer, counts = store.current, store.counts
            store.current = self._open(store, opened)
            self._entered.append((contexts, store, outer, counts, store.current))
        except BaseException:
            for context in reversed(contexts):
                context.__exit__(None, None, None)
            raise
        return store.current

    @staticmethod
    def _enter(context):
        context.__enter__()
        return context

    def _name_context(self):
        """The name scope to open, or None. Entered again, the same prefix counts once more."""
        if not self._opens_name_scope:
            current = get_default_graph().get_name_scope()
            return name_scope(f"{current}/" if current else None)
        name = self._name_or_scope
        if name is None:
            name = self._default_name
        elif isinstance(name, VariableScope):
            name = name.name.split("/")[-1]
        return name_scope(name) if name else None

    def _open(self, store, opened_name_scope):
        """The scope to be current, counted as opened."""
        outer = store.current
        if isinstance(self._name_or_scope, VariableScope):
            source, name = self._name_or_scope, self._name_or_scope.name
            scope_names = source.original_name_scope
            store.counts = dict(store.counts)
            reuse = self._reuse or source.reuse
        else:
            source = outer
            part = self._name_or_scope
            if part is None:
                part = store.unique_name(self._default_name)
            name = f"{outer.name}/{part}" if outer.name else part
            scope_names = part if opened_name_scope is None else opened_name_scope
            reuse = self._reuse or outer.reuse  # inherited by scopes inside
        store.counts[name] = store.counts.get(name, 0) + 1
        return VariableScope(
            reuse, name, name_scope=scope_names, constraint=self._constraint, **source._with(self._settings)
        )

    def __exit__(self, *exception):
        """Raises RuntimeError if a scope that was entered later is still open."""
        contexts, store, outer, counts, opened = self._entered[-1]
        if store.current is not opened:
            raise RuntimeError("Improper nesting of variable_scope.")
        self._entered.pop()
        self._close(store, outer, counts, opened)
        for context in reversed(contexts):
            context.__exit__(*exception)
        return False

    def _close(self, store, outer, counts, opened):
        """Goes back to the outer scope. What is opened inside of this one from now on begins to count anew."""
        name = opened.name
        if isinstance(self._name_or_scope, VariableScope):
            store.counts = counts
            counts[name] = counts.get(name, 0) + 1
        else:
            for key in store.counts:
                if key.startswith(f"{name}/"):
                    store.counts[key] = 0
        store.current = outer


@public("python.ops.variable_scope._pure_variable_scope")
@contextlib.contextmanager
def pure_variable_scope(
    name_or_scope, reuse=None, initializer=None, regularizer=None, caching_device=None, partitioner=None,
    custom_getter=None, old_name_scope=None, dtype=None, use_resource=None, constraint=None,
):  # fmt: skip
    """A variable_scope that opens no name scope, nor goes back to that which is open.

    `old_name_scope` is the `original_name_scope` of a scope given by its name. Other arguments: see variable_scope.
    """
    scope = variable_scope(
        name_or_scope, None, None, initializer, regularizer, caching_device, partitioner, custom_getter, reuse, dtype,
        use_resource, constraint,
    )  # fmt: skip
    store = _scope_store()
    outer, counts = store.current, store.counts
    opened = store.current = scope._open(store, old_name_scope)
    try:
        yield opened
    finally:
        scope._close(store, outer, counts, opened)
