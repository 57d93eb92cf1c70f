"""The packages of extras, which need not be installed."""

from __future__ import annotations

import importlib
from typing import Any

from ..errors import MissingPackageError

__all__ = ["require"]


def require(module: str, what: str, extra: str = "viz") -> Any:
    """Import a module of an extra; where it is missing, say how to install it. ``what`` needs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise  # the package is there, and something that it needs is not
        raise MissingPackageError(f"{what} needs the package {package}: pip install 'clipperplus[{extra}]'") from None
