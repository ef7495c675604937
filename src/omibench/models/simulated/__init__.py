"""Seeded simulations of models in every role."""

from __future__ import annotations

from omibench.models.provider import Provider
from omibench.models.registry import Folders, provider
from omibench.params.models.providers import SimulatedModel


@provider("simulated", block=SimulatedModel)
def open_simulated(name: str, model: SimulatedModel, folders: Folders) -> Provider:
    """Open the simulated model and read its `oracle` file."""
    from omibench.models.simulated.provider import SimulatedProvider

    return SimulatedProvider(name, model)
