"""All checks, one command: ``nox``. Single ones: ``nox -s lint``, ``nox -s tests -- tests/graphs -k empty``."""

import os
import shutil
from pathlib import Path

import nox

nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "types", "docs", "tests", "cpp", "sanitizers"]
nox.options.reuse_existing_virtualenvs = True

BENCHMARKS = (
    "quality",
    "speed",
    "exact",
    "vertex_weights",
    "simulated",
    "peers",
    "methods",
    "edge_weights",
    "optimisers",
    "consistency",
    "scale",
    "clouds",
    "fine_voxels",
    "registration",
    "confidence",
    "few_points",
    "camera",
    "deceptions",
    "missed",
    "motions",
    "constants",
    "viewpoints",
    "drawing",
    "overhead",
    "registration_peers",
    "pose_graphs",
    "cluster",
    "plan",
)
TARGETS = {
    "x86_64-windows-gnu": "wine",
    "aarch64-linux-musl": "qemu-aarch64-static",  # whose programs are static, and need no system beside them
    "aarch64-macos": None,
    "x86_64-macos": None,
}
"""Systems that the core is compiled for elsewhere, and what runs their programs here."""
DOCTEST = Path("/usr/include/doctest")
WHEELS: list[Path] = []
"""The package, once it is built."""
PYTHON_FILES = ("src", "tests", "benchmarks", "examples", "docs", "packaging", "noxfile.py")


@nox.session
def lint(session: nox.Session) -> None:
    """Style of Python and C++, and the layers of the package."""
    session.install("ruff>=0.12", "clang-format>=20", "import-linter>=2", "numpy", "typer", "rich")
    session.run("ruff", "check", *PYTHON_FILES)
    session.run("ruff", "format", "--check", *PYTHON_FILES)
    folders, endings = map(Path, ("cpp", "tests/cpp", "tests/fuzz", "tests/consumer", "examples/cpp")), ("*.h", "*.cpp")
    sources = sorted(str(path) for folder in folders for ending in endings for path in folder.rglob(ending))
    session.run("clang-format", "--dry-run", "--Werror", *sources)
    session.run("lint-imports", env={"PYTHONPATH": "src"})


@nox.session
def types(session: nox.Session) -> None:
    """Run mypy in strict mode over the installed package, with the stubs that the build generates."""
    _install_package(session, "", "mypy>=1.15", "nox")
    session.run("mypy", "-p", "clipperplus")
    scripts = [path for folder in ("benchmarks", "examples", "docs") for path in sorted(Path(folder).glob("*.py"))]
    session.run("mypy", "noxfile.py", *map(str, scripts))


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation into build/site; ``nox -s docs -- serve`` shows it while it is written."""
    session.install(*nox.project.load_toml("pyproject.toml")["project"]["optional-dependencies"]["docs"])
    session.run("mkdocs", *(session.posargs or ("build", "--strict", "--quiet")), env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session
def tests(session: nox.Session) -> None:
    """Run the Python tests."""
    _install_package(session, "[test]")
    _install_browser(session)
    session.run("pytest", *(session.posargs or ("-n", "2", "--dist", "loadfile")))


@nox.session(python=["3.10", "3.11", "3.12", "3.13", "3.14"])
def pythons(session: nox.Session) -> None:
    """Run the Python tests on every supported interpreter that is installed: ``nox -s pythons``."""
    session.install(".[test]")
    _install_browser(session)
    session.run("pytest", *session.posargs)


def _install_package(session: nox.Session, extra: str, *others: str) -> None:
    """Install the package with an extra; it is compiled once for all sessions of a run."""
    folder = Path("build", "wheel").resolve()
    if not WHEELS:
        shutil.rmtree(folder, ignore_errors=True)
        session.run("python", "-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(folder), ".", silent=True)
        WHEELS.extend(folder.glob("*.whl"))
    session.install(f"clipperplus{extra} @ {WHEELS[0].as_uri()}", *others)
    # Where the session is used again, pip would keep what it installed then: the version is the same.
    session.install("--force-reinstall", "--no-deps", str(WHEELS[0]))


def _install_browser(session: nox.Session) -> None:
    """Install Chromium, in which reports and viewer are tested; without it these tests skip, or fail if CI is set."""
    if not shutil.which("chromium"):
        _install_from_debian(session, "chromium", "fonts-dejavu-core")


def _install_from_debian(session: nox.Session, *packages: str) -> None:
    """Install packages of Debian where that can be done without asking; what needs them says so where it fails."""
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return
    install = f"apt-get update --quiet && apt-get install --yes --quiet --no-install-recommends {' '.join(packages)}"
    session.run("sh", "-c", install, external=True, silent=True, success_codes=range(256))


@nox.session
def cpp(session: nox.Session) -> None:
    """Install the C++ package in every way and use it: ``nox -s cpp -- --clone`` times the way of a new user."""
    session.install("cmake>=3.24", "ninja")
    if not (Path("/usr/include/eigen3").is_dir() and shutil.which("pkg-config")):
        _install_from_debian(session, "libeigen3-dev", "pkg-config")
    session.run("python", "tests/consumer/check.py", *session.posargs)


@nox.session
@nox.parametrize("kind", ["address,undefined", "thread"], ids=["memory", "threads"])
def sanitizers(session: nox.Session, kind: str) -> None:
    """Run the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer, and under ThreadSanitizer."""
    _install_for_cpp_tests(session)
    build = f"build/sanitizers-{kind.split(',')[0]}"
    session.run(
        *("cmake", "-S", ".", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug"),
        *("-DCLIPPERPLUS_PYTHON=OFF", "-DCLIPPERPLUS_TESTS=ON", f"-DCLIPPERPLUS_SANITIZE={kind}"),
        silent=True,
    )
    threads = kind == "thread"  # only some tests start any
    session.run("cmake", "--build", build, *(("--target", "tests_with_threads") if threads else ()), silent=True)
    chosen = ("--label-regex", "^threads$") if threads else ()
    session.run("ctest", "--test-dir", build, "--output-on-failure", "--parallel", "2", "--no-tests=error", *chosen)


def _install_for_cpp_tests(session: nox.Session) -> None:
    session.install("cmake>=3.20", "ninja")
    if not DOCTEST.is_dir():
        _install_from_debian(session, "doctest-dev")


@nox.session
@nox.parametrize("target", ["plain", "libc++", *TARGETS], ids=["plain", "libc++", *TARGETS])
def portable(session: nox.Session, target: str) -> None:
    """Compile the core for other systems, and run its C++ tests where wine or QEMU can: ``nox -s portable``.

    "plain" is for this one, without the extensions of its compiler: what MSVC sees. "libc++" is with a standard library
    as old as those of Macs: that of Zig is newer.
    """
    _install_for_cpp_tests(session)
    options = ["-DCMAKE_CXX_FLAGS=-DCLIPPERPLUS_PLAIN"]
    if target == "libc++":
        if not shutil.which("clang++-19"):
            _install_from_debian(session, "clang-19", "libc++-19-dev", "libc++abi-19-dev")
        options = ["-DCMAKE_CXX_COMPILER=clang++-19", "-DCMAKE_CXX_FLAGS=-stdlib=libc++"]
    elif target != "plain":
        session.install("ziglang")
        code = "import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).with_name('zig'))"
        zig = str(session.run("python", "-c", code, silent=True)).strip()
        headers = Path("build", "doctest").resolve()  # alone: those beside it are of this system
        shutil.copytree(DOCTEST, headers / "doctest", dirs_exist_ok=True)
        toolchain = Path("tests", "cpp", "zig.cmake").resolve()
        options = [f"-DZIG={zig}", f"-DZIG_TARGET={target}", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}"]
        options.append(f"-DCLIPPERPLUS_DOCTEST={headers}")
    emulator = TARGETS.get(target)
    if emulator and shutil.which(emulator):
        options.append(f"-DCMAKE_CROSSCOMPILING_EMULATOR={emulator}")
    build = f"build/portable-{target}"
    builds = {build: [".", "-DCLIPPERPLUS_PYTHON=OFF", "-DCLIPPERPLUS_TESTS=ON"]}
    if target.endswith("-windows-gnu"):  # a DLL, which shows what it is told to, and programs that use all of it
        shared = f"{build}-dll"
        builds[shared] = ["tests/consumer", f"-DCLIPPERPLUS_SOURCE={Path.cwd()}", "-DBUILD_SHARED_LIBS=ON"]
        builds[shared].append(f"-DCMAKE_RUNTIME_OUTPUT_DIRECTORY={Path(shared, 'bin').resolve()}")
    for folder, (source, *others) in builds.items():
        session.run("cmake", "-S", source, "-B", folder, "-G", "Ninja", *others, *options, silent=True)
        session.run("cmake", "--build", folder, silent=True)
        if target not in TARGETS or (emulator and shutil.which(emulator)):
            quiet = {"WINEDEBUG": "-all"}
            session.run("ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error", env=quiet)
        else:
            session.warn(f"compiled, not run: {emulator or 'nothing here that can'}")


@nox.session
def fuzz(session: nox.Session) -> None:
    """Try every reader with random input, a little; ``nox -s fuzz -- --runs 1000000``: for good."""
    _install_package(session, "[las]", "atheris", "cmake>=3.20", "ninja")
    if not shutil.which("clang++"):
        _install_from_debian(session, "clang", "libclang-rt-dev")
    build = "build/fuzz-native"
    session.run(
        *("cmake", "-S", ".", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_COMPILER=clang++"),
        *("-DCLIPPERPLUS_PYTHON=OFF", "-DCLIPPERPLUS_FUZZ=ON", "-DCLIPPERPLUS_SANITIZE=address,undefined"),
        silent=True,
    )
    session.run("cmake", "--build", build, silent=True)
    session.run("python", "tests/fuzz/run.py", "--native", f"{build}/tests/fuzz", *session.posargs)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build, check and test what is published for Linux: ``nox -s wheels``, or ``nox -s wheels -- build check``."""
    session.install("uv", "ziglang", "cmake>=3.20", "ninja")
    session.install("auditwheel>=6.1", "wheel", "abi3audit", "twine>=6", "py-rattler-build>=0.70")
    if not shutil.which("qemu-aarch64-static"):
        _install_from_debian(session, "qemu-user-static")
    session.run("python", "packaging/wheels.py", *session.posargs)


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Run the benchmarks and write their tables to benchmarks/results: ``nox -s benchmarks -- --data DIR``."""
    session.install(".[bench]")
    for script in BENCHMARKS:
        session.run("python", f"benchmarks/{script}.py", *session.posargs)
    session.run("python", "benchmarks/readme.py")
