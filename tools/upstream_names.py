"""What TensorFlow's unit tests import, as far as stillflow has it; tools/upstream_child.py installs it.

Tests reach deep into tensorflow.python. A name is looked for, in this order: where stillflow says it is, among the
stand-ins below (decorators of tests whose purpose stillflow has not), among the ops, among all public names. One that
is found nowhere becomes an object which raises MissingName when it is used, so that the other tests of the file run.
"""

import collections.abc
import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.resources
import importlib.util
import inspect
import itertools
import json
import os
import re
import sys
import types
from unittest import mock

import upstream_test_ops

_PACKAGES = ("tensorflow", "tensorflow_estimator")
# Modules of the tests themselves, which the folder has.
_OF_TESTS = re.compile(
    r"kernel_tests\.|timeseries\.examples|_test_util$|test_base|"
    r"(parallel_for|distributions\.python\.ops|optimization\.python)\.test_util$|"
    r"testing_utils?|(saver_)?test_utils|gradient_checker_v2|framework\.combinations|test_combinations|tests\.|testdata|"
    r"_testlib|keras_parameterized|mixed_precision\.experimental\.test_util|statistical_testing|head\.head_utils|"
    r"distribute\.(strategy_)?combinations$|keras\.distribute\.\w+_test$"
)


class MissingName(Exception):
    """A name of TensorFlow that stillflow lacks has been used."""


class Missing:
    """Stands for a name that was found nowhere."""

    def __init__(self, name):
        self.__dict__["_name"] = name

    def __getattr__(self, attribute):
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(attribute)
        if attribute == "dtype":  # numpy asks for the dtype of a dtype
            self._raise()
        return Missing(self._name)

    def _raise(self, *_, **__):
        raise MissingName(self._name)

    def __call__(self, *args, **kwargs):
        if len(args) == 1 and not kwargs and inspect.isfunction(args[0]):  # a decorator
            return functools.wraps(args[0])(lambda *_, **__: self._raise())
        return self._raise()

    def __mro_entries__(self, bases):
        return (type("MissingBase", (), {"__init__": self._raise}),)

    __instancecheck__ = __subclasscheck__ = __index__ = __enter__ = __iter__ = __getitem__ = __len__ = _raise

    def __exit__(self, *_):
        return False


class _Module(types.ModuleType):
    """A module of TensorFlow that is made of what stillflow has."""

    def __init__(self, name, finder):
        super().__init__(name)
        self.__dict__["_finder"] = finder
        self.__path__ = []
        self.__file__ = f"<{name}>"

    def __getattr__(self, attribute):
        if attribute.startswith("__") and attribute.endswith("__") and "version" not in attribute:
            raise AttributeError(attribute)
        value = self._finder.find(self.__name__, attribute)
        if _setting(self.__name__, attribute) is None:
            self.__dict__[attribute] = value
        return value

    def __setattr__(self, attribute, value):
        setting = _setting(self.__name__, attribute)
        if setting is None:
            super().__setattr__(attribute, value)
        else:
            setting.put(value)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Makes every module below tensorflow.python, tensorflow.contrib and their kin."""

    def __init__(self, folder):
        self._folder = folder
        self._stand_ins = _stand_ins()

    def find_spec(self, fullname, path=None, target=None):
        top, _, rest = fullname.partition(".")
        if top not in _PACKAGES or not rest.startswith(("python", "core", "compiler", "contrib.")):
            return None
        file = self._path_of(fullname) + ".py"
        if _OF_TESTS.search(fullname) and os.path.exists(file):
            loader = importlib.machinery.SourceFileLoader(fullname, file)
            return importlib.util.spec_from_file_location(fullname, file, loader=loader)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return _Module(spec.name, self)

    def exec_module(self, module):
        pass

    def _path_of(self, fullname):
        return os.path.join(self._folder, *fullname.split("."))

    def _is_module(self, fullname):
        path = self._path_of(fullname)
        leaf = fullname.rpartition(".")[2]
        if leaf.startswith("gen_") or leaf.endswith("_pb2") or leaf == "test_ops":
            return True
        return os.path.exists(path + ".py") or os.path.isdir(path) or _is_namespace(fullname)

    def find(self, module, attribute):
        if attribute == "newaxis":  # None, but not missing
            return None
        child = f"{module}.{attribute}"
        if attribute == "newaxis":  # the one name that stands for None
            return None
        for look in (_own, self._module, self._stand_in, _op, _of_keras_for_2, _public):
            value = look(module, attribute)
            if value is not None:
                return value
        if _OF_TESTS.search(child):
            raise AttributeError(child)
        return Missing(child)

    def _module(self, module, attribute):
        child = f"{module}.{attribute}"
        return importlib.import_module(child) if self._is_module(child) else None

    def _stand_in(self, module, attribute):
        if module.endswith("python.eager.test") and attribute == "main":
            return _main_of_eager_tests
        return self._stand_ins.get(module.rpartition(".")[2], {}).get(attribute)


def _setting(module, attribute):
    """The setting that a name of a module stands for; None for others."""
    from stillflow.names import namespace

    return namespace.setting(f"{module.partition('.')[2]}.{attribute}")


def _is_namespace(module):
    from stillflow.names import namespace

    return namespace.is_namespace(module.partition(".")[2])


def _own(module, attribute):
    """What stillflow says that the module offers."""
    if not _is_namespace(module):
        return None
    try:
        value = getattr(importlib.import_module(f"stillflow.{module.partition('.')[2]}"), attribute)
    except (AttributeError, ImportError):
        return None
    return None if isinstance(value, types.ModuleType) and value.__name__.startswith("stillflow.python") else value


def _op(module, attribute):
    """The function of a gen_*_ops module that adds a node of an op."""
    from stillflow.ops import raw_ops

    attribute = attribute.lstrip("_")
    if not module.endswith("_ops") or not attribute:
        return None
    plain = attribute if attribute[0].isupper() else "".join(w[:1].upper() + w[1:] for w in attribute.split("_"))
    for name in (plain, plain + "Op"):
        try:
            return raw_ops.function(name)
        except KeyError:
            pass
    return None


@functools.cache
def _public_names():
    """{last part of a public name: the shortest such name}; what only compat.v2 has ends in "_v2"."""
    from stillflow.names.table import NAMES

    found = {}
    for name in sorted(NAMES, key=lambda name: (name.count("."), len(name))):
        last = name.rpartition(".")[2]
        if name.startswith("compat.v2."):
            found.setdefault(last + "_v2", name)
        if not name.startswith(("contrib.", "python.", "keras.", "estimator.", "raw_ops.")):
            found.setdefault(last, name)
    return found


def _of_keras_for_2(module, attribute):
    """What an inner module of Keras has of TensorFlow 2's API, under a name that ends in V2."""
    from stillflow.names import namespace

    if not module.startswith("tensorflow.python.keras") or not attribute.endswith("V2"):
        return None
    try:
        return namespace.find(f"compat.v2{module.removeprefix('tensorflow.python')}.{attribute.removesuffix('V2')}")
    except KeyError:
        return None


def _public(module, attribute):
    from stillflow.names import namespace

    names = _public_names()
    name = names.get(attribute) or names.get(attribute.removesuffix("_v1").removesuffix("V1").removesuffix("_v2"))
    if name is None:
        return None
    value = namespace.find(name)
    return None if isinstance(value, types.ModuleType) else value


def _as_it_is(f=None, *_, **__):
    return f if inspect.isfunction(f) or inspect.isclass(f) else _as_it_is


def _no(*_, **__):
    return False


@functools.cache
def _layers_of_tensorflow():
    """{class of a layer: what TensorFlow prints of it}."""
    from stillflow.names import namespace

    places = json.loads(importlib.resources.files("stillflow.names").joinpath("locations.json").read_text())
    found = {}
    for place, names in places.items():
        if place.startswith("python.keras.layers."):
            for attribute, name in names.items():
                with contextlib.suppress(KeyError, TypeError):
                    found.setdefault(namespace.find(name), f"<class 'tensorflow.{place}.{attribute}'>")
    return found


def _text_of_option(value):
    return _layers_of_tensorflow().get(value) or str(value) if inspect.isclass(value) else str(value)


def _combinations_with_names(**options):
    """Each combination of options as a dict, with a name for the test that is parametrized by it."""
    keys = sorted(options)
    found = []
    for values in itertools.product(*(options[k] if isinstance(options[k], list) else [options[k]] for k in keys)):
        texts = map(_text_of_option, values)
        words = [(filter(str.isalnum, key), filter(str.isalnum, v)) for key, v in zip(keys, texts, strict=True)]
        name = "_test" + "".join(f"_{''.join(key)}_{''.join(value)}" for key, value in words)
        found.append({**dict(zip(keys, values, strict=True)), "testcase_name": name})
    return found


def _main_of_eager_tests(*_, **__):
    import tensorflow as tf

    tf.compat.v1.enable_eager_execution()
    tf.test.main()


def _set_producer_version(graph, producer_version):
    """Makes an empty graph one that a program of that version made."""
    import stillflow

    graph_def = stillflow.GraphDef()
    graph_def.versions.producer = producer_version
    with graph.as_default():
        stillflow.import_graph_def(graph_def)


def _stand_ins():
    """{module: {name: value}}: what says nothing about stillflow."""
    same = (
        "also_run_as_tf_function assert_no_garbage_created assert_no_new_pyobjects_executing_eagerly "
        "assert_no_new_tensors build_as_function_and_v1_graph enable_c_shapes enable_output_all_intermediates "
        "py_func_if_in_function use_deterministic_cudnn with_c_shapes "
        "enable_tf_xla_constant_folding"
    )
    no = (
        "IsMklEnabled IsGoogleCudaEnabled CudaSupportsHalfMatMulAndConv GpuSupportsHalfMatMulAndConv IsBuiltWithROCm "
        "is_xla_enabled"
    )
    return {
        "test_util": {
            **dict.fromkeys(same.split(), _as_it_is),
            **dict.fromkeys(no.split(), _no),
            "generate_combinations_with_testcase_name": _combinations_with_names,
            "InstallStackTraceHandler": lambda: None,
            "set_producer_version": _set_producer_version,
        },
        "ops": {
            "RegisterShape": lambda *_: _as_it_is,
            "RegisterStatistics": lambda *_: _as_it_is,
            "_set_call_cpp_shape_fn": lambda *_: None,
        },
        "compat": {
            "collections_abc": collections.abc,
        },
        "test_ops": {"_op_def_lib": upstream_test_ops.OpDefLibrary()},
        "tf2": {"enabled": _no},
        "tf_inspect": {name: getattr(inspect, name) for name in dir(inspect) if not name.startswith("_")},
        "tf_export": {"tf_export": lambda *_, **__: _as_it_is, "keras_export": lambda *_, **__: _as_it_is},
        "test": {"mock": mock},
        "backend": {"dtypes_module": importlib.import_module("stillflow.dtypes"), "is_tpu_strategy": _no},
        "tpu_strategy": {name: type(name, (), {}) for name in ("TPUStrategy", "TPUStrategyV1")},
    }


def install(folder, modes):
    """Makes `import tensorflow` mean stillflow; of tests that run in both, only those modes."""
    import stillflow
    from stillflow.runner import numpy_calls, numpy_names, python_calls, python_names
    from stillflow.test_cases import modes as test_modes

    stillflow.install_as_tensorflow()
    # The tests are old programs, too: they get what `stillflow run` gives those.
    numpy_names.install(lambda *_: None)
    numpy_calls.install()
    python_names.install()
    python_calls.install()
    test_modes.limit_modes(modes)
    # Which of two kernels an operation has does not matter where there is one.
    stillflow.Graph._kernel_label_map = lambda *_: contextlib.nullcontext()
    upstream_test_ops.declare(folder)
    sys.meta_path.insert(0, _Finder(folder))
