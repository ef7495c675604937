"""Extras: optional packages, and the command that installs a missing one."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Final

from omibench.errors import MissingExtraError

EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "api": ("openai", "anthropic"),
    "chemistry": ("rdkit",),
    "coding": ("matplotlib",),
    "docs": ("mkdocs", "material"),
    "experts": ("torch", "transformers", "torchvision"),
    "flows": ("prefect", "fastapi", "ruamel.yaml", "psutil"),
    "hub": ("huggingface_hub",),
    "inspect": ("inspect_ai",),
    "kubernetes": ("snakemake_executor_plugin_kubernetes", "snakemake_storage_plugin_fs"),
    "labels": ("sklearn",),
    "ocr": ("rapidocr", "onnxruntime", "cv2"),
    "packs": ("pyarrow",),
    "pdf": ("pymupdf",),
    "release": ("datasets", "mlcroissant", "pyarrow"),
    "report": ("altair", "vl_convert"),
    "review": (
        "starlette",
        "uvicorn",
        "jinja2",
        "itsdangerous",
        "python_multipart",
        "argon2",
    ),
    "s3": ("dvc_s3",),
    "sample": ("typst",),
    "sentences": ("sentence_transformers",),
    "slurm": ("snakemake_executor_plugin_slurm",),
    "stats": ("scipy", "statsmodels", "pandas"),
    "transformers": ("torch", "transformers"),
    "tune": ("torch", "transformers", "accelerate", "peft"),
    "vllm": ("vllm",),
    "web": ("starlette", "uvicorn", "jinja2", "itsdangerous", "python_multipart"),
    "workflow": ("snakemake", "dvc", "psutil"),
    "xlsx": ("openpyxl",),
}
"""Required modules of each extra of pyproject.toml."""


def require_extra(extra: str, purpose: str, *modules: str, note: str = "") -> None:
    """Raise an error if an extra is missing. Imports nothing, so it can be called early.

    Args:
        extra: Name of the extra, a key of `EXTRAS`.
        purpose: Feature that needs it, as the subject of the message, e.g. `"ocr: reading papers"`.
        *modules: Required modules; by default all of the extra.
        note: Additional advice after the command.

    Raises:
        MissingExtraError: If a module is not installed; gives its name and the command that
            installs it.
    """
    if missing := missing_modules(modules or EXTRAS[extra]):
        are = "is" if len(missing) == 1 else "are"
        names = " and ".join([", ".join(missing[:-1]), missing[-1]] if missing[1:] else missing)
        raise MissingExtraError(
            f"{purpose} needs {names}, which {are} not installed: {install_command(extra)}{note}"
        )


def has_extra(extra: str) -> bool:
    """Return whether all modules of an extra are installed; none is imported."""
    return not missing_modules(EXTRAS[extra])


def find_extra(module: str) -> str | None:
    """Return the extra with the fewest packages that installs a module; None if none does."""
    package = module.partition(".")[0]
    extras = [name for name, modules in EXTRAS.items() if package in modules]
    return min(extras, key=lambda name: len(EXTRAS[name]), default=None)


def install_command(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'omibench[{extra}]'"


def missing_modules(modules: tuple[str, ...]) -> list[str]:
    """Return the modules that cannot be found."""
    return [module for module in modules if not _is_found(module)]


def _is_found(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the parent package is missing
        return False
    except ValueError:  # already imported, and created manually
        return True
