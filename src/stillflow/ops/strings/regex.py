"""RegexReplace and RegexFullMatch: regular expressions over strings, given when the graph is built or run."""

from __future__ import annotations

from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op

regex_replace_op = define_op(
    "RegexReplace(input: string, pattern: string, rewrite: string) -> (output: string)",
    "replace_global: bool = true",
    kernel="regex_replace(input, pattern, rewrite | replace_global)",
    differentiable=False,
)
static_regex_replace = define_op(
    "StaticRegexReplace(input: string) -> (output: string)",
    "pattern: string; rewrite: string; replace_global: bool = true",
    kernel="static_regex_replace(input | pattern, rewrite, replace_global)",
    differentiable=None,
)
regex_full_match_op = define_op(
    "RegexFullMatch(input: string, pattern: string) -> (output: bool)",
    kernel="regex_full_match(input, pattern)",
    differentiable=None,
)
static_regex_full_match = define_op(
    "StaticRegexFullMatch(input: string) -> (output: bool)",
    "pattern: string",
    kernel="static_regex_full_match(input | pattern)",
    differentiable=None,
)


@regex_replace_op.shape_rule
@regex_full_match_op.shape_rule
def _(context):
    for scalar in context.shapes[1:]:
        plain.with_rank(scalar, 0)
    return context.shapes[0]


@static_regex_replace.shape_rule
@static_regex_full_match.shape_rule
def _(context):
    return context.shapes[0]


@public("regex_replace", "strings.regex_replace")
@dispatched
def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    """Strings with other text in place of what a regular expression matches.

    Args:
      input: strings.
      pattern: a regular expression as RE2 has them, without backtracking: a string, or a scalar tensor.
      rewrite: what to put there: \1 to \\9 are groups of the match, \0 all of it.
      replace_global: whether to replace all matches, or the first.

    Raises:
      At run time tf.errors.InvalidArgumentError for a pattern that is wrong.
    """
    if isinstance(pattern, (str, bytes)) and isinstance(rewrite, (str, bytes)):
        return static_regex_replace(input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name)
    return regex_replace_op(input, pattern, rewrite, replace_global=replace_global, name=name)


@public("strings.regex_full_match")
@dispatched
def regex_full_match(input, pattern, name=None):
    """Whether a regular expression matches the whole of each string; see regex_replace."""
    if isinstance(pattern, (str, bytes)):
        return static_regex_full_match(input, pattern=pattern, name=name)
    return regex_full_match_op(input, pattern, name=name)
