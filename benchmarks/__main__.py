"""`python -m benchmarks [names...] [--json FILE] [--quick] [--write-readme]`."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import flexible, fmu, probe, report, rigid, scaling
from benchmarks.ctimer import ROOT
from benchmarks.timing import machine, pin_to_core
from bough import _build_info

RUNS: dict[str, Callable[[bool], dict[str, Any]]] = {
    "rigid": rigid.run,
    "probe": probe.run,
    "scaling": scaling.run,
    "flexible": flexible.run,
    "fmu": fmu.run,
}
PEERS = ("pin", "mujoco", "exudyn", "numpy")


def main() -> int:
    """Run, print, and write what was asked for."""
    args = _arguments()
    core = pin_to_core()
    print("one core" if core is None else f"on core {core}", file=sys.stderr)
    results: dict[str, Any] = {
        "machine": machine(),
        "compiler": _build_info.COMPILER,
        "isa": "AVX2" if "v3" in _build_info.ISAS else "baseline",
        "versions": {name: _version(name) for name in PEERS},
        "quick": args.quick,
    }
    for name in args.names or list(RUNS):
        began = time.perf_counter()
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            results[name] = RUNS[name](args.quick)
        except ImportError as error:
            print(f"{name} was left out: {error}; `make bench` installs the peers", file=sys.stderr)
            continue
        title, text = report.SECTIONS[name]
        print(f"## {title}\n\n{text(results[name])}\n", flush=True)
        print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=1) + "\n")
    return _write(results) if args.write_readme else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="bough beside its peers, in one run")
    parser.add_argument("names", nargs="*", metavar="name", help=f"what to run: {', '.join(RUNS)} (default: all)")
    parser.add_argument("--json", metavar="FILE", help="write every number there")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a look, not a measurement")
    parser.add_argument("--write-readme", action="store_true", help="put the tables into README.md and docs/speed.md")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in RUNS]
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are: {', '.join(RUNS)}")
    return args


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "-"


def _write(results: dict[str, Any]) -> int:
    missing = [name for name in RUNS if name not in results or "skipped" in results[name]]
    if missing or results["quick"]:
        print(
            f"README.md is not written: a full run is needed (missing: {', '.join(missing) or 'none'})", file=sys.stderr
        )
        return 1
    _between(ROOT / "README.md", "speed", report.readme(results))
    _between(ROOT / "docs" / "speed.md", "tables", report.full(results))
    return 0


def _between(path: Path, marker: str, text: str) -> None:
    """Replace what stands between the begin and end comments of a marker."""
    begin, end = f"<!-- {marker}:begin -->", f"<!-- {marker}:end -->"
    old = path.read_text(encoding="utf-8")
    before, _, rest = old.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{path.name} has no {begin} ... {end}")
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
