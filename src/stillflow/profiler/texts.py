"""Numbers, times and bytes as reports have them."""

from __future__ import annotations

import re


def number(value):
    """Such as "999", "1.23k", "4.50m" and "6.00b"."""
    return _scaled(value, ("", "k", "m", "b"))


def time(micros):
    """Such as "999us", "1.23ms" and "4.50sec"."""
    return _scaled(micros, ("us", "ms", "sec"))


def memory(size):
    """Such as "999B", "1.23KB" and "4.50MB"."""
    return _scaled(size, ("B", "KB", "MB"))


def _scaled(value, units):
    if value < 1000:
        return f"{value}{units[0]}"
    power = next((p for p in range(1, len(units)) if value < 1000 ** (p + 1)), len(units) - 1)
    return f"{value / 1000**power:.2f}{units[power]}"


# Attributes that can be selected, in the order in which reports have them: the name, the field of the messages, how
# it is written, and what heads it.
MEMORY_COLUMNS = (
    ("bytes", "requested_bytes", "requested bytes"),
    ("peak_bytes", "peak_bytes", "peak bytes"),
    ("residual_bytes", "residual_bytes", "residual bytes"),
    ("output_bytes", "output_bytes", "output bytes"),
)
TIME_COLUMNS = (
    ("micros", "exec_micros", "total execution time"),
    ("accelerator_micros", "accelerator_exec_micros", "accelerator execution time"),
    ("cpu_micros", "cpu_exec_micros", "cpu execution time"),
)


def time_columns(select):
    """Those of TIME_COLUMNS to show: all of them for "micros"."""
    return [column for column in TIME_COLUMNS if "micros" in select or column[0] in select]


def memory_columns(select):
    return [column for column in MEMORY_COLUMNS if column[0] in select]


def legend(select, counts_first):
    """The line over a report; of the tree of scopes counts come first, of the list of ops they follow the times."""
    counts = [title for key, title in (("params", "# parameters"), ("float_ops", "# float_ops")) if key in select]
    measured = [title for _, _, title in (*memory_columns(select), *time_columns(select))]
    rest = {
        "device": "assigned devices",
        "op_types": "op types",
        "occurrence": "op count (run|defined)" if counts_first else "op occurrence (run|defined)",
        "input_shapes": "input shapes",
    }
    titles = counts + measured if counts_first else measured + counts
    titles += [title for key, title in rest.items() if key in select]
    return f"node name | {' | '.join(titles)}\n"


def matches(name, patterns):
    """Whether the whole name matches one of the patterns."""
    return any(re.fullmatch(pattern, name) for pattern in patterns)


# What `options.order_by` sorts by, the largest first.
ORDERS = {
    "bytes": "total_requested_bytes",
    "peak_bytes": "total_peak_bytes",
    "residual_bytes": "total_residual_bytes",
    "output_bytes": "total_output_bytes",
    "micros": "total_exec_micros",
    "accelerator_micros": "total_accelerator_exec_micros",
    "cpu_micros": "total_cpu_exec_micros",
    "params": "total_parameters",
    "float_ops": "total_float_ops",
}


def in_order(shown, options):
    """Rows of a view in the order that is wanted: by name but for ORDERS."""
    field = ORDERS.get(options.order_by)
    if not options.order_by:
        return list(shown)
    if field is None:
        return sorted(shown, key=lambda row: row.proto.name)
    return sorted(shown, key=lambda row: -getattr(row.proto, field))


# What is shown but for the root: rows at least as large as the options say. (field, option)
_TOTAL_LIMITS = (
    ("total_requested_bytes", "min_bytes"), ("total_peak_bytes", "min_peak_bytes"),
    ("total_residual_bytes", "min_residual_bytes"), ("total_output_bytes", "min_output_bytes"),
    ("total_exec_micros", "min_micros"), ("total_accelerator_exec_micros", "min_accelerator_micros"),
    ("total_cpu_exec_micros", "min_cpu_micros"),
)  # fmt: skip


def is_shown(proto, options, depth, limits):
    """Whether a row is large enough, by the totals and by more `limits`, not too deep, and of a name to show."""
    if depth > options.max_depth:
        return False
    if any(getattr(proto, field) < getattr(options, option) for field, option in (*_TOTAL_LIMITS, *limits)):
        return False
    return matches(proto.name, options.show_name_regexes) and not matches(proto.name, options.hide_name_regexes)
