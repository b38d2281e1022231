"""Names of nodes with and without a scope in front: tf.contrib.framework.strip_name_scope and prepend_name_scope."""

from __future__ import annotations

import re

from stillflow.names import public
from stillflow.platform.compat import as_text


def _replaced(name, pattern, replacement):
    try:
        return re.sub(pattern, replacement, as_text(name), count=1)
    except TypeError:
        return name


@public("contrib.framework.strip_name_scope")
def strip_name_scope(name, export_scope):
    """A name without a scope: of a node, of a control input ("^name") or of a colocation group ("loc:@name").

    What is no string, or has another scope, comes back as it is.
    """
    if not export_scope:
        return name
    return _replaced(name, rf"([\^]|loc:@|^){export_scope.removesuffix('/')}[\/]+(.*)", r"\1\2")


@public("contrib.framework.prepend_name_scope")
def prepend_name_scope(name, import_scope):
    """A name with a scope in front; see strip_name_scope."""
    if not import_scope:
        return name
    return _replaced(name, r"([\^]|loc:@|^)(.*)", rf"\1{import_scope.removesuffix('/')}/\2")
