"""Point cloud files: the room ``clouds`` reads and writes them."""

from ..clouds import Cloud, read_cloud, write_cloud

__all__ = ["Cloud", "read_cloud", "write_cloud"]
