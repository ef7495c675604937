"""Labels of problems: topics, subfields and skills, from models and from people."""

from omibench.stages.rationale.labels.run import label_topics, parse_label
from omibench.stages.rationale.labels.taxonomy import Labeller

__all__ = ["Labeller", "label_topics", "parse_label"]
