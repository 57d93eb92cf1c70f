"""What the package raises. Everything is a ``ValueError`` too, so that callers need not know these names."""

from __future__ import annotations

from typing import Any


class ClipperPlusError(ValueError):
    """Base of all errors that the package raises on wrong input."""


class GraphError(ClipperPlusError):
    """A graph, or something offered as one, is not a simple undirected graph."""


class ClusterError(ClipperPlusError):
    """A cluster cannot be reached, or is gone. What was done before is kept where a store was given."""


class FileFormatError(ClipperPlusError):
    """A file does not hold what its name or its header promises. The message starts with the file, then the line."""


class LandmarkError(ClipperPlusError):
    """Points or other landmarks, or associations of them, are not what they should be."""


class MemoryLimitError(ClipperPlusError):
    """A search, or what a file holds, could need more memory than it is allowed. ``needed`` says how much, in bytes."""

    def __init__(self, message: str, needed: int) -> None:
        super().__init__(message)
        self.needed = needed

    def __reduce__(self) -> tuple[type[MemoryLimitError], tuple[str, int], dict[str, Any]]:
        """Return what makes it again: by default that is the message alone, which is not enough."""
        return type(self), (str(self), self.needed), self.__dict__


class MissingPackageError(ClipperPlusError):
    """What was asked for needs a package that is not installed. The message says how to install it."""


class OptionError(ClipperPlusError):
    """An option is unknown or out of its range. The message names it, what was expected and what came."""
