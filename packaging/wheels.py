"""Build, check and test what is published: ``nox -s wheels``, or single steps of it, ``nox -s wheels -- check demo``.

Wheels for Linux are compiled by Zig, whose C++ compiler knows every processor and every glibc and links its own
standard library into the module, so that a wheel needs nothing but glibc 2.28. Those of one processor are compiled on
another; pythons.py says where interpreters come from, and those of aarch64 run under qemu. The
source distribution is built and compiled with the compiler at hand, as pip does. All of it is put into dist/.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import ziglang
from pythons import interpreter
from rattler_build import Stage0Recipe, VariantConfig

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "wheels"
DIST = ROOT / "dist"
RECIPE = ROOT / "packaging" / "conda" / "recipe.yaml"
PYTHONS = BUILD / "pythons"
MACHINES = ("x86_64", "aarch64")
BUILT_FOR = ("3.10", "3.11", "3.12")
"""Versions with a wheel of their own; that of the last is for all later ones."""
TESTED_ON = ("3.10", "3.11", "3.12", "3.13", "3.14")
GLIBC = (2, 28)
MAX_MEGABYTES = 3.0
MAX_DEMO_SECONDS = 30.0
TESTED = (
    "tests/test_build.py",
    "tests/graphs",
    "tests/clique/test_algorithms.py",
    "tests/clique/test_find_clique.py",
    "tests/geometry",
    "tests/registration/test_from_matches.py",
)
"""Tests for every interpreter; all of them run with that of this machine."""
EMULATED = (
    "tests/test_build.py",
    "tests/graphs/test_graph.py",
    "tests/clique/test_algorithms.py",
    "tests/geometry/test_transforms.py",
    "tests/registration/test_matched_points.py",
)
"""Tests for interpreters under qemu, which is some twenty times slower."""
PAGES = ("tests/test_release.py", "tests/test_readme.py", "tests/test_docs.py")
"""Tests of what the source distribution must hold besides."""
COMPILER = re.compile(r"(.+-)?(cc|c\+\+|cpp|gcc|g\+\+|clang(\+\+|-cl|-cpp)?|c[89]9|ld|zig|make|cmake|ninja)(-[\d.]+)?")


def main(steps: list[str]) -> None:
    """Do the named steps, or all of them."""
    known = {"build": build, "check": check, "test": test, "demo": demo}
    unknown = sorted(set(steps) - set(known))
    if unknown:
        raise SystemExit(f"no such step: {', '.join(unknown)}; expected some of {', '.join(known)}")
    for name, step in known.items():
        if not steps or name in steps:
            print(f"--- {name}", flush=True)
            step()


def build() -> None:
    """Make the source distribution and six wheels."""
    shutil.rmtree(DIST, ignore_errors=True)
    _run("uv", "build", "--quiet", "--sdist", "--out-dir", DIST, ROOT)
    for machine in sorted(MACHINES, key=lambda machine: machine != platform.machine()):  # the stub comes from here
        for version in BUILT_FOR:
            wheel = shutil.copy(_build_wheel(version, machine, BUILD / f"{version}-{machine}"), DIST)
            # There is nothing that auditwheel would have to repair; check() asks it whether this is true.
            _run("wheel", "tags", "--remove", "--platform-tag", f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}", wheel)


def _build_wheel(version: str, machine: str, folder: Path) -> Path:
    """Compile a wheel for a machine with the headers of this machine's interpreter: they are the same."""
    stub = BUILD / "_core.pyi"
    native = machine == platform.machine()
    definitions = {
        "CMAKE_TOOLCHAIN_FILE": ROOT / "tests" / "cpp" / "zig.cmake",
        "ZIG": Path(ziglang.__file__).with_name("zig"),
        "ZIG_TARGET": f"{machine}-linux-gnu.{GLIBC[0]}.{GLIBC[1]}",
        "CMAKE_CXX_FLAGS": "-include cstdio",  # nanobind has it from GCC's library, where others include it
        **({} if native else {"CLIPPERPLUS_STUB": stub}),
    }
    settings = [f"-Ccmake.define.{name}={value}" for name, value in definitions.items()]
    environment = {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache"} if shutil.which("ccache") else {}
    if not native:  # what an interpreter of that machine would answer
        environment["_PYTHON_HOST_PLATFORM"] = f"linux-{machine}"
        environment["SETUPTOOLS_EXT_SUFFIX"] = f".cpython-{version.replace('.', '')}-{machine}-linux-gnu.so"
    shutil.rmtree(folder, ignore_errors=True)
    python = interpreter(version, platform.machine(), PYTHONS)
    if python is None:
        raise SystemExit(f"no Python {version} with headers was found: uv python install {version}")
    # Zig strips the module when it links it.
    options = ("--quiet", "--wheel", "--python", python, "--out-dir", folder, "-Cinstall.strip=false", *settings)
    _run("uv", "build", *options, f"-Cbuild-dir={folder / 'cmake'}", ROOT, environment=environment)
    (wheel,) = folder.glob("*.whl")
    if native:
        stub.write_bytes(zipfile.ZipFile(wheel).read("clipperplus/_core.pyi"))
    return wheel


def check() -> None:
    """See that the wheels run on glibc 2.28 without other libraries, keep to the stable ABI, and are small.

    So with the recipe for conda, as far as that can be seen without its channels.
    """
    _run("twine", "check", "--strict", *sorted(DIST.glob("clipperplus-*")))
    for wheel in _wheels():
        said = _said("auditwheel", "show", wheel)
        tags = re.findall(r'platform tag: "manylinux_(\d+)_(\d+)_', re.sub(r"\s+", " ", said))
        megabytes = wheel.stat().st_size / 1e6
        print(f"{wheel.name}: {megabytes:.2f} MB, needs glibc {'.'.join(tags[0]) if tags else '?'}", flush=True)
        if not tags or tuple(map(int, tags[0])) > GLIBC:
            raise SystemExit(said)
        if megabytes > MAX_MEGABYTES:
            raise SystemExit(f"larger than {MAX_MEGABYTES} MB")
    _run("abi3audit", "--strict", "--report", *(wheel for wheel in _wheels() if "abi3" in wheel.name))
    _check_recipe()


def _check_recipe() -> None:
    """Render the recipe for conda, whose channels need not be in reach for that, and see that its source is there."""
    recipe = Stage0Recipe.from_file(RECIPE)
    (variant,) = recipe.render(VariantConfig({"c_stdlib": ["sysroot"]}))
    (source,) = variant.recipe.to_dict()["source"]
    if not (RECIPE.parent / source["path"]).exists():
        raise SystemExit(f"{RECIPE}: there is no {source['path']}")


def test() -> None:
    """Install every wheel in a fresh environment of each Python that there is for it, and run the tests there."""
    tried = set()
    for machine in MACHINES:
        for version in TESTED_ON:
            python = interpreter(version, machine, PYTHONS)
            if python is None:
                print(f"not tested, for want of an interpreter: {version} on {machine}", flush=True)
                continue
            wheel = _wheel_for(version, machine)
            _run_tests(_environment(python, wheel), *(TESTED if machine == platform.machine() else EMULATED))
            tried.add(wheel)
    _run_tests(_environment(sys.executable, _wheel_for(_python_here(), platform.machine())), "tests")
    (sdist,) = DIST.glob("*.tar.gz")
    _run_tests(_environment(sys.executable, sdist, compiler=True), *TESTED, *PAGES, root=_unpacked(sdist))
    for wheel in sorted(set(_wheels()) - tried):
        print(f"built and checked, never run: {wheel.name}", flush=True)


def demo() -> None:
    """Measure ``pip install`` of the wheel and the demo: on a machine without a compiler, with an empty cache."""
    folder = BUILD / "demo"
    shutil.rmtree(folder, ignore_errors=True)
    _run(sys.executable, "-m", "venv", folder)
    started = time.monotonic()
    pip = ("pip", "install", "--quiet", "--no-cache-dir", "--disable-pip-version-check")
    _run(
        folder / "bin" / "python",
        "-m",
        *pip,
        _wheel_for(_python_here(), platform.machine()),
        environment=_without_compiler(),
    )
    installed = time.monotonic()
    _run(folder / "bin" / "clipperplus", "demo", environment=_without_compiler())
    seconds = time.monotonic() - started
    print(f"installed in {installed - started:.1f} s, with the demo {seconds:.1f} s", flush=True)
    if seconds > MAX_DEMO_SECONDS:
        raise SystemExit(f"longer than {MAX_DEMO_SECONDS} s")


def _environment(python: Path | str, package: Path, *, compiler: bool = False) -> Path:
    """Make a fresh environment with the package and what its tests need; without a compiler, all of it from wheels."""
    folder = BUILD / "environment"
    shutil.rmtree(folder, ignore_errors=True)
    _run("uv", "venv", "--quiet", "--python", python, folder)
    # What was built before has the same name and version: uv must not take it from its cache.
    options = ("--quiet", "--python", folder / "bin" / "python", "--refresh-package", "clipperplus")
    from_wheels = () if compiler else ("--only-binary", ":all:")
    without = {} if compiler else _without_compiler()
    _run("uv", "pip", "install", *options, *from_wheels, f"clipperplus[test] @ {package.as_uri()}", environment=without)
    return folder


def _unpacked(sdist: Path) -> Path:
    """Unpack the source distribution, which has tests of its own."""
    folder = BUILD / "sdist"
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    return root


def _run_tests(environment: Path, *tests: str, root: Path = ROOT) -> None:
    """Run tests from a folder outside of the tree, so that the installed package is what they import."""
    python = environment / "bin" / "python"
    outside = BUILD / "outside"
    outside.mkdir(exist_ok=True)
    code = "import sys, clipperplus as cp; print(*sys.version.split()[:1], cp.__file__, cp.core_info(), flush=True)"
    _run(python, "-c", code, cwd=outside, environment=_without_compiler())
    options = ("--quiet", "-p", "no:cacheprovider", "-c", root / "pyproject.toml", "--rootdir", root)
    parallel = ("-n", "2", "--dist", "loadfile")
    _run(
        python,
        "-m",
        "pytest",
        *options,
        *parallel,
        *(root / path for path in tests),
        cwd=outside,
        environment=_without_compiler(),
    )


@cache
def _without_compiler() -> dict[str, str]:
    """Say how a machine without compilers looks: all programs of this one but those."""
    folder = BUILD / "programs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for place in reversed(os.environ["PATH"].split(os.pathsep)):
        for program in Path(place).glob("*"):
            if not COMPILER.fullmatch(program.name):
                (folder / program.name).unlink(missing_ok=True)
                (folder / program.name).symlink_to(program)
    return {"PATH": str(folder), "CC": "/bin/false", "CXX": "/bin/false"}


def _python_here() -> str:
    return ".".join(platform.python_version_tuple()[:2])


def _wheels() -> list[Path]:
    return sorted(DIST.glob("*.whl"))


def _wheel_for(version: str, machine: str) -> Path:
    built_for = min(version, BUILT_FOR[-1], key=lambda name: int(name.split(".")[1]))
    tag = f"-cp{built_for.replace('.', '')}-"
    (wheel,) = (wheel for wheel in _wheels() if tag in wheel.name and wheel.name.endswith(f"{machine}.whl"))
    return wheel


def _run(*command: str | Path, cwd: Path = ROOT, environment: Mapping[str, str] | None = None) -> None:
    subprocess.run([str(part) for part in command], check=True, cwd=cwd, env={**os.environ, **(environment or {})})


def _said(*command: str | Path) -> str:
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main(sys.argv[1:])
