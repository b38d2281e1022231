"""tf.*: the summaries of TensorFlow before 1.0, of which the tags are given."""

from stillflow.composites.summaries import audio_with_tag as audio_summary
from stillflow.composites.summaries import histogram_with_tag as histogram_summary
from stillflow.composites.summaries import image_with_tag as image_summary
from stillflow.composites.summaries import merge_all_tagged as merge_all_summaries
from stillflow.composites.summaries import merge_tagged as merge_summary
from stillflow.composites.summaries import scalar_with_tags as scalar_summary

__all__ = [
    "audio_summary",
    "histogram_summary",
    "image_summary",
    "merge_all_summaries",
    "merge_summary",
    "scalar_summary",
]
