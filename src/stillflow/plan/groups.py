"""groups: elementwise nodes that one kernel runs. The text of its program is described in
csrc/arithmetic/elementwise/program.h.

Nodes are visited from the last to the first. One joins the group that reads its result, or makes one group of several
that do, if all are of one shape, so that nothing is computed more often than before. What others read, too, the
kernel writes. A group runs at the place of its last node; what reads its results but is not in it has a later place.
That is checked whenever a group grows, and stays so, because places only become later.

Operands that are columns of wider values are read there, and results that are only put side by side are written so.
"""

from __future__ import annotations

from stillflow.ops.registry import Elementwise, Kernel
from stillflow.plan.columns import as_elementwise, columns_of, joined_values
from stillflow.plan.ir import Node

_KERNEL = Kernel("elementwise", ("inputs",), ("program", "input_count", "columns", "joined"))
_MOST_INPUTS = 64
_MOST_INSTRUCTIONS = 512
_MOST_OUTPUTS = 16


class _Group:
    """Elementwise nodes that become one."""

    def __init__(self, dims, guard, place):
        self.dims = dims
        self.guard = guard
        self.place = place  # where it runs: no earlier than all of its nodes
        self.nodes: list = []
        self.inputs: dict = {}  # values that come from outside, in the order in which they were met
        self.exits: list = []  # values that others read
        self.join = None  # a ConcatV2 of results


class Groups:
    """The groups of a plan. If nothing `joins`, each node is one."""

    def __init__(self, plan, joins):
        self._plan = plan
        self._joins = joins
        self._readers = plan.readers()
        self._fetched = set(plan.fetch_values)
        self._places = {node: place for place, node in enumerate(plan.nodes)}
        self._group_of: dict = {}
        for node in reversed(plan.nodes):
            if isinstance(node.lowering, Elementwise):
                if not (joins and self._joined(node)):
                    self._add(node, _Group(node.outputs[0].dims, node.guard, self._places[node]))
            elif joins and as_elementwise(node) is not None:
                lowering, node.lowering = node.lowering, as_elementwise(node)
                if not self._joined(node):
                    node.lowering = lowering
            elif joins and self._is_join(node):
                group = self._group_of[node] = _Group(node.inputs[0].dims, node.guard, self._places[node])
                group.join = node

    # ---- Growth ---------------------------------------------------------------------------------------------

    def _is_join(self, node):
        """Whether a node puts results of elementwise nodes side by side that nobody else reads."""
        values = joined_values(node)
        return (
            values is not None
            and len(values) <= _MOST_OUTPUTS
            and all(
                value.producer is not None
                and isinstance(value.producer.lowering, Elementwise)
                and value.producer.guard == node.guard
                and value not in self._fetched
                and self._readers[value] == [node]
                for value in values
            )
        )

    def _joined(self, node):
        """Adds the node to a group of its readers, if there is one in which it may be computed."""
        (value,) = node.outputs
        if value.count is None or value not in self._readers:
            return False
        readers = self._readers[value]
        found = sorted({self._group_of[r] for r in readers if r in self._group_of}, key=lambda group: group.place)
        found = [group for group in found if group.dims == value.dims and group.guard == node.guard]
        for groups in (found, found[:1]):
            if groups and self._may_join(node, groups):
                self._add(node, self._merged(groups))
                return True
            if len(found) < 2:
                break
        return False

    def _may_join(self, node, groups):
        """Whether groups, in the order of their places, and a node may become one group."""
        place = groups[-1].place
        exits = [value for group in groups for value in group.exits] + node.outputs
        exits += [value for group in groups if group.join for value in group.join.outputs]
        outside = 0
        for value in exits:
            others = [reader for reader in self._readers.get(value, ()) if self._group_of.get(reader) not in groups]
            if any(self._place_of(reader) <= place for reader in others):
                return False
            outside += bool(others) or value in self._fetched
        if outside > _MOST_OUTPUTS or sum(group.join is not None for group in groups) > 1:
            return False
        inputs = {value for group in groups for value in group.inputs}
        inputs.update(node.inputs)
        inputs.discard(node.outputs[0])
        count = sum(len(group.nodes) for group in groups)
        return count < _MOST_INSTRUCTIONS and len(inputs) <= _MOST_INPUTS

    def _place_of(self, node):
        """Where a node runs; if it is in a group, that may still become later."""
        group = self._group_of.get(node)
        return self._places[node] if group is None else group.place

    def _merged(self, groups):
        """One group of several: the largest, which takes the others in."""
        if len(groups) == 1:
            return groups[0]
        largest = max(groups, key=lambda group: len(group.nodes))
        for group in groups:
            if group is largest:
                continue
            largest.place = max(largest.place, group.place)
            largest.nodes += group.nodes
            largest.inputs.update(group.inputs)
            largest.exits += group.exits
            largest.join = largest.join or group.join
            self._group_of.update(dict.fromkeys(group.nodes, largest))
            if group.join is not None:
                self._group_of[group.join] = largest
        for value in [v for v in largest.inputs if self._group_of.get(v.producer) is largest]:
            del largest.inputs[value]
        largest.exits = [value for value in largest.exits if self._is_exit(value, largest)]
        return largest

    def _add(self, node, group):
        (value,) = node.outputs
        group.nodes.append(node)
        self._group_of[node] = group
        group.inputs.pop(value, None)
        group.inputs.update(dict.fromkeys(node.inputs))
        if self._is_exit(value, group):
            group.exits.append(value)

    def _is_exit(self, value, group):
        readers = self._readers.get(value)
        if readers is None or value in self._fetched:
            return True
        return any(self._group_of.get(reader) is not group for reader in readers)

    # ---- The nodes that run groups --------------------------------------------------------------------------

    def fused_nodes(self):
        """The nodes of the plan, with one for each group in place of its nodes."""
        groups = {group.place: group for group in self._group_of.values()}
        apart = {}  # _Group -> its join, which runs after it if some other values are joined, too
        for group in groups.values():
            group.nodes.sort(key=self._places.__getitem__)
            if group.join is not None and not self._is_complete(group):
                apart[group], group.join = group.join, None
                group.exits += apart[group].inputs[:-1]
        cuts = self._cuts(apart.values()) if self._joins else set()
        nodes = []
        for place, node in enumerate(self._plan.nodes):
            group = groups.get(place)
            if group is not None and group.nodes:
                nodes.append(self._fused(group, cuts))
            if group in apart:
                nodes.append(apart[group])
            if node not in self._group_of and node not in cuts:
                nodes.append(node)
        return nodes

    def _is_complete(self, group):
        return all(self._group_of.get(value.producer) is group for value in group.join.inputs[:-1])

    def _cuts(self, joins):
        """Nodes that cut out columns which only groups read; they need not run. `joins` are in groups no longer."""

        def reads_columns(reader, value):
            if reader not in self._group_of or reader in joins:
                return False
            dims = self._group_of[reader].dims
            return dims is not None and value.dims in (dims, dims[-1:])

        return {
            node
            for node in self._plan.nodes
            if node.type in ("Split", "Slice")
            and all(columns_of(value) is not None and value not in self._fetched for value in node.outputs)
            and all(reads_columns(reader, value) for value in node.outputs for reader in self._readers.get(value, ()))
        }

    def _fused(self, group, cuts):
        # Operands as large as the result first: one of them may give its memory to the result.
        inputs = sorted(group.inputs, key=lambda value: value.dims != group.dims)
        joined = group.join.inputs[:-1] if group.join else []
        own = [value for value in self._exits_in_order(group) if value not in joined]
        registers = {value: i for i, value in enumerate(inputs)}
        attrs = {
            "program": _program(group.nodes, registers, [*own, *joined]).encode(),
            "input_count": len(inputs),
            "columns": (),
            "joined": len(joined),
        }
        whole = [columns_of(value) if value.producer in cuts else None for value in inputs]
        if any(whole):
            attrs["columns"] = (group.dims[-1], *(found[1] if found else -1 for found in whole))
            inputs = [found[0] if found else value for value, found in zip(inputs, whole, strict=True)]
        last = group.nodes[-1]
        fused = Node(last.op, "_Elementwise", _KERNEL, inputs, attrs, last.position, is_pure=True)
        fused.guard = group.guard
        fused.outputs = own + (group.join.outputs if group.join else [])
        for value in fused.outputs:
            value.producer = fused
        fused.parts = [node.op for node in group.nodes]
        return fused

    def _exits_in_order(self, group):
        exits = set(group.exits)
        return [node.outputs[0] for node in group.nodes if node.outputs[0] in exits]


def _program(nodes, registers, results):
    """The text of a program. `registers` are those of the inputs; the nodes' results are added."""
    instructions = []
    for node in nodes:
        operands = " ".join(str(registers[value]) for value in node.inputs)
        (value,) = node.outputs
        registers[value] = len(registers)
        operand = node.inputs[-1] if node.lowering.name == "select" else node.inputs[0]
        types = f"{operand.dtype._c_name} {value.dtype._c_name}"
        instructions.append(f"{node.lowering.name} {types} {registers[value]} {operands}")
    return f"{'; '.join(instructions)} | {' '.join(str(registers[value]) for value in results)}"
