"""Parts that are known by name: built in, or brought by plug-ins (docs/design.md, section 11)."""

from omibench.plugins.registry import Registry

__all__ = ["Registry"]
