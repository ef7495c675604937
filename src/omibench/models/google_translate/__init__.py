"""Google Cloud Translation as the translator of problems."""

from __future__ import annotations

from omibench.models.provider import Provider
from omibench.models.registry import Folders, provider
from omibench.params.models.providers import GoogleTranslateModel


@provider("google-translate", block=GoogleTranslateModel)
def open_google_translate(name: str, model: GoogleTranslateModel, folders: Folders) -> Provider:
    """Open the translator; its key is read when something is sent."""
    from omibench.models.google_translate.provider import GoogleTranslateProvider

    return GoogleTranslateProvider(name, model)
