"""One reader under Atheris: ``python tests/fuzz/harness.py READER -runs=1000 FOLDER…``, with options of libFuzzer.

Whatever a reader raises but errors of the package and of the system ends it, as does more memory than is allowed.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import warnings
from pathlib import Path

import atheris

# Atheris keeps the arrays that are compared: those that poses are checked with fill the memory.
NOT_TRACED = ["clipperplus.geometry.poses"]
with atheris.instrument_imports(include=["clipperplus"], exclude=NOT_TRACED, enable_loader_override=False):
    from readers import READERS, try_to_read

MEMORY = 1 << 30
"""Bytes that a reader may reserve, of whatever input, beside what the process has when it begins."""


def main() -> None:
    """Fuzz the reader that is named first."""
    name, *options = sys.argv[1:]
    reader = READERS[name]
    warnings.simplefilter("error")
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:

        def read(data: bytes) -> None:
            try_to_read(reader, Path(folder), data)

        def mutate(data: bytes, most: int, seed: int) -> bytes:
            if reader.packing is not None and seed % 4:
                try:
                    plain, pack = reader.packing(data, seed // 4)
                    return pack(atheris.Mutate(plain, 2 * most))[:most]
                except Exception:  # what cannot be unpacked is changed as it is
                    return bytes(atheris.Mutate(data, most))
            return bytes(atheris.Mutate(data, most))

        mutator = {} if reader.packing is None else {"custom_mutator": mutate}
        atheris.Setup([sys.argv[0], *options], read, **mutator)
        limit_memory(MEMORY)
        atheris.Fuzz()


def limit_memory(more: int) -> None:
    """Let the process reserve so many bytes more than it has."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main()
