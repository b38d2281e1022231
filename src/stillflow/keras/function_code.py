"""Functions as text: their code in base64, and back."""

from __future__ import annotations

import binascii
import codecs
import marshal
import types

from stillflow.names import public


@public("python.keras.utils.generic_utils.func_dump")
def func_dump(func):
    """(code in base64, defaults, values of free variables) of a function, for the same version of Python."""
    code = codecs.encode(marshal.dumps(func.__code__), "base64").decode("ascii")
    closure = tuple(cell.cell_contents for cell in func.__closure__) if func.__closure__ else None
    return code, func.__defaults__, closure


@public("python.keras.utils.generic_utils.func_load")
def func_load(code, defaults=None, closure=None, globs=None):
    """The function that was dumped.

    Args:
      code: the code in base64, or all three parts.
      defaults, closure: what `func_dump` gave, or None.
      globs: the function's global names; by default those of this module.
    """
    if isinstance(code, (tuple, list)):
        code, defaults, closure = code
    if closure is not None:
        closure = tuple(each if isinstance(each, types.CellType) else types.CellType(each) for each in closure)
    try:
        plain = codecs.decode(code.encode("ascii"), "base64")
    except (UnicodeEncodeError, binascii.Error):
        plain = code.encode("raw_unicode_escape")
    loaded = marshal.loads(plain)
    names = globals() if globs is None else globs
    return types.FunctionType(loaded, names, loaded.co_name, None if defaults is None else tuple(defaults), closure)
