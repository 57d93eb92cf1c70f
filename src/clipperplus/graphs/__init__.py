"""Graphs: simple, undirected, immutable, validated once; and their files."""

from .files import read_graph, write_graph
from .graph import Graph

__all__ = ["Graph", "read_graph", "write_graph"]
