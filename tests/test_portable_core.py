"""The core is C++20 that MSVC, GCC and Clang compile: what compilers lack is in a header, what systems in a file."""

import re
from pathlib import Path

import pytest

CPP = Path(__file__).parents[1] / "cpp"
COMPILER = CPP / "src" / "compiler.h"
MACHINE = CPP / "src" / "machine.cpp"
"""What only the system knows."""
EXPORT = CPP / "include" / "clipperplus" / "export.h"
"""What a shared library shows: for C++ programs, which do not see the other."""
FOREIGN = re.compile(
    r"__builtin_|__atomic_|__sync_|__attribute__|__extension__|__PRETTY_FUNCTION__|vector_size|__u?int128"
    r"|__restrict__|__asm|\basm\b|\btypeof\b|\balloca\b|\[\[(?:gnu|clang|msvc)::|__declspec|__forceinline|_BitScan"
    r"|#\s*pragma (?!once)|_Pragma|\bssize_t\b|\bM_PI\b|<(?:unistd|alloca|intrin)\.h>|<(?:sys|bits|ext)/"
    r"|(?<!long )\blong\b(?! long| double)"  # 32 bits on Windows
)


def foreign_words(code: str) -> list[str]:
    """What of a file's code, without its comments, not every compiler knows or takes for the same."""
    return FOREIGN.findall(re.sub(r"//[^\n]*|/\*.*?\*/", "", code, flags=re.DOTALL))


def files_of_the_core() -> list[Path]:
    return sorted(
        path for ending in ("*.h", "*.cpp") for path in CPP.rglob(ending) if path not in (COMPILER, EXPORT, MACHINE)
    )


@pytest.mark.parametrize("path", files_of_the_core(), ids=lambda path: str(path.relative_to(CPP)))
def test_only_one_header_has_words_of_compilers(path: Path) -> None:
    assert foreign_words(path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", [*sorted(EXPORT.parent.glob("*.h")), CPP / "version.h.in"], ids=lambda path: path.name)
def test_public_headers_are_ascii(path: Path) -> None:
    """MSVC reads them in the code page of the system, where the end of a comment can swallow that of its line."""
    lines = path.read_text("utf-8").splitlines()
    assert [f"{number}: {line}" for number, line in enumerate(lines, 1) if not line.isascii()] == []


def test_the_words_would_be_found() -> None:
    assert len(files_of_the_core()) > 100
    assert {"__builtin_", "__atomic_", "__attribute__", "vector_size", "__declspec", "_BitScan"} <= set(
        foreign_words(COMPILER.read_text("utf-8"))
    )
    lines = ("float* __restrict__ p;", "unsigned long n;", "#pragma GCC ivdep", "[[gnu::noinline]] f();", "long n = 1;")
    for line in lines:
        assert foreign_words(line), line
    for line in (
        "long long n;",
        "unsigned long long n;",
        "long double x;",
        "// a long time",
        "#pragma once",
        "float* __restrict p;",
    ):
        assert not foreign_words(line), line


@pytest.mark.parametrize(
    "path",
    [path for path in files_of_the_core() if "bindings" not in path.parts],
    ids=lambda path: str(path.relative_to(CPP)),
)
def test_names_are_of_one_version(path: Path) -> None:
    opened = re.findall(r"^(?:inline )?namespace (clipperplus.*) \{", path.read_text("utf-8"), flags=re.MULTILINE)
    assert [name for name in opened if not re.match(r"clipperplus::inline v0\b", name)] == []
