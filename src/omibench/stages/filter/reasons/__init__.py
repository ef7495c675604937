"""The reasons of the filter: computed ones in `computed`, and the registries of all."""
