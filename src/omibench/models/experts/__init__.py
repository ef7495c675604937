"""Experts: small models of vision that carry out tools, behind one local server."""

from __future__ import annotations

from omibench.models.provider import Provider
from omibench.models.registry import Folders, provider
from omibench.params.models.tools import ExpertsModel


@provider("experts", block=ExpertsModel)
def open_experts(name: str, model: ExpertsModel, folders: Folders) -> Provider:
    """Open the server of the experts."""
    from omibench.models.experts.provider import ExpertsProvider

    return ExpertsProvider(name, model)
