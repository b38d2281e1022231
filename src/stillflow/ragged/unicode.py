"""Text as ragged tensors: its bytes, its characters, their code points, and n-grams of strings."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ragged.arrays import expand_dims
from stillflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged


@public("strings.bytes_split")
def bytes_split(input, name=None):
    """The bytes of strings, in one more dimension: a RaggedTensor, or a vector for a scalar.

    Raises ValueError for a tensor of unknown rank.
    """
    with name_scope(name, "StringsByteSplit", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        if is_ragged(input):
            return input.with_flat_values(bytes_split(input.flat_values))
        rank = input.shape.rank
        if rank is None:
            raise ValueError("input must have a statically-known rank.")
        if rank == 0:
            return bytes_split(ops.stack([input]))[0]
        if rank > 1:
            return bytes_split(RaggedTensor.from_tensor(input))
        indices, values, shape = ops.string_split_op(input, delimiter="", skip_empty=False)
        return RaggedTensor.from_value_rowids(values, indices[:, 0], nrows=shape[0], validate=False)


@public("strings.unicode_encode")
def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None):
    """Text made of code points.

    Args:
      input: int32 code points [..., characters], a tensor or RaggedTensor.
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: what comes of numbers that are no code points: "strict", "replace" or "ignore".
      replacement_char: the code point that takes their place.

    Returns:
      Strings of the shape of `input` without its last dimension.

    Raises:
      ValueError: for a scalar, or a tensor of unknown rank.
      At run time tf.errors.InvalidArgumentError for numbers that are no code points, if that is strict.
    """
    how = {"output_encoding": output_encoding, "errors": errors, "replacement_char": replacement_char}
    with name_scope(name, "UnicodeEncode", [input]):
        input = convert_to_tensor_or_ragged_tensor(input)
        rank = input.shape.rank
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if is_ragged(input):
            if input.flat_values.shape.rank > 1:
                return input.with_flat_values(unicode_encode(input.flat_values, **how))
            if input.ragged_rank > 1:
                return input.with_values(unicode_encode(input.values, **how))
            return ops.unicode_encode(input.values, input.row_splits, **how)
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        if rank == 2:
            return unicode_encode(RaggedTensor.from_tensor(input), **how)
        if rank > 2:
            rows = ops.reshape(input, ops.stack([-1, ops.shape(input)[-1]]))
            return ops.reshape(unicode_encode(rows, **how), input.shape[:-1])
        splits = ops.stack([0, ops.shape(input, out_type=dtypes.int32)[0]])
        row = RaggedTensor.from_row_splits(input, splits, validate=False)
        return ops.reshape(unicode_encode(row, **how), [])


def _decoded(input, input_encoding, errors, replacement_char, replace_control_characters, decode):
    """What the op `decode` gives of strings, each output but the first in rows: (code points, ...)."""
    input = convert_to_tensor_or_ragged_tensor(input, name="input")
    rank = input.shape.rank
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank > 1:
        if not is_ragged(input):
            input = RaggedTensor.from_tensor(input, ragged_rank=rank - 1)
        elif input.ragged_rank < rank - 1:
            inner = RaggedTensor.from_tensor(input.flat_values, ragged_rank=rank - input.ragged_rank + 1)
            input = input.with_flat_values(inner)
    splits, *outputs = decode(
        ops.reshape(input.flat_values if is_ragged(input) else input, [-1]), input_encoding=input_encoding,
        errors=errors, replacement_char=replacement_char, replace_control_characters=replace_control_characters,
    )  # fmt: skip
    if rank == 0:
        return outputs
    outputs = [RaggedTensor.from_row_splits(output, splits, validate=False) for output in outputs]
    return outputs if rank == 1 else [input.with_flat_values(output) for output in outputs]


@public("strings.unicode_decode")
def unicode_decode(
    input, input_encoding, errors="replace", replacement_char=0xFFFD, replace_control_characters=False, name=None
):
    """The code points of text.

    Args:
      input: strings, a tensor or RaggedTensor.
      input_encoding, errors, replacement_char, replace_control_characters: see tf.strings.unicode_transcode.

    Returns:
      int32 code points in one more dimension: a RaggedTensor, or a vector for a scalar.

    Raises:
      ValueError: for a tensor of unknown rank.
      At run time tf.errors.InvalidArgumentError for an unknown encoding, and for malformed text if that is strict.
    """
    with name_scope(name, "UnicodeDecode", [input]):
        return _decoded(
            input, input_encoding, errors, replacement_char, replace_control_characters, ops.unicode_decode
        )[0]  # fmt: skip


@public("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(
    input, input_encoding, errors="replace", replacement_char=0xFFFD, replace_control_characters=False, name=None
):
    """(the code points, int64 positions of their first bytes) of text; see `unicode_decode`."""
    with name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        return tuple(
            _decoded(
                input, input_encoding, errors, replacement_char, replace_control_characters,
                ops.unicode_decode_with_offsets,
            )
        )  # fmt: skip


@public("strings.unicode_split")
def unicode_split(input, input_encoding, errors="replace", replacement_char=0xFFFD, name=None):
    """The characters of text as strings of the same encoding, in one more dimension; see `unicode_decode`."""
    with name_scope(name, "UnicodeSplit", [input]):
        (codes,) = _decoded(input, input_encoding, errors, replacement_char, False, ops.unicode_decode)
        return unicode_encode(expand_dims(codes, -1), input_encoding, errors, replacement_char)


@public("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(input, input_encoding, errors="replace", replacement_char=0xFFFD, name=None):
    """(the characters, int64 positions of their first bytes) of text; see `unicode_split`."""
    with name_scope(name, "UnicodeSplitWithOffsets", [input]):
        codes, offsets = _decoded(
            input, input_encoding, errors, replacement_char, False, ops.unicode_decode_with_offsets
        )  # fmt: skip
        return unicode_encode(expand_dims(codes, -1), input_encoding, errors, replacement_char), offsets


@public("strings.ngrams")
def ngrams(
    data, ngram_width, separator=" ", pad_values=None, padding_width=None, preserve_short_sequences=False, name=None
):
    """Strings that follow each other, joined.

    Args:
      data: strings [..., n], a tensor or RaggedTensor.
      ngram_width: how many are joined, or a list of such numbers.
      separator: what stands between them.
      pad_values: what stands in front and behind, a string or a pair, or None.
      padding_width: how often; by default, and at most, one time less than the width.
      preserve_short_sequences: whether strings that are too few for all widths are joined all the same.

    Returns:
      Those of the first width, then those of the next, in place of the last dimension.

    Raises:
      TypeError: for pads that are no strings.
      ValueError: for a scalar, a tensor of unknown rank, or widths that are not positive.
    """
    with name_scope(name, "StringNGrams", [data]):
        left, right = _pads(pad_values)
        if padding_width is not None and padding_width < 1:
            raise ValueError("padding_width must be greater than 0.")
        if padding_width is not None and pad_values is None:
            raise ValueError("pad_values must be provided if padding_width is set.")
        data = convert_to_tensor_or_ragged_tensor(data, name="data", dtype=dtypes.string)
        given = separator, pad_values, padding_width, preserve_short_sequences, name
        shape = None
        if isinstance(data, Tensor):
            shape = ops.concat([ops.shape(data)[:-1], [-1]], axis=0)
            rank = data.shape.rank
            if rank is None:
                raise ValueError("Rank of data must be known.")
            if rank == 0:
                raise ValueError("Data must have rank>0")
            if rank == 1:
                return ngrams(RaggedTensor.from_row_starts(data, [0], validate=False), ngram_width, *given)[0]
            data = RaggedTensor.from_tensor(data, ragged_rank=rank - 1)
        if data.ragged_rank > 1:
            output = data.with_values(ngrams(data.values, ngram_width, *given))
        else:
            widths = ngram_width if isinstance(ngram_width, (list, tuple)) else [ngram_width]
            if any(width < 1 for width in widths):
                raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
            pads = 0 if pad_values is None else -1 if padding_width is None else padding_width
            values, splits = ops.string_n_grams(
                data.flat_values, data.row_splits, separator=separator, ngram_widths=widths, left_pad=left,
                right_pad=right, pad_width=pads, preserve_short_sequences=preserve_short_sequences,
            )  # fmt: skip
            output = RaggedTensor.from_row_splits(values, splits, validate=False)
        return output if shape is None else ops.reshape(output.flat_values, shape)


def _pads(pad_values):
    if pad_values is None:
        return "", ""
    pads = pad_values if isinstance(pad_values, (list, tuple)) else (pad_values, pad_values)
    if not all(isinstance(pad, (str, bytes)) for pad in pads[:2]):
        raise TypeError("pad_values must be a string, tuple of strings, or None.")
    return pads[0], pads[1]
