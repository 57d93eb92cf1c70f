"""Registrations of the scans of a map, kept in a file, so that no pair is registered twice."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from os import PathLike
from types import TracebackType

from ..pairs.store import Key, PairStore, StoreFullError
from .relations import Effort, Relation

__all__ = ["RelationFile"]

_LOGGER = logging.getLogger("clipperplus.mapping")


class RelationFile:
    """Relations of scans, in a file or only in memory."""

    def __init__(
        self,
        path: str | PathLike[str] | None,
        contents: Sequence[str],
        voxel_size: float,
        free_space: bool,
        known: dict[tuple[str, str, str], Relation],
    ) -> None:
        """Open or make a file; ``contents`` tell scans apart, and ``known`` are relations that need not be read."""
        self._contents, self._known = tuple(contents), known
        self._about = f"voxel_size={voxel_size!r} free_space={free_space}"
        self._store = None if path is None else PairStore(path)

    def __enter__(self) -> RelationFile:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        if self._store is not None:
            self._store.close()

    def get(self, source: int, target: int, effort: Effort) -> Relation | None:
        """Return what is known of two scans."""
        key = self._key(source, target, effort)
        if key in self._known:
            return Relation.from_dict(source, target, self._known[key].to_dict())
        about = None if self._store is None else self._store.get(key)
        if about is None or not Relation.is_whole(about):  # changed by others: it is registered again
            return None
        return Relation.from_dict(source, target, about)

    def put(self, relations: Iterable[Relation]) -> None:
        """Keep relations; what cannot be written is kept as long as this is."""
        new = [(self._key(relation.source, relation.target, relation.effort), relation) for relation in relations]
        self._known.update(new)
        try:
            if self._store is not None:
                self._store.put((key, relation.to_dict()) for key, relation in new)
        except StoreFullError as error:  # the map can be made all the same
            _LOGGER.warning("%s", error)

    def _key(self, source: int, target: int, effort: Effort) -> Key:
        return Key(self._contents[source], self._contents[target], f"relate {effort} {self._about}")
