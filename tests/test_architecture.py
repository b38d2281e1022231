"""The rules of the house that a machine can check: who imports whom, how long files are, what C++ may not do."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "stillflow"

# Package or module -> what it may import of stillflow when it is loaded. Imports inside functions do not count:
# they are for what is needed rarely, or costs time to load.
MAY_IMPORT = {
    "errors": set(),
    "isa": {"_engine"},
    "graph": {"graph", "errors"},
    "formats": {"formats", "graph", "errors", "_engine"},
    "seeds": {"graph"},
    "ops": {"ops", "graph", "errors", "seeds"},
    "py_functions": {"graph", "errors", "_engine"},
    "host_functions": {"files", "errors"},
    "image_files": {"errors"},
    "vocabulary_remapping": {"files", "errors", "_engine"},
    "composites": {"composites", "py_functions", "ops", "graph", "errors", "seeds"},
    "gradients": {"ops", "graph", "composites", "errors"},
    "second_derivatives": {"gradients", "composites", "ops", "graph"},
    "custom_gradient": {"gradients", "ops", "graph"},
    "initial_values": {"graph"},
    "queues": {"ops", "graph", "seeds"},
    "readers": {"ops", "graph"},
    "datasets": {"functions", "composites", "datasets", "tracking", "seeds", "ops", "graph", "errors"},
    "tracking": {"tracking"},
    "readiness": {"variables", "composites", "ops", "graph"},
    "variable_copies": set(),
    "variables": {"variable_copies", "tracking", "initial_values", "ops", "graph", "composites", "errors"},
    "accumulators": {"ops", "graph"},
    "lookup": {"tracking", "ops", "graph"},
    "module": {"tracking", "variables", "graph"},
    "linear_operators": {"linear_operators", "module", "composites", "variables", "ops", "graph", "errors"},
    "resource_variables": {"variables", "initial_values", "ops", "graph"},
    "random_generator": {"resource_variables", "tracking", "ops", "graph"},
    "plan": {"plan", "ops", "graph", "errors", "_engine"},
    "plans_by_shape": {"plan", "feeds", "graph", "_engine"},
    "eager": {"eager", "variables", "resource_variables", "gradients", "plans_by_shape", "plan", "process_settings",
              "composites", "ops", "graph", "errors", "isa", "_engine"},
    "fetches": {"graph", "errors"},
    "feeds": {"graph", "errors", "_engine"},
    "partial_run": {"plan", "ops", "graph", "errors", "feeds", "fetches"},
    "placement_log": {"plan", "errors"},
    "step_trace": set(),
    "process_settings": set(),
    "session": {"process_settings", "partial_run", "placement_log", "plans_by_shape", "py_functions", "step_trace",
                "graph", "errors", "isa", "feeds", "fetches", "_engine"},
    "importer": {"importer", "functions", "formats", "ops", "graph", "errors"},
    "functions": {"functions", "formats", "variable_scope", "ops", "graph", "errors"},
    "graph_util": {"formats", "graph"},
    "timeline": set(),
    "python": {"timeline"},
    "reproducibility": {"session", "seeds", "errors", "isa", "_engine"},
    "partitioned_variables": {"formats", "ops", "graph"},
    "variable_store": {"partitioned_variables", "variables", "initializers", "ops", "graph"},
    "variable_scope": {"variable_store", "variables", "ops", "graph"},
    "template": {"tracking", "variable_scope", "graph"},
    "initializers": {"ops", "graph", "composites", "errors", "seeds"},
    "layer_initializers": {"composites", "graph"},
    "training": {"training", "tracking", "variables", "resource_variables", "partitioned_variables",
                 "variable_scope", "initializers", "gradients", "composites", "ops", "graph", "errors", "session",
                 "variable_store", "queues"},
    "training_loop": {"training_loop", "training", "saver", "summary_writer", "graph_util", "readiness", "variables",
                      "session", "composites", "formats", "ops", "graph", "errors"},
    "record_files": {"formats", "files", "errors"},
    "event_files": {"record_files", "formats", "files", "errors"},
    "summary_writer": {"saver", "event_files", "files", "formats", "graph"},
    "projector": {"files"},
    "facade": {"facade", "accumulators", "lookup", "importer", "saver", "graph_util", "custom_gradient", "template",
               "training", "composites", "ops", "graph", "session", "variables", "resource_variables",
               "variable_scope", "variable_store", "partitioned_variables", "initializers", "gradients",
               "second_derivatives", "seeds", "errors", "files", "record_files", "event_files", "summary_writer",
               "queues", "readers", "random_generator", "datasets", "test_cases", "training_loop", "readiness",
               "process_settings", "layer_initializers", "eager", "tracking", "projector"},
    "test_cases": {"test_cases", "gradients", "session", "seeds", "formats", "ops", "graph", "errors"},
    "testing": {"graph", "gradients", "session", "isa", "_engine", "ops"},
    "word2vec": {"word2vec", "_corpus", "facade", "projector"},
    "files": {"errors"},
    "saver": {"saver", "tracking", "formats", "importer", "feeds", "files", "reproducibility", "session", "plan",
              "composites", "resource_variables", "partitioned_variables", "variable_scope", "variables",
              "initializers", "ops", "graph", "errors", "_engine"},
    "inspection": {"inspection", "saver", "formats", "files", "graph", "errors", "_engine"},
    "examples": {"examples", "graph", "seeds"},
    "runner": {"runner", "graph", "test_cases", "summary_writer", "formats", "process_settings"},
    "command_line": set(),
    "__main__": {"command_line"},
}  # fmt: skip


def modules():
    return sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def package_of(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def loaded_imports(tree):
    """The parts of stillflow that a module imports when it is loaded."""
    found = set()
    pending = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "stillflow":
            parts = node.module.split(".")
            found.update([parts[1]] if len(parts) > 1 else [alias.name for alias in node.names])
        elif isinstance(node, ast.Import):
            found.update(a.name.split(".")[1] for a in node.names if a.name.startswith("stillflow."))
        elif isinstance(node, (ast.If, ast.Try)):
            pending.extend(ast.iter_child_nodes(node))
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_modules_import_only_what_lies_below(path):
    package = package_of(path)
    assert package in MAY_IMPORT, f"{package} has no place in the table of this test"
    allowed = MAY_IMPORT[package]
    assert loaded_imports(ast.parse(path.read_text())) <= allowed | {package}


@pytest.mark.parametrize("folder", [SOURCE, ROOT / "csrc"], ids=["python", "c++"])
def test_files_are_short(folder):
    patterns = ("*.py", "*.pyx", "*.h", "*.cc", "*.c")
    lengths = {p: len(p.read_text().splitlines()) for pattern in patterns for p in folder.rglob(pattern)}
    too_long = {str(path.relative_to(ROOT)): length for path, length in lengths.items() if length > 500}
    assert not too_long


# The floors of csrc, from the ground up. A file includes what lies in its own folder and on lower floors; folders of
# one floor know nothing of each other.
C_LAYERS = """
kernel_api
arithmetic/math io regex
memory
arithmetic/elementwise arithmetic/gemm arithmetic/random arithmetic/reduction arithmetic/softmax
arithmetic/linear corpus
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
    floors = [floor.split() for floor in C_LAYERS.split("\n") if floor]
    own = next(i for i, floor in enumerate(floors) if folder in floor)
    return {folder}.union(*floors[:own]) - C_STRANGERS.get(folder.split("/")[0], set())


@pytest.mark.parametrize("path", c_sources(), ids=lambda path: str(path.relative_to(ROOT / "csrc")))
def test_c_files_include_only_what_lies_below_and_keep_quiet(path):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    included = {c_folder(match) for match in re.findall(r'#include "([^"]+)"', text)}
    assert included <= may_include(c_folder(str(path.relative_to(ROOT / "csrc"))))
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


@pytest.mark.parametrize("path", kernel_files(), ids=lambda path: str(path.relative_to(ROOT / "csrc")))
def test_kernels_lie_in_folders_named_as_those_of_their_ops(path):
    """Kernels that call the host lie in host/, as what is called does; those of plans alone lie with their kin."""
    text = path.read_text()
    kernels = set(re.findall(r'\{\s*"(\w+)",', text[text.index("STILLFLOW_KERNELS(") :]))
    folder = path.parent.name
    if folder == "host":
        return
    modules = (SOURCE / "ops" / folder).glob("*.py") if path.stem != "nce_loss" else (SOURCE / "plan").rglob("*.py")
    assert kernels & {word for module in modules for word in re.findall(r"\w+", module.read_text())}


def test_importing_loads_nothing_that_is_not_needed():
    program = (
        "import sys, stillflow; "
        "print([m for m in ('google.protobuf', 'absl', 'ml_dtypes', 'tqdm', 'matplotlib') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
