"""Install the C++ package in every way there is, and build and run a consumer project against each.

``python tests/consumer/check.py`` needs cmake, ninja and a C++ compiler; pkg-config and Eigen are used where they are
installed, and required where ``CI`` is set. ``--clone`` does what a new user does instead, in a fresh clone, and tells
how long it takes from there to a certified clique.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONSUMER = Path("tests", "consumer")
PAGES = ("README.md", "docs/cpp.md")
sys.path.insert(0, str(ROOT / "tests"))


def main() -> None:
    """Check all ways, or time one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clone", action="store_true", help="time the way of a new user")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    os.environ["CMAKE_BUILD_PARALLEL_LEVEL"] = str(arguments.jobs)
    os.environ["CMAKE_GENERATOR"] = "Ninja"
    begun = time.perf_counter()
    if arguments.clone:
        with tempfile.TemporaryDirectory() as folder:
            time_from_clone(Path(folder))
    else:
        check_all(ROOT / "build" / "consumer")
    spent = os.times()
    processors = spent.children_user + spent.children_system
    print(f"all of it: {time.perf_counter() - begun:.0f} s, {processors:.0f} s of processors", flush=True)


def check_all(work: Path) -> None:
    """A static library that is installed; a shared one that is part of a project, and installed with it."""
    pages = write_pages(work)
    static, shared = work / "static", work / "shared"
    for prefix in (static, shared):
        shutil.rmtree(prefix, ignore_errors=True)
    release, debug = "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_BUILD_TYPE=Debug"  # the second compiles in half the time

    build_core("static", ROOT, work / "core", static, release)
    found = f"-DCMAKE_PREFIX_PATH={static}", f"-DCLIPPERPLUS_WANTED={version()}", f"-DPAGES={pages}"
    consume("static, find_package", work / "found", *found)
    consume_by_pkg_config("static, pkg-config", work / "found", static)
    check_program(static / "bin" / "clipperplus-clique", work)
    refuse_other_abis(work / "found", static)

    fetched = f"-DCLIPPERPLUS_SOURCE={ROOT}", "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_CXX_FLAGS=-ffast-math"
    parts = "-DCLIPPERPLUS_INSTALL=ON", "-DCLIPPERPLUS_CLI=ON", "-DCMAKE_UNITY_BUILD=ON"
    inherited = "-DSKBUILD=2", "-Dsimd_flags=-fno-such-flag"  # what a Python package may define that this is part of
    consume("shared, FetchContent", work / "fetched", debug, *fetched, *parts, *inherited)
    step("shared, install", "cmake", "--install", work / "fetched", "--prefix", shared)
    consume("shared, find_package", work / "found-shared", debug, f"-DCMAKE_PREFIX_PATH={shared}")
    consume_by_pkg_config("shared, pkg-config", work / "found-shared", shared)
    check_program(shared / "bin" / "clipperplus-clique", work)
    check_symbols(next(shared.glob("lib*/libclipperplus.so")))


def time_from_clone(folder: Path) -> None:
    """From ``git clone`` to a certified clique in a project of one's own."""
    clone = folder / "clipperplus"
    step("git clone", "git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), clone)
    build_core("library", clone, folder / "core", folder / "installed")
    consume("consumer", folder / "found", f"-DCMAKE_PREFIX_PATH={folder / 'installed'}", source=clone)


def version() -> str:
    """Of the package, as find_package is to find it."""
    found = re.search(r'^version = "([\d.]+)"', (ROOT / "pyproject.toml").read_text("utf-8"), flags=re.MULTILINE)
    assert found is not None
    return found[1]


def build_core(what: str, source: Path, build: Path, prefix: Path, *options: str) -> None:
    step(f"{what}, configure", "cmake", "-S", source, "-B", build, *options)
    step(f"{what}, build", "cmake", "--build", build)
    step(f"{what}, install", "cmake", "--install", build, "--prefix", prefix)


def consume(what: str, build: Path, *options: str, source: Path = ROOT) -> None:
    """Configure, build and run the consumer project."""
    eigen = ["-DCMAKE_REQUIRE_FIND_PACKAGE_Eigen3=ON"] if "CI" in os.environ else []
    step(f"{what}, configure", "cmake", "--fresh", "-S", source / CONSUMER, "-B", build, *options, *eigen)
    step(f"{what}, build", "cmake", "--build", build)
    step(f"{what}, run", "ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error")


def consume_by_pkg_config(what: str, build: Path, prefix: Path) -> None:
    """Compile and run the same with what pkg-config says, and no CMake."""
    if not shutil.which("pkg-config") and "CI" not in os.environ:
        print(f"{what}: skipped, there is no pkg-config")
        return
    library = next(prefix.glob("lib*/pkgconfig"))
    asked = ["pkg-config", "--cflags", "--libs", "clipperplus"]
    environment = {**os.environ, "PKG_CONFIG_PATH": str(library)}
    flags = subprocess.run(asked, env=environment, check=True, capture_output=True, text=True).stdout
    compiler = os.environ.get("CXX", "c++")
    program = build / "by-pkg-config"
    example = ROOT / "examples" / "cpp" / "largest_consistent_set.cpp"
    step(what, compiler, "-std=c++20", example, "-o", program, *shlex.split(flags), f"-Wl,-rpath,{library.parent}")
    step(f"{what}, run", program)


def refuse_other_abis(build: Path, prefix: Path) -> None:
    """What is compiled with other vectors or strings than the library does not link: it would crash."""
    compiler = os.environ.get("CXX", "c++")
    macros = subprocess.run(
        [compiler, "-std=c++20", "-x", "c++", "-include", "cstddef", "-dM", "-E", os.devnull],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    if "_GLIBCXX_USE_CXX11_ABI 1" not in macros:
        print("other ABIs: skipped, this standard library has one")
        return
    library = next(prefix.glob("lib*/libclipperplus.a"))
    others = [(compiler, "-D_GLIBCXX_DEBUG"), (compiler, "-D_GLIBCXX_USE_CXX11_ABI=0")]
    clang = shutil.which("clang++") or shutil.which("clang++-19") or "clang++"
    try:
        begin = [clang, "-stdlib=libc++", "-x", "c++", "-include", "cstddef", "-fsyntax-only", os.devnull]
        subprocess.run(begin, check=True, capture_output=True)
        others.append((clang, "-stdlib=libc++"))
    except (OSError, subprocess.CalledProcessError):
        print("static, -stdlib=libc++: skipped, there is no libc++")
    for other, flag in others:
        command = [other, "-std=c++20", flag, f"-I{prefix / 'include'}", str(ROOT / CONSUMER / "consumer.cpp")]
        begun = time.perf_counter()
        done = subprocess.run(
            [*command, str(library), "-pthread", "-o", str(build / "other-abi")],
            capture_output=True,
            text=True,
            check=False,
        )
        print(f"static, {flag}: {time.perf_counter() - begun:.1f} s", flush=True)
        missing = [line for line in done.stderr.splitlines() if "undefined" in line]
        assert done.returncode != 0, command
        for name in ("find_clique(", "consistency_graph(", "solve(", "read_graph(", "Graph::from_pairs("):
            assert any(f"::{name}" in line for line in missing), (name, done.stderr)


def check_program(program: Path, work: Path) -> None:
    """The command line without Python: an answer, and a line for what is wrong."""
    graph = work / "triangle.clq"
    graph.write_text("p edge 4 4\ne 1 2\ne 2 3\ne 1 3\ne 3 4\n")
    answer = subprocess.run([program, graph], capture_output=True, text=True, check=True).stdout
    assert "maximum clique: 3 vertices, proven by the " in answer, answer
    assert answer.endswith("vertices (from 0): 0 1 2\n"), answer
    wrongs = ([], ["nowhere.clq"], [graph, "--threads", "0"], [graph, "--method", "magic"], ["/dev/zero"])
    for wrong in (*wrongs, [graph, "--size-limit", "0.00001"], ["no\n\x1b[31m\u202ewhere.clq"]):
        done = subprocess.run([program, *wrong], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
        assert done.stderr.rstrip("\n").isprintable(), done  # names of files are shown, and not obeyed
    if Path("/dev/full").exists():
        with open("/dev/full", "w") as full:
            done = subprocess.run([program, graph], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done


def check_symbols(library: Path) -> None:
    """A shared library shows what is public, and no kernel."""
    if not shutil.which("nm"):
        return
    shown = subprocess.run(["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    assert "clipperplus::find_clique(" in shown or "::find_clique(" in shown
    assert not any(hidden in shown for hidden in ("Kernels::", "join_by_distance", "fit_motion", "parse_dimacs")), shown


def write_pages(work: Path) -> str:
    """Make a program of the C++ blocks of each page; return their names as CMake lists them."""
    from pages import blocks

    programs: list[str] = []
    for page in PAGES:
        includes, statements = list[str](), list[str]()
        for block in blocks(ROOT / page, "cpp"):
            statements.append(f'#line {block.line + 1} "{page}"')
            for line in block.text.splitlines():
                (includes if line.startswith("#include") else statements).append(line)
        program = work / f"page_{Path(page).stem.lower()}.cpp"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("\n".join([*includes, "int main() {", *statements, "}", ""]), encoding="utf-8")
        programs.append(str(program))
    return ";".join(programs)


def step(what: str, *command: str | Path) -> None:
    """Run a command, tell how long it took, and show what it said only if it failed."""
    begun = time.perf_counter()
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    print(f"{what}: {time.perf_counter() - begun:.1f} s", flush=True)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
