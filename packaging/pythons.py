"""Interpreters of other versions and processors.

Those of this machine are the ones that uv finds: on the PATH, where ``uv python install`` puts them, or pyenv. Those
of another processor, and a version that is missing, come from Debian, from the mirror that apt is set up with: each is
unpacked into a folder and made to run from there, under qemu if need be, with the C library it was built with. Neither
root rights nor containers are needed, and nothing is installed.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

DEBIAN_NAMES = {"x86_64": "amd64", "aarch64": "arm64"}
DEBIAN_RELEASES = {"3.11": "bookworm", "3.13": "trixie", "3.14": "forky"}
"""Which of its releases has which version."""
KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


def interpreter(version: str, machine: str, folder: Path) -> Path | None:
    """Return an interpreter with headers, or None. What is unpacked for it into the folder is used again."""
    if machine == platform.machine():
        asked = ("uv", "python", "find", "--no-python-downloads", "--no-project", "--system", version)
        places = os.pathsep.join([os.environ["PATH"], *map(str, _places_of_pyenv())])
        found = subprocess.run(asked, capture_output=True, text=True, check=False, env={**os.environ, "PATH": places})
        if found.returncode == 0:
            return Path(found.stdout.strip())
    if version not in DEBIAN_RELEASES or not shutil.which("apt-get"):
        return None
    root = folder / f"python{version}-{machine}"
    python = root / "usr" / "bin" / f"python{version}"
    if not (root / "complete").exists():
        shutil.rmtree(root, ignore_errors=True)
        for package in _download(version, machine, root / "apt"):
            subprocess.run(["dpkg-deb", "--extract", package, root], check=True)
        shutil.rmtree(root / "apt")
        _replace_header(root, version, machine)
        _make_it_run_from_here(python, root, machine)
        (root / "complete").touch()
    return python


def _places_of_pyenv() -> list[Path]:
    """Return where pyenv has interpreters: on the PATH it puts the chosen ones alone."""
    if not shutil.which("pyenv"):
        return []
    root = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=True).stdout.strip()
    return sorted(Path(root, "versions").glob("*/bin"))


def _download(version: str, machine: str, folder: Path) -> list[Path]:
    """Download the interpreter and all that it needs, checked by apt against Debian's keys."""
    for path in ("lists/partial", "cache/archives/partial", "parts"):
        (folder / path).mkdir(parents=True)
    (folder / "status").touch()  # nothing is installed, so that everything is downloaded
    (folder / "sources").write_text(f"deb [signed-by={KEYS}] {_mirror()} {DEBIAN_RELEASES[version]} main\n")
    settings = {
        "APT::Architecture": DEBIAN_NAMES[machine],
        "APT::Architectures": DEBIAN_NAMES[machine],
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
        "Acquire::Retries": "3",
        "Dir::State": folder,
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::SourceList": folder / "sources",
        "Dir::Etc::SourceParts": folder / "parts",
    }
    apt = ["apt-get", "--quiet=2", *(f"--option={name}={value}" for name, value in settings.items())]
    subprocess.run([*apt, "update"], check=True, stdout=subprocess.DEVNULL)
    packages = (f"python{version}-minimal", f"libpython{version}-stdlib", f"libpython{version}-dev", "libstdc++6")
    install = ("install", "--yes", "--download-only", "--no-install-recommends")
    subprocess.run([*apt, *install, *packages], check=True, stdout=subprocess.DEVNULL)
    return sorted((folder / "cache" / "archives").glob("*.deb"))


def _mirror() -> str:
    """Return where apt has Debian itself from, without its updates."""
    asked = (
        "apt-get",
        "indextargets",
        "--format",
        "$(REPO_URI)",
        "Created-By: Packages",
        "Origin: Debian",
        "Label: Debian",
    )
    found = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.split()
    if not found:
        raise SystemExit("apt knows no mirror of Debian: run apt-get update")
    return found[0]


def _replace_header(root: Path, version: str, machine: str) -> None:
    """Put the real pyconfig.h where Debian has one that asks for it below /usr/include."""
    include = root / "usr" / "include"
    shutil.copy(include / f"{machine}-linux-gnu" / f"python{version}" / "pyconfig.h", include / f"python{version}")


def _make_it_run_from_here(python: Path, root: Path, machine: str) -> None:
    """Put a script in the interpreter's place that runs it with the libraries beside it.

    The interpreter is told the script's name, so that it finds its environment, and can start itself again.
    """
    loader = next(path for path in root.rglob("ld-linux-*.so.*") if path.is_file() and not path.is_symlink())
    libraries = [root / part / f"{machine}-linux-gnu" for part in ("lib", "usr/lib")]
    paths = ":".join(str(path) for path in libraries if path.is_dir())
    real = python.rename(python.with_name(f"{python.name}.{machine}"))
    python.write_text(f'#!/bin/sh\nexec {_emulator(machine)}{loader} --argv0 "$0" --library-path {paths} {real} "$@"\n')
    python.chmod(0o755)


def _emulator(machine: str) -> str:
    if machine == platform.machine():
        return ""
    qemu = shutil.which(f"qemu-{machine}-static") or shutil.which(f"qemu-{machine}")
    if qemu is None:
        raise SystemExit(f"no qemu for {machine}: apt-get install qemu-user-static")
    return f"{qemu} "
