"""The list of the types of operations: what all operations of each count together.

The total of a type is what it and those after it count, so that the first one's is everything's.
"""

from __future__ import annotations

from stillflow.formats import protobuf
from stillflow.profiler import texts
from stillflow.profiler.nodes import COUNTS, shape_texts
from stillflow.profiler.scope_view import ROOT

_LIMITS = (("total_parameters", "min_params"), ("total_float_ops", "min_float_ops"))


class _Row:
    """All operations of a type."""

    def __init__(self, name, nodes):
        self.name = name
        self._nodes = nodes
        self.nodes = []
        self.proto = protobuf.message("MultiGraphNodeProto")(name=name)

    def take_counts(self, options):
        """Counts the nodes of the types that are wanted. Returns whether the row counts."""
        patterns = options.account_type_regexes
        self.nodes = [node for node in self._nodes if node.is_of_type(patterns)]
        for node in self.nodes:
            each = self.proto.graph_nodes.add(name=node.name, run_count=node.run_count(options.step))
            each.total_definition_count = 1
            each.total_run_count = each.run_count
            if node.device:
                each.devices.append(node.device)
            for key, value in node.counts(options.step).items():
                setattr(each, key, value)
                setattr(each, f"total_{key}", value)
                setattr(self.proto, key, getattr(self.proto, key) + value)
            for number, dims in enumerate(node.input_shapes):
                shape = each.input_shapes[number]
                shape.unknown_rank = not dims
                for size in dims:
                    shape.dim.add(size=size)
        return bool(self.nodes) or patterns == [".*"]

    def total(self, following=None):
        """Makes the totals those of this row and of the one that follows."""
        for key in COUNTS:
            more = getattr(following.proto, f"total_{key}") if following else 0
            setattr(self.proto, f"total_{key}", getattr(self.proto, key) + more)


def show(nodes, options):
    """The message of the list, and its text."""
    by_type: dict = {}
    for node in nodes:
        by_type.setdefault(node.kind, []).append(node)
    root = _Row(ROOT, [])
    rows = [_Row(kind, by_type[kind]) for kind in sorted(by_type)]
    counted = [row for row in rows if row.take_counts(options)]
    for row in counted:
        row.total()
    counted = texts.in_order(counted, options)
    _add_up(counted)
    if counted:
        root.total(counted[0])
    shown = _shown(counted, options)
    if options.account_displayed_op_only:
        _add_up(shown)
        root.total(shown[0] if shown else None)
    text = texts.legend(options.select, counts_first=False)
    text += "".join(_line(row, root.proto, options.select) for row in shown)
    proto = root.proto
    for row in shown:  # each is within the one before
        proto = proto.children.add()
        proto.CopyFrom(row.proto)
    return root.proto, text


def _add_up(rows):
    following = None
    for row in reversed(rows):
        row.total(following)
        following = row


def _shown(rows, options):
    start = 0
    if options.start_name_regexes and options.start_name_regexes != [".*"]:
        names = [texts.matches(row.name, options.start_name_regexes) for row in rows]
        start = names.index(True) if any(names) else len(rows)
    found = []
    for depth, row in enumerate(rows[start:]):
        if texts.matches(row.name, options.trim_name_regexes) or depth > options.max_depth:
            break
        if texts.is_shown(row.proto, options, depth, _LIMITS):
            found.append(row)
    return found


def _line(row, root, select):
    proto = row.proto

    def part(field, write, unit=""):
        own, total, whole = (getattr(proto, field), getattr(proto, f"total_{field}"), getattr(root, f"total_{field}"))
        accumulated, alone = (100 * total / whole, 100 * own / whole) if whole else (0.0, 0.0)
        return f"{f'{write(own)}{unit} ({accumulated:.2f}%, {alone:.2f}%)':>30}"

    found = [part(field, texts.memory) for _, field, _ in texts.memory_columns(select)]
    found += [part(field, texts.time) for _, field, _ in texts.time_columns(select)]
    if "params" in select:
        found.append(part("parameters", texts.number, " params"))
    if "float_ops" in select:
        found.append(part("float_ops", texts.number, " float_ops"))
    if "device" in select:
        found.append("|".join(sorted({node.device for node in row.nodes})))
    if "op_types" in select:
        found.append("|".join(sorted({kind for node in row.nodes for kind in node.types})))
    if "occurrence" in select:
        runs = sum(each.run_count for each in proto.graph_nodes)
        found.append(f"{f'{runs}|{len(proto.graph_nodes)}':>10}")
    line = f"{row.name:<25}{', '.join(found)}\n"
    return f"{line}\n{_inputs(row)}\n\n" if "input_shapes" in select and row.nodes else line


def _inputs(row):
    """The shapes of inputs, those that ran most often first."""
    by_shapes: dict = {}
    for node, each in zip(row.nodes, row.proto.graph_nodes, strict=True):
        entry = by_shapes.setdefault(",\t".join(shape_texts(node)), [0, 0, 0])
        for i, more in enumerate((1, each.run_count, each.exec_micros)):
            entry[i] += more
    rows = sorted(sorted(by_shapes.items()), key=lambda item: -item[1][1])
    return "\n".join(
        f"input_type: {shapes}\t(run*{runs}|defined*{defined})\texec_time: {texts.time(micros)}"
        for shapes, (defined, runs, micros) in rows
    )
