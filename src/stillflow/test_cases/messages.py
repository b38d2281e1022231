"""Messages that are compared: numbers that differ by rounding are equal."""

from __future__ import annotations

_DIGITS = {"float": 6, "double": 7}


def with_rounded_numbers(message):
    """A copy of a message whose floating-point numbers have few digits after the point."""
    copy = type(message)()
    copy.CopyFrom(message)
    _round(copy)
    return copy


def _round(message):
    for field, value in message.ListFields():
        is_map = field.message_type is not None and field.message_type.GetOptions().map_entry
        if is_map:
            if field.message_type.fields_by_number[2].message_type is not None:
                for each in value.values():
                    _round(each)
            continue
        is_list = not isinstance(value, (bool, int, float, str, bytes)) and not hasattr(value, "ListFields")
        values = value if is_list else [value]
        digits = {field.TYPE_FLOAT: _DIGITS["float"], field.TYPE_DOUBLE: _DIGITS["double"]}.get(field.type)
        if field.message_type is not None:
            for each in values:
                _round(each)
        elif digits is not None and is_list:
            value[:] = [_rounded(each, digits) for each in values]
        elif digits is not None:
            setattr(message, field.name, _rounded(value, digits))


def _rounded(value, digits):
    return round(value, digits) + 0.0  # which makes 0 of -0
