"""What the package raises. Everything is a ``ValueError`` too, so that callers need not know these names."""


class ClipperPlusError(ValueError):
    """Base of all errors that the package raises on wrong input."""


class GraphError(ClipperPlusError):
    """A graph, or something offered as one, is not a simple undirected graph."""


class FileFormatError(ClipperPlusError):
    """A file does not hold what its name or its header promises. The message starts with the file, then the line."""


class LandmarkError(ClipperPlusError):
    """Points or other landmarks, or associations of them, are not what they should be."""


class MemoryLimitError(ClipperPlusError):
    """A search could need more memory than it is allowed. ``needed`` says how much, in bytes."""

    def __init__(self, message: str, needed: int) -> None:
        super().__init__(message)
        self.needed = needed


class MissingPackageError(ClipperPlusError):
    """What was asked for needs a package that is not installed. The message says how to install it."""


class OptionError(ClipperPlusError):
    """An option is unknown or out of its range. The message names it, what was expected and what came."""
