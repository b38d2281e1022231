"""What a conversion does: optional features, and whether functions that are called are converted too."""

from __future__ import annotations

import enum

from stillflow.names import public


@public("autograph.experimental.Feature", "contrib.autograph.Feature", "python.autograph.core.converter.Feature")
class Feature(enum.Enum):
    """Optional parts of conversion: ASSERT_STATEMENTS and EQUALITY_OPERATORS apply those to tensors, NAME_SCOPES puts
    functions into scopes of their names, AUTO_CONTROL_DEPS orders what has effects, BUILTIN_FUNCTIONS makes print one
    of the graph. LISTS changes nothing: lists stay Python's."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls):
        """All features."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude):
        """All features without one, or without several."""
        excluded = set(exclude) if isinstance(exclude, (list, tuple, set)) else {exclude}
        return tuple(set(cls.all()) - excluded - {cls.ALL})


@public("python.autograph.core.converter.ConversionOptions", "contrib.autograph.ConversionOptions")
class ConversionOptions:
    """How functions are converted.

    Args:
      recursive: whether functions that a converted function calls are converted.
      user_requested: whether the program asked for this one, wherever it is defined.
      internal_convert_user_code: whether anything is converted.
      optional_features: a Feature, or several.
    """

    def __init__(
        self, recursive=False, user_requested=False, internal_convert_user_code=True, optional_features=Feature.ALL
    ):  # fmt: skip
        self.recursive = recursive
        self.user_requested = user_requested
        self.internal_convert_user_code = internal_convert_user_code
        features = () if optional_features is None else optional_features
        self.optional_features = frozenset((features,) if isinstance(features, Feature) else features)

    def as_tuple(self):
        return self.recursive, self.user_requested, self.internal_convert_user_code, self.optional_features

    def __hash__(self):
        return hash(self.as_tuple())

    def __eq__(self, other):
        return isinstance(other, ConversionOptions) and self.as_tuple() == other.as_tuple()

    def uses(self, feature):
        """Whether a feature is asked for."""
        return Feature.ALL in self.optional_features or feature in self.optional_features

    @property
    def uses_equality(self):
        return self.uses(Feature.EQUALITY_OPERATORS)

    @property
    def uses_asserts(self):
        return self.uses(Feature.ASSERT_STATEMENTS)

    @property
    def uses_builtins(self):
        return self.uses(Feature.BUILTIN_FUNCTIONS)

    def call_options(self):
        """The options for functions that a converted function calls."""
        return ConversionOptions(self.recursive, False, self.recursive, self.optional_features)

    def text(self):
        """The Python expression that makes them."""
        if self == STANDARD_OPTIONS:
            return "ag__.STD"
        features = "".join(f"ag__.{feature}, " for feature in sorted(self.optional_features, key=str))
        return (
            f"ag__.ConversionOptions(recursive={self.recursive}, user_requested={self.user_requested}, "
            f"optional_features=({features}), internal_convert_user_code={self.internal_convert_user_code})"
        )


STANDARD_OPTIONS = ConversionOptions(recursive=True, optional_features=None)
