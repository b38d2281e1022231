"""The rules of the house that a machine can check: who imports whom, how long files are, what C++ may not do."""

import ast
import functools
import re
from pathlib import Path

import pytest

from stillflow import ops

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "stillflow"

# The layers of src/stillflow, the highest first. A package imports packages of lower layers, and of its own layer
# those that come later. Imports inside functions count: they are for start-up time, not for closing circles.
LAYERS = {
    "programs": "__main__ command_line runner tools word2vec serving inspection onnx_export testing compat_v2",
    "libraries": "contrib debug profiler examples canned keras estimator distribute feature_columns rnn distributions"
    " metrics losses layers training_loop summary training test_cases parallel_for saved_objects traced_functions"
    " datasets saver",
    "running": "eager session plan importer autograph functions",
    "building": "linear_operators signal ragged composites autodiff variables resources random ops tracking host",
    "ground": "graph files platform formats errors names _corpus _engine",
}
ORDER = [package for packages in LAYERS.values() for package in packages.split()]

# Circles of modules within a package, imports inside functions counted, each with the reason why it is one idea.
CIRCLES = {
    ("ops.control_flow.context", "ops.control_flow.while_context"): "a cond in a loop, a loop in a cond",
}


def modules():
    return sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def module_name(path):
    """The name below stillflow: "graph.shape", "ops" for ops/__init__.py."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in modules()}


@functools.cache
def parsed(path):
    return ast.parse(path.read_text())


@functools.cache
def imported_modules(path):
    """The names below stillflow of what a module imports, when it is loaded or later."""
    found = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "stillflow":
            base = node.module.removeprefix("stillflow").lstrip(".")
            for alias in node.names:
                name = f"{base}.{alias.name}".lstrip(".")
                found.add(name if name in MODULES or not base else base)
        elif isinstance(node, ast.Import):
            found.update(alias.name[10:] for alias in node.names if alias.name.startswith("stillflow."))
    return found - {module_name(path)}


def circles(graph):
    """The sets of more than one node that reach each other (Tarjan's strongly connected components)."""
    numbers, lowest, stack, found = {}, {}, [], []

    def visit(node):
        numbers[node] = lowest[node] = len(numbers)
        stack.append(node)
        for target in graph.get(node, ()):
            if target not in numbers:
                visit(target)
                lowest[node] = min(lowest[node], lowest[target])
            elif target in stack:
                lowest[node] = min(lowest[node], numbers[target])
        if lowest[node] == numbers[node]:
            component = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(graph):
        if node not in numbers:
            visit(node)
    return found


def test_modules_import_only_what_lies_below():
    for name, path in MODULES.items():
        package = name.split(".")[0]
        assert package in ORDER, f"{package} is in no layer"
        below = ORDER[ORDER.index(package) :]
        wrong = {imported for imported in imported_modules(path) if imported.split(".")[0] not in below}
        assert not wrong, f"{name} stands below {sorted(wrong)}"


def test_circles_within_packages_are_few():
    graph = {name: imported_modules(path) & set(MODULES) for name, path in MODULES.items()}
    assert sorted(map(tuple, circles(graph))) == sorted(CIRCLES)


def test_only_eager_execution_asks_whether_it_is_in_force():
    """Whoever else does something different then has a version for it: see stillflow.graph.mode."""
    asking = set()
    for name, path in MODULES.items():
        for node in ast.walk(parsed(path)):
            word = getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "name", None)
            if word in ("executing_eagerly", "executes_eagerly"):
                asking.add(name)
    # The graph says no, eager execution yes; contexts look for the innermost graph that says no.
    assert {name for name in asking if name.split(".")[0] != "eager"} == {"graph.graph", "graph.default_graph"}


def test_modules_of_tests_have_names_of_their_own():
    """pytest imports those outside of packages by their names alone, and stops at the second one of a name."""
    folders = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        if not (path.parent / "__init__.py").exists():
            folders.setdefault(path.name, []).append(str(path.parent.relative_to(ROOT)))
    assert {name: found for name, found in folders.items() if len(found) > 1} == {}


def test_the_root_holds_few_modules():
    assert len(list(SOURCE.glob("*.py"))) <= 8


@pytest.mark.parametrize("folder", [SOURCE, ROOT / "csrc"], ids=["python", "c++"])
def test_files_are_short(folder):
    patterns = ("*.py", "*.pyx", "*.h", "*.cc", "*.c")
    lengths = {p: len(p.read_text().splitlines()) for pattern in patterns for p in folder.rglob(pattern)}
    too_long = {str(path.relative_to(ROOT)): length for path, length in lengths.items() if length > 500}
    assert not too_long


# The layers of csrc, the lowest first. A file includes what lies in its own folder and in lower layers; folders of
# one layer know nothing of each other.
C_LAYERS = """
kernel_api
arithmetic/math io regex
memory
arithmetic/elementwise arithmetic/fourier arithmetic/gemm arithmetic/random arithmetic/reduction arithmetic/softmax
arithmetic/linear arithmetic/window corpus
runtime/executor
collections
datasets queues
readers
kernels
state_kernels
runtime/capi
"""
# What computes is a library of its own for each instruction set, and the executor runs any kernel: neither includes
# what it may not link to.
C_STRANGERS = {
    "kernels": {"runtime/executor", "collections", "datasets", "queues", "readers"},
    "runtime": {"kernels", "memory", "arithmetic/math"},
    "io": {"arithmetic/math"},
}


def c_sources():
    return sorted(path for pattern in ("*.h", "*.cc", "*.c") for path in (ROOT / "csrc").rglob(pattern))


def c_folder(path):
    """Which folder of C_LAYERS a file of csrc is in, or an include is of."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in ("arithmetic", "runtime") else parts[0]


def may_include(folder):
    layers = [layer.split() for layer in C_LAYERS.split("\n") if layer]
    own = next(i for i, layer in enumerate(layers) if folder in layer)
    return {folder}.union(*layers[:own]) - C_STRANGERS.get(folder.split("/")[0], set())


def test_c_files_include_only_what_lies_below_and_keep_quiet():
    for path in c_sources():
        check_c_file(path)


def check_c_file(path):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    included = {c_folder(match) for match in re.findall(r'#include "([^"]+)"', text)}
    assert included <= may_include(c_folder(str(path.relative_to(ROOT / "csrc")))), path
    for word in (r"\babort\(", r"\bexit\(", r"\bprintf\(", r"std::cout", r"std::cerr", r"\bassert\(", r"\bthrow\b"):
        assert not re.search(word, text), f"{word} in {path.name}"


def test_headers_do_not_include_each_other_in_circles():
    includes = {
        str(path.relative_to(ROOT / "csrc")): set(re.findall(r'#include "([^"]+)"', path.read_text()))
        for path in c_sources()
    }
    while leaves := {name for name, included in includes.items() if not included & includes.keys()}:
        includes = {name: included for name, included in includes.items() if name not in leaves}
    assert not includes


def kernel_files():
    files = (path for folder in ("kernels", "state_kernels") for path in (ROOT / "csrc" / folder).rglob("*.cc"))
    return sorted(path for path in files if "STILLFLOW_KERNELS(" in path.read_text())


def test_kernels_lie_in_folders_named_as_those_of_their_ops():
    for path in kernel_files():
        check_folder_of_kernel(path)


def check_folder_of_kernel(path):
    """Kernels that call the host lie in host/, as what is called does; those of plans alone lie with their kin."""
    text = path.read_text()
    kernels = set(re.findall(r'\{\s*"(\w+)",', text[text.index("STILLFLOW_KERNELS(") :]))
    folder = path.parent.name
    if folder == "host":
        return
    modules = (SOURCE / "ops" / folder).glob("*.py") if path.stem != "nce_loss" else (SOURCE / "plan").rglob("*.py")
    assert kernels & {word for module in modules for word in re.findall(r"\w+", module.read_text())}, path


def test_builders_that_modules_ask_for_are_there():
    """`ops.name` is found when it is called, which may be on a line that few programs reach."""
    missing = [
        f"{module_name(path)}:{node.lineno} ops.{node.attr}"
        for path in modules()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ops"
        if "ops" in names_from_stillflow(path) and not hasattr(ops, node.attr)
    ]
    assert not missing


@functools.cache
def names_from_stillflow(path):
    """What a module imports by `from stillflow import`."""
    imports = (node for node in ast.walk(parsed(path)) if isinstance(node, ast.ImportFrom))
    return {alias.name for node in imports if node.module == "stillflow" for alias in node.names}
