"""How TensorFlow's own modules say what is public: tensorflow.python.util.tf_export and all_util.

Names below tf are not made by these: they are so that modules in TensorFlow's style can be imported.
"""

from __future__ import annotations

import re
import sys

from stillflow.names import public


class _Export:
    """A decorator that notes the names that something is exported by."""

    def __init__(self, *names, **settings):
        self._names = names
        self._v1 = settings.get("v1", names)

    def __call__(self, func):
        if isinstance(func, type) or callable(func):
            func._tf_api_names, func._tf_api_names_v1 = self._names, self._v1
        return func

    def export_constant(self, module_name, name):
        """Notes the names of a constant of a module."""
        constants = sys.modules[module_name].__dict__.setdefault("_tf_api_constants_v1", [])
        constants.append((self._v1, name))


tf_export = public("python.util.tf_export.tf_export")(_Export)
keras_export = public("python.util.tf_export.keras_export")(_Export)
estimator_export = public("python.util.tf_export.estimator_export")(_Export)


@public("python.util.tf_export.get_canonical_name_for_symbol")
def get_canonical_name_for_symbol(symbol, api_name="tensorflow", add_prefix_to_v1_names=False):
    """The first name that something was exported by, or None."""
    names = getattr(symbol, "_tf_api_names", ())
    old = getattr(symbol, "_tf_api_names_v1", ())
    if names:
        return names[0]
    if not old:
        return None
    return f"compat.v1.{old[0]}" if add_prefix_to_v1_names else old[0]


@public("python.util.all_util.make_all")
def make_all(module_name, doc_string_modules=None):
    """The names of a module for its __all__: the public ones, and those after @@ in the documentation of modules."""
    modules = [sys.modules[module_name]] if doc_string_modules is None else doc_string_modules
    own = sys.modules[module_name]
    documented = {name for module in modules for name in re.findall(r"^@@(\w+)$", module.__doc__ or "", re.M)}
    visible = {name for name in dir(own) if not name.startswith("_")}
    return sorted(visible & documented if documented else visible)


@public("python.util.all_util.reveal_undocumented")
def reveal_undocumented(symbol_name, target_module=None):
    """Gives a module back a name that `remove_undocumented` hid; here nothing is hidden, so it must be there."""
    if target_module is not None and not hasattr(target_module, symbol_name):
        raise LookupError(f"Symbol {symbol_name} is not a hidden symbol")


@public("python.util.all_util.remove_undocumented")
def remove_undocumented(module_name, allowed_exception_list=None, doc_string_modules=None):
    """Leaves a module the names that its documentation, or the list, has.

    Args:
      module_name: the module's __name__.
      allowed_exception_list: names that stay.
      doc_string_modules: modules whose documentation says "@@name"; by default the module itself.
    """
    module = sys.modules[module_name]
    kept = {*make_all(module_name, doc_string_modules), *(allowed_exception_list or ())}
    for name in [name for name in dir(module) if not name.startswith("_") and name not in kept]:
        delattr(module, name)
