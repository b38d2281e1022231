"""Readers: the node that stands for one, and the ops that read records and ask how many there were."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.input.handle import HANDLES, shape_of_handle, versions
from stillflow.ops.registry import define_op


def _reader(name, kind, before="", after="", sizes="0, 0, 0, 0, 0", encoding="0"):
    """`before` and `after` are the attributes around the names; `after` belongs to the second version alone."""

    def define(handle, suffix, version):
        op = define_op(
            f"{name}{suffix}() -> (reader_handle: {handle})",
            f"{before}container: string = ''; shared_name: string = ''{after if version == 2 else ''}",
            kernel=f"make_reader(| {HANDLES[version]}, container, shared_name, node_name, '{kind}', {sizes}, "
            f"{encoding if version == 2 or encoding not in after else 0})",
            state="op",
            stateful=True,
            differentiable=False,
        )
        op.shape_rule(shape_of_handle)
        return op

    return versions(define)


text_line_reader_v2, text_line_reader = _reader(
    "TextLineReader", "text_line", "skip_header_lines: int = 0; ", sizes="skip_header_lines, 0, 0, 0, 0"
)
fixed_length_record_reader_v2, fixed_length_record_reader = _reader(
    "FixedLengthRecordReader",
    "fixed_length_record",
    "header_bytes: int = 0; record_bytes: int; footer_bytes: int = 0; hop_bytes: int = 0; ",
    "; encoding: string = ''",
    sizes="0, header_bytes, record_bytes, footer_bytes, hop_bytes",
    encoding="encoding",
)
whole_file_reader_v2, whole_file_reader = _reader("WholeFileReader", "whole_file")
identity_reader_v2, identity_reader = _reader("IdentityReader", "identity")


def _define_tf_record_reader(handle, suffix, version):
    op = define_op(
        f"TFRecordReader{suffix}() -> (reader_handle: {handle})",
        "container: string = ''; shared_name: string = ''; compression_type: string = ''",
        kernel=f"make_reader(| {HANDLES[version]}, container, shared_name, node_name, 'tf_record', 0, 0, 0, 0, 0, "
        "compression_type)",
        state="op",
        stateful=True,
        differentiable=False,
    )
    op.shape_rule(shape_of_handle)
    return op


tf_record_reader_v2, tf_record_reader = versions(_define_tf_record_reader)


# ---- Records ------------------------------------------------------------------------------------------------


def _op(name, signature, kernel, shape_rule=None, traits=""):
    """Both versions of an op; the signature has HANDLE for the type of handles."""

    def define(handle, suffix, version):
        op = define_op(
            f"{name}{suffix}{signature.replace('HANDLE', handle)}",
            kernel=kernel,
            stateful=version == 2,
            differentiable=False,
            traits=traits,
        )
        if shape_rule is not None:
            op.shape_rule(shape_rule)
        return op

    return versions(define)


def _scalars(context):
    return [()] * context.output_count()


def _vectors(context):
    plain.with_rank(context.shapes[2], 0)
    return [(None,), (None,)]


def _restored(context):
    plain.with_rank(context.shapes[1], 0)
    return []


reader_read_v2, reader_read = _op(
    "ReaderRead",
    "(reader_handle: HANDLE, queue_handle: HANDLE) -> (key: string, value: string)",
    "reader_read(reader_handle, queue_handle)",
    _scalars,
    traits="waits",
)
reader_read_up_to_v2, reader_read_up_to = _op(
    "ReaderReadUpTo",
    "(reader_handle: HANDLE, queue_handle: HANDLE, num_records: int64) -> (keys: string, values: string)",
    "reader_read_up_to(reader_handle, queue_handle, num_records)",
    _vectors,
    traits="waits",
)
reader_num_records_produced_v2, reader_num_records_produced = _op(
    "ReaderNumRecordsProduced",
    "(reader_handle: HANDLE) -> (records_produced: int64)",
    "reader_count(reader_handle | 'records')",
    _scalars,
)
reader_num_work_units_completed_v2, reader_num_work_units_completed = _op(
    "ReaderNumWorkUnitsCompleted",
    "(reader_handle: HANDLE) -> (units_completed: int64)",
    "reader_count(reader_handle | 'work_units')",
    _scalars,
)
reader_serialize_state_v2, reader_serialize_state = _op(
    "ReaderSerializeState",
    "(reader_handle: HANDLE) -> (state: string)",
    "reader_serialize_state(reader_handle)",
    _scalars,
)
reader_restore_state_v2, reader_restore_state = _op(
    "ReaderRestoreState",
    "(reader_handle: HANDLE, state: string) -> ()",
    "reader_restore_state(reader_handle, state)",
    _restored,
)
reader_reset_v2, reader_reset = _op("ReaderReset", "(reader_handle: HANDLE) -> ()", "reader_reset(reader_handle)")
