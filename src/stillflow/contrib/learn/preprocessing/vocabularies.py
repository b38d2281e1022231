"""tf.contrib.learn.preprocessing.CategoricalVocabulary: categories and their numbers."""

from __future__ import annotations

import collections

from stillflow.names import public


@public("contrib.learn.preprocessing.CategoricalVocabulary")
class CategoricalVocabulary:
    """Numbers of categories, from 1 on as they come; 0 is what is not known.

    Args:
      unknown_token: what 0 stands for.
      support_reverse: whether it tells categories of numbers.
    """

    # The names of its attributes are TensorFlow's, which files of vocabularies have.

    def __init__(self, unknown_token="<UNK>", support_reverse=True):
        self._unknown_token = unknown_token
        self._mapping = {unknown_token: 0}
        self._support_reverse = support_reverse
        if support_reverse:
            self._reverse_mapping = [unknown_token]
        self._freq: dict = collections.defaultdict(int)
        self._freeze = False

    def __len__(self):
        return len(self._mapping)

    def freeze(self, freeze=True):
        """Makes it take no new categories, or take some again."""
        self._freeze = freeze

    def get(self, category):
        """The number of a category, which is a new one if it is not frozen."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            if self._support_reverse:
                self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category, count=1):
        """Counts a category."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency, max_frequency=-1):
        """Leaves out categories, and numbers the others from the most frequent on.

        Args:
          min_frequency: they must have come more often than that.
          max_frequency: and less often than that, if it is more than 0.
        """
        by_name = sorted(self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0]))
        by_count = sorted(by_name, key=lambda item: item[1], reverse=True)
        kept = [category for category, count in by_count if count > min_frequency and not 0 < max_frequency <= count]
        self._mapping = {self._unknown_token: 0, **{category: i for i, category in enumerate(kept, start=1)}}
        if self._support_reverse:
            self._reverse_mapping = [self._unknown_token, *kept]
        self._freq = dict(by_count[: len(kept)])

    def reverse(self, class_id):
        """The category of a number. Raises ValueError if it does not tell."""
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse to support reverse() function.")
        return self._reverse_mapping[class_id]
