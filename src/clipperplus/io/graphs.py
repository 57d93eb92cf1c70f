"""Graph files: the room ``graphs`` reads and writes them."""

from ..graphs import read_graph, write_graph

__all__ = ["read_graph", "write_graph"]
