"""Fuzz every reader, and the parsers in C++: ``python tests/fuzz/run.py --runs 1000000 [READER …]``.

Readers run under Atheris; ``--native`` names the folder with the programs of ``tests/fuzz/CMakeLists.txt``, which run
under libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer. What is found is left in ``--findings``, with what
came out of each run: ``--report`` makes a table of all that is there, so that long runs can be made one by one.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from readers import CORPUS, READERS

from clipperplus import core_info

HERE = Path(__file__).parent
SHORT = 1024
"""Bytes that an input may always have; or twice those of the longest that it begins with."""
PATIENCE = 10
"""Seconds that an input may take."""
RESIDENT_MB = 2048
"""Memory that a whole process may take."""
NATIVE = {
    "native_dimacs": "dimacs",
    "native_dimacs_binary": "dimacs_binary",
    "native_matrix_market": "matrix_market",
    "native_edge_list": "edge_list",
    "native_lzf": "lzf",
}
"""Programs by name, and the inputs that they begin with."""


class Outcome(NamedTuple):
    """What came out of a run."""

    name: str
    inputs: int
    seconds: float
    coverage: int
    """Edges of the code that were passed."""
    peak_mb: int
    findings: list[str]
    """Files, in the folder of findings."""
    commit: str
    """What was fuzzed."""


def fuzz(name: str, command: Sequence[str], seeds: str, runs: int, findings: Path) -> Outcome:
    """Run one harness; begin with the committed inputs."""
    findings.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as grown:
        longest = max(SHORT, *(2 * path.stat().st_size for path in (CORPUS / seeds).iterdir()))
        options = [f"-runs={runs}", f"-max_len={longest}", f"-timeout={PATIENCE}", f"-rss_limit_mb={RESIDENT_MB}"]
        options += ["-seed=1", "-print_final_stats=1", f"-artifact_prefix={findings / name}-", grown]
        began = time.monotonic()
        done = subprocess.run(
            [*command, *options, str(CORPUS / seeds)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        seconds = time.monotonic() - began
    log = done.stdout.decode(errors="replace")
    (findings / f"{name}.txt").write_text(log, encoding="utf-8")
    found = sorted(path.name for path in findings.glob(f"{name}-*"))
    if done.returncode and not found:
        found = [f"{name}.txt"]
    inputs, peak = (_last(rf"stat::{what}:\s+(\d+)", log) for what in ("number_of_executed_units", "peak_rss_mb"))
    outcome = Outcome(name, inputs, seconds, _last(r" cov: (\d+)", log), peak, found, core_info().commit)
    (findings / f"{name}.json").write_text(json.dumps(outcome._asdict()), encoding="ascii")
    return outcome


def _last(pattern: str, log: str) -> int:
    return int((re.findall(pattern, log) or ["0"])[-1])


def report(outcomes: Sequence[Outcome]) -> None:
    """Write the table to benchmarks/results."""
    sys.path.insert(0, str(HERE.parents[1] / "benchmarks"))
    from common import write_report

    from clipperplus.bench.tables import markdown_table

    rows = [
        (
            f"`{one.name}`",
            str(one.inputs),
            f"{one.seconds:.0f}",
            str(one.coverage),
            str(one.peak_mb),
            str(len(one.findings)),
            one.commit,
        )
        for one in outcomes
    ]
    heads = ("reader", "inputs", "seconds", "edges passed", "peak memory, MB", "findings", "commit")
    body = f"""Inputs grown from those in `tests/fuzz/corpus`, up to twice as long. A finding is a crash, an error but
those of the package and of the system, a warning, {PATIENCE} s for one input, or 1 GiB more than the process had (of
the native parsers, which run with sanitizers: {RESIDENT_MB} MB). One thread. Each reader was run at the commit that is
named.

{markdown_table(heads, rows)}"""
    missing = sorted({*READERS, *NATIVE} - {one.name for one in outcomes})
    if missing:
        body += f"\nNot run yet: {', '.join(f'`{name}`' for name in missing)}.\n"
    write_report("fuzz", "Readers under random input", "nox -s fuzz -- --runs 1000000 --jobs 2 --report", body)


def main() -> None:
    """Fuzz what was asked for; end with status 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="Readers, and native ones; none: all.")
    parser.add_argument("--runs", type=int, default=5000, help="Inputs for each; 0: run nothing.")
    parser.add_argument("--jobs", type=int, default=1, help="Readers that are fuzzed at the same time.")
    parser.add_argument("--native", type=Path, help="Folder of the native programs; none: they are left out.")
    parser.add_argument("--findings", type=Path, default=Path("build", "fuzz"), help="Folder for logs and findings.")
    parser.add_argument("--report", action="store_true", help="Write the table to benchmarks/results.")
    asked = parser.parse_args()
    harnesses = {name: ([sys.executable, str(HERE / "harness.py"), name], name) for name in READERS}
    if asked.native is not None:
        harnesses |= {name: ([str(asked.native / name)], seeds) for name, seeds in NATIVE.items()}
    unknown = set(asked.names) - set(harnesses)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known are {', '.join(harnesses)}")

    def run(name: str) -> Outcome:
        outcome = fuzz(name, *harnesses[name], asked.runs, asked.findings.resolve())
        print(*outcome, flush=True)
        return outcome

    with ThreadPoolExecutor(max(asked.jobs, 1)) as pool:
        outcomes = list(pool.map(run, asked.names or (harnesses if asked.runs else ())))
    if asked.report:
        paths = [asked.findings / f"{name}.json" for name in (*READERS, *NATIVE)]
        report([Outcome(**json.loads(path.read_bytes())) for path in paths if path.exists()])
    if any(outcome.findings for outcome in outcomes):
        sys.exit(f"found something: see {asked.findings}")


if __name__ == "__main__":
    main()
