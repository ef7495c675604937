"""From a model's block in params.yaml to its provider."""

from __future__ import annotations

from omibench.model_params import Model, SimulatedModel
from omibench.models.provider import Provider


def open_provider(name: str, model: Model, data: str | None = None) -> Provider:
    """The provider of the model `name`; `data` is the study's folder of benchmark files.

    Raises ModelError or MissingInputError when what the model needs is not there.
    """
    if isinstance(model, SimulatedModel):
        from omibench.models.simulated import SimulatedProvider

        return SimulatedProvider(name, model)
    from omibench.models.recorded import RecordedProvider

    return RecordedProvider(name, model, data)
