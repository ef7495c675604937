"""Labels of problems: topics, subfields and skills, from models and from people."""

from omibench.stages.rationale.labels.labeller import Labeller
from omibench.stages.rationale.labels.run import label_topics, parse_label

__all__ = ["Labeller", "label_topics", "parse_label"]
