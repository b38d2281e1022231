"""Stage, MapStage, OrderedMapStage and their kin: elements that wait in the session, in order or by keys."""

from __future__ import annotations

from stillflow.ops.registry import define_op

_LIMITS = "capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; "
_NAMES = "container: string = ''; shared_name: string = ''"
_SOME_TYPES = f"{_LIMITS}dtypes: list(type) >= 1; {_NAMES}"
_TYPES = f"{_LIMITS}dtypes: list(type); {_NAMES}"


def _define(signature, attrs, kernel, inputs="", ordered=0, waits=False):
    return define_op(
        signature,
        attrs,
        kernel=f"{kernel}({inputs}| container, shared_name, node_name, capacity, memory_limit, {ordered}, dtypes)",
        stateful=True,
        differentiable=False,
        traits="waits" if waits else "",
    )


stage = _define("Stage(values: dtypes) -> ()", _SOME_TYPES, "stage", "values ", waits=True)
unstage = _define("Unstage() -> (values: dtypes)", _SOME_TYPES, "unstage", waits=True)
stage_peek = _define("StagePeek(index: int32) -> (values: dtypes)", _SOME_TYPES, "stage_peek", "index ", waits=True)
stage_size = _define("StageSize() -> (size: int32)", _TYPES, "stage_size")
stage_clear = _define("StageClear() -> ()", _TYPES, "stage_clear")


def _map(prefix, ordered):
    fake = f"{_LIMITS}dtypes: list(type); fake_dtypes: list(type) >= 1; {_NAMES}"
    return (
        _define(f"{prefix}Stage(key: int64, indices: int32, values: fake_dtypes) -> ()", fake, "map_stage",
                "key, indices, values ", ordered, waits=True),
        _define(f"{prefix}Unstage(key: int64, indices: int32) -> (values: dtypes)", _SOME_TYPES, "map_unstage",
                "key, indices ", ordered, waits=True),
        _define(f"{prefix}UnstageNoKey(indices: int32) -> (key: int64, values: dtypes)", _SOME_TYPES,
                "map_unstage_no_key", "indices ", ordered, waits=True),
        _define(f"{prefix}Peek(key: int64, indices: int32) -> (values: dtypes)", _SOME_TYPES, "map_peek",
                "key, indices ", ordered, waits=True),
        _define(f"{prefix}Size() -> (size: int32)", _TYPES, "map_size", ordered=ordered),
        _define(f"{prefix}IncompleteSize() -> (size: int32)", _TYPES, "map_incomplete_size", ordered=ordered),
        _define(f"{prefix}Clear() -> ()", _TYPES, "map_clear", ordered=ordered),
    )  # fmt: skip


map_stage, map_unstage, map_unstage_no_key, map_peek, map_size, map_incomplete_size, map_clear = _map("Map", 0)
(
    ordered_map_stage,
    ordered_map_unstage,
    ordered_map_unstage_no_key,
    ordered_map_peek,
    ordered_map_size,
    ordered_map_incomplete_size,
    ordered_map_clear,
) = _map("OrderedMap", 1)


@stage_size.shape_rule
@map_size.shape_rule
@map_incomplete_size.shape_rule
@ordered_map_size.shape_rule
@ordered_map_incomplete_size.shape_rule
def _(context):
    return ()


@unstage.shape_rule
@stage_peek.shape_rule
@map_unstage.shape_rule
@map_unstage_no_key.shape_rule
@map_peek.shape_rule
@ordered_map_unstage.shape_rule
@ordered_map_unstage_no_key.shape_rule
@ordered_map_peek.shape_rule
def _(context):
    """Nothing is known of elements before they are there; the areas set the shapes that they have been told."""
    return [None] * (len(context.attrs["dtypes"]) + len(context.op_def.outputs) - 1)
