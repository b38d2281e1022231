"""Options of profiles: a dict of names and values."""

from __future__ import annotations

import copy

from stillflow import errors
from stillflow.names import public
from stillflow.profiler.op_log import TRAINABLE_VARIABLES

_NUMBERS = {
    "max_depth": 10, "min_bytes": 0, "min_peak_bytes": 0, "min_residual_bytes": 0, "min_output_bytes": 0,
    "min_micros": 0, "min_accelerator_micros": 0, "min_cpu_micros": 0, "min_params": 0, "min_float_ops": 0,
    "min_occurrence": 0, "step": -1,
}  # fmt: skip
_PATTERNS = (
    "account_type_regexes", "start_name_regexes", "trim_name_regexes", "show_name_regexes", "hide_name_regexes",
)  # fmt: skip
# Outputs, and the one option that each of them may have.
_OUTPUTS = {"timeline": "outfile", "stdout": None, "file": "outfile", "pprof": "outfile", "none": None}
_EVERYTHING = {
    "max_depth": 10000,
    "min_bytes": 0,
    "min_micros": 0,
    "min_params": 0,
    "min_float_ops": 0,
    "min_occurrence": 0,
    "order_by": "name",
    "account_type_regexes": [".*"],
    "start_name_regexes": [".*"],
    "trim_name_regexes": [],
    "show_name_regexes": [".*"],
    "hide_name_regexes": [],
    "account_displayed_op_only": True,
    "step": -1,
    "output": "stdout",
}


@public("profiler.ProfileOptionBuilder", "python.profiler.option_builder.ProfileOptionBuilder")
class ProfileOptionBuilder:
    """Makes options for tf.profiler.profile: `builder.with_max_depth(3).select(["params"]).build()`."""

    def __init__(self, options=None):
        """Starts from options, by default times of everything."""
        if options is not None:
            self._options = copy.deepcopy(options)
        else:
            self._options = _options(account_displayed_op_only=False, select=["micros"])

    @staticmethod
    def trainable_variables_parameter():
        """Options for the numbers of parameters of trainable variables."""
        return _options(account_type_regexes=[TRAINABLE_VARIABLES], select=["params"])

    @staticmethod
    def float_operation():
        """Options for the numbers of floating-point operations."""
        return _options(min_float_ops=1, order_by="float_ops", select=["float_ops"])

    @staticmethod
    def time_and_memory(
        min_micros=1, min_bytes=1, min_accelerator_micros=0, min_cpu_micros=0, min_peak_bytes=0,
        min_residual_bytes=0, min_output_bytes=0,
    ):  # fmt: skip
        """Options for times and bytes of what takes as much as the arguments say."""
        return _options(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
            min_micros=min_micros,
            min_accelerator_micros=min_accelerator_micros,
            min_cpu_micros=min_cpu_micros,
            order_by="micros",
            select=["micros", "bytes"],
        )

    def build(self):
        """The options: a dict."""
        return copy.deepcopy(self._options)

    def with_max_depth(self, max_depth):
        """Shows nodes down to a depth of the tree."""
        return self._with(max_depth=max_depth)

    def with_min_memory(self, min_bytes=0, min_peak_bytes=0, min_residual_bytes=0, min_output_bytes=0):
        """Shows nodes that take so many bytes."""
        return self._with(
            min_bytes=min_bytes,
            min_peak_bytes=min_peak_bytes,
            min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes,
        )

    def with_min_execution_time(self, min_micros=0, min_accelerator_micros=0, min_cpu_micros=0):
        """Shows nodes that take so long."""
        return self._with(
            min_micros=min_micros, min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros
        )

    def with_min_parameters(self, min_params):
        """Shows nodes with so many parameters."""
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence):
        """Shows nodes that ran so often."""
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops):
        """Shows nodes of so many floating-point operations."""
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes):
        """Counts nodes with a type that matches: an op's type, its device, or a type that an op log gives."""
        return self._with(account_type_regexes=copy.copy(account_type_regexes))

    def with_node_names(
        self, start_name_regexes=None, show_name_regexes=None, hide_name_regexes=None, trim_name_regexes=None
    ):
        """Shows nodes by name: those below `start` that `show` has and `hide` has not, and none below `trim`'s."""
        names = {
            "start_name_regexes": start_name_regexes,
            "show_name_regexes": show_name_regexes,
            "hide_name_regexes": hide_name_regexes,
            "trim_name_regexes": trim_name_regexes,
        }
        return self._with(**{key: copy.copy(value) for key, value in names.items() if value is not None})

    def account_displayed_op_only(self, is_true):
        """Whether totals are those of the nodes that are shown."""
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self):
        """Prints nothing."""
        return self._with(output="none")

    def with_stdout_output(self):
        """Prints the report."""
        return self._with(output="stdout")

    def with_file_output(self, outfile):
        """Writes the report into a file."""
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file):
        """Writes a timeline for chrome://tracing into a file."""
        return self._with(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file):
        """Writes a profile for pprof into a file."""
        return self._with(output=f"pprof:outfile={pprof_file}")

    def order_by(self, attribute):
        """Sorts by "name" or, the largest first, by "bytes", "micros", "params", "float_ops" and the like."""
        return self._with(order_by=attribute)

    def select(self, attributes):
        """Shows these attributes, such as "micros", "bytes", "params", "float_ops", "device" and "occurrence"."""
        return self._with(select=copy.copy(attributes))

    def with_step(self, step):
        """Takes times of one step; those of the mean one for -1."""
        return self._with(step=step)

    def _with(self, **options):
        self._options.update(options)
        return self


class Options:
    """Options with their defaults, in attributes of their names, and `output` apart in `output` and `outfile`.

    Raises InvalidArgumentError for an output that cannot be.
    """

    def __init__(self, given):
        for name, default in _NUMBERS.items():
            setattr(self, name, given.get(name, default))
        for name in _PATTERNS:
            setattr(self, name, list(given.get(name, [])))
        self.order_by = given.get("order_by", "name")
        self.account_displayed_op_only = given.get("account_displayed_op_only", False)
        self.select = sorted(set(given.get("select", [])))
        self.output, self.outfile = _parse_output(given.get("output", "stdout") or "stdout")
        if given.get("dump_to_file"):
            self.output, self.outfile = "file", given["dump_to_file"]

    def lines(self):
        """One line for each option, as reports begin with."""
        shown = {name: getattr(self, name) for name in (*_NUMBERS, "order_by")}
        shown.update({name: ",".join(getattr(self, name)) for name in _PATTERNS})
        shown["account_displayed_op_only"] = "true" if self.account_displayed_op_only else "false"
        shown["select"] = ",".join(self.select)
        shown["output"] = f"{self.output}:{f'outfile={self.outfile}' if self.outfile else ''}"
        return "".join(f"{f'-{name}':<28}{value}\n" for name, value in shown.items())


def _options(**changes):
    return copy.deepcopy(_EVERYTHING | changes)


def _parse_output(text):
    kind, _, rest = text.partition(":")
    if kind not in _OUTPUTS:
        valid = ",".join(sorted(_OUTPUTS))
        raise errors.InvalidArgumentError(None, None, f"E.g. Unknown output type: {text}, Valid types: {valid}\n")
    option = _OUTPUTS[kind]
    outfile = None
    for part in filter(None, rest.split(",")):
        key, _, value = part.partition("=")
        if key != option or not value:
            raise errors.InvalidArgumentError(
                None, None, f"Unrecognized options {key} for output_type: {kind}\n"
            )  # fmt: skip
        outfile = value
    if option is not None and outfile is None:
        raise errors.InvalidArgumentError(
            None, None, f"Missing required output_options for {kind}\nE.g. -output {kind}:{option}=...\n"
        )
    return kind, outfile
