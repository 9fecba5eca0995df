"""The tables, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks import fmu

Results = Mapping[str, Any]


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A Markdown table."""
    titles = list(head)
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    lines += ["| " + " | ".join(str(x) for x in row) + " |" for row in rows]
    return "\n".join(lines)


def micro(seconds: float) -> str:
    """Seconds as microseconds with three digits."""
    us = 1e6 * seconds
    return f"{us:.0f}" if us >= 99.5 else f"{us:.1f}" if us >= 9.95 else f"{us:.2f}"


def milli(seconds: float) -> str:
    """Seconds as milliseconds with three digits."""
    return micro(1e-3 * seconds)


def ratio(x: float) -> str:
    """A ratio with two to three digits."""
    return f"{x:.0f}" if x >= 20 else f"{x:.1f}" if x >= 3 else f"{x:.2f}" if x >= 0.01 else f"{x:.1g}"


def verdict(value: float, limit: float) -> str:
    """Whether a goal is met."""
    return f"at most {limit:g}: {'met' if value <= limit else '**not met**'}"


def rigid(r: Results) -> str:
    """Rigid chains."""
    names = ("single_python", "pin", "mujoco", "numpy", "batch")
    head = ["bodies", "bough Python call", "pin.aba", "mj_forward", "NumPy", "bough batch"]
    head += ["Python call / pin", "Python call / mujoco", "batch / pin"]
    rows, compiled = [], []
    for row in r["rows"]:
        s = row["seconds"]
        ratios = [s["single_python"] / s["pin"], s["single_python"] / s["mujoco"], s["batch"] / s["pin"]]
        rows.append([row["bodies"], *(micro(s[n]) for n in names), *map(ratio, ratios)])
        ratios = [s["single_c"] / s["pin_cpp"], s["batch_c"] / s["pin_cpp"]]
        times = (micro(s[n]) for n in ("single_c", "batch_c", "pin_cpp"))
        compiled.append([row["bodies"], *times, *map(ratio, ratios)])
    big = _row(r, 100)["seconds"]
    free = big["batch"] / (big["pin"] - r["pin_one_body"])
    worst = {n: max(row["difference"][n] for row in r["rows"]) for n in ("pin", "mujoco", "numpy", "pin_cpp")}
    return "\n\n".join(
        [
            f"Microseconds per evaluation. One call from Python stands beside one call from Python; the batch call, "
            f"{r['batch']} states, beside as many calls: the peers take no batch.",
            table(head, rows),
            "Without Python: the C call beside `pinocchio::aba` called from C++, and the batch call from C beside a "
            "loop of such calls, which is what Pinocchio offers for many states on one core.",
            table(
                ["bodies", "bough C call", "bough batch from C", "pinocchio::aba", "C call / C++", "batch / C++"],
                compiled,
            ),
            f"At 100 bodies the batch call takes {ratio(big['batch'] / big['pin'])} of `pin.aba` "
            f"({verdict(big['batch'] / big['pin'], 0.45)}); {ratio(free)} if all that `pin.aba` takes for a single "
            f"body, {micro(r['pin_one_body'])} us, is taken for the cost of calling it from Python. Largest difference "
            f"of accelerations, over the largest acceleration, up to 200 bodies: Pinocchio {worst['pin']:.0e}, MuJoCo "
            f"{worst['mujoco']:.0e}, NumPy {worst['numpy']:.0e}, Pinocchio from C++ {worst['pin_cpp']:.0e}.",
        ]
    )


def _row(r: Results, bodies: int) -> Any:
    return next(row for row in r["rows"] if row["bodies"] == bodies)


def probe(r: Results) -> str:
    """The probe."""
    if "skipped" in r:
        return str(r["skipped"]) + "."
    head = [
        "case",
        "bough C call",
        "bough batch",
        "evalB",
        "evalS",
        "evalB4",
        "C call / evalB",
        "goal",
        "batch / evalB4",
    ]
    rows = []
    for row in r["rows"]:
        p = row["probe"]
        goal = verdict(row["single"] / p["evalB"], row["limit"]) if row["limit"] else ""
        times = [row["single"], row["batch"], p["evalB"], p["evalS"], p["evalB4"]]
        quotients = [ratio(row["single"] / p["evalB"]), goal, ratio(row["batch"] / p["evalB4"])]
        rows.append([row["case"], *map(micro, times), *quotients])
    note = (
        f"{r['bodies']} bodies, microseconds per evaluation. The probe (gcc {r['gcc']}, `-O3 -march=x86-64-v3`) is "
        "ruthless in every row. evalB: scalar C; evalS: AVX2 within one chain; evalB4: four chains at once, per chain."
    )
    return f"{note}\n\n{table(head, rows)}"


def scaling(r: Results) -> str:
    """Growth with bodies and modes; memory."""
    sizes = r["bodies"][0]["sizes"]
    rows = []
    for row in r["bodies"]:
        for call in ("single", "batch"):
            flat = verdict(row[f"{call}_growth"], 1.2)
            costs = [f"{1e9 * c:.0f}" for c in row[call]]
            rows.append([row["kind"], call, *costs, ratio(row[f"{call}_growth"]), flat])
    mb = [[row["kind"], *(f"{b / 1e6:.2g}" for b in row["bytes"])] for row in r["bodies"]]
    modes = [
        [
            row["fidelity"],
            row["call"],
            f"{1e9 * row['base']:.0f} + {1e9 * row['slope']:.1f} m",
            f"{100 * row['deviation']:.0f} %",
            f"{100 * row['quadratic']:.0f} %",
            ", ".join(f"{m}: {1e9 * s:.0f}" for m, s in zip(row["modes"], row["seconds"], strict=True)),
        ]
        for row in r["modes"]
    ]
    long = [
        [
            row["fidelity"],
            row["nodes"],
            f"{row['model_bytes'] / 1e6:.1f}",
            f"{row['bytes'] / 1e6:.1f}",
            verdict(row["bytes"] / 1e6, 50),
            f"{1 / row['single_seconds']:.0f}",
            f"{1 / row['batch_seconds']:.0f}",
        ]
        for row in r["long"]
    ]
    return "\n\n".join(
        [
            "Nanoseconds per body and evaluation, called from C, by the number of bodies:",
            table(["bodies", "call", *map(str, sizes), "largest / first", "goal"], rows),
            "Megabytes of the kernel (model and workspace of single and batch call) for the same chains:",
            table(["bodies", *map(str, sizes)], mb),
            "Nanoseconds per body and evaluation by the number of modes m, 10 bodies, and the straight line through "
            "them. The quadratic share is what the square term of a parabola through the same points contributes at "
            "the right end: positive where the cost bends upward.",
            table(["fidelity", "call", "line", "largest deviation", "quadratic share", "measured"], modes),
            "1000 bodies with 10 modes each:",
            table(
                [
                    "fidelity",
                    "nodes per body",
                    "model, MB",
                    "with workspace, MB",
                    "goal",
                    "C calls/s",
                    "batch states/s",
                ],
                long,
            ),
        ]
    )


def flexible(r: Results) -> str:
    """Exudyn."""
    parts = []
    for name, case in r["cases"].items():
        f = case["frequencies"]
        rows = []
        for level in case["levels"]:
            a, b = level["bough"], level["exudyn"]
            if a is None or b is None:
                continue
            rows.append(
                [
                    f"{level['level']:.0e}",
                    milli(a["seconds"]),
                    f"{a['name']} ({a['error']:.0e})",
                    milli(b["seconds"]),
                    f"{b['name']} ({b['error']:.0e})",
                    ratio(a["seconds"] / b["seconds"]),
                ]
            )
        parts.append(
            f"**{name.capitalize()}** ({', '.join(f'{x:.0f}' for x in f)} Hz). The converged runs differ by "
            f"{case['difference']:.0e} of the amplitude of {case['amplitude']:.1f} m; Exudyn's own doubt is "
            f"{case['exudyn_reference_doubt']:.0e}.\n\n"
            + table(
                ["error", "bough, ms", "with (error)", "Exudyn, ms", "with (error)", "bough / Exudyn"],
                rows,
            )
        )
    lead = (
        f"{r['bodies']} bodies with {r['modes']} modes each; Exudyn {r['version']}. Milliseconds of computing per "
        "simulated second, the fastest setting of each program whose error is within the bound:"
    )
    return "\n\n".join([lead, *parts])


SECTIONS = {
    "rigid": ("Rigid chains", rigid),
    "probe": ("Flexible chains against the probe", probe),
    "scaling": ("Growth with bodies and modes", scaling),
    "flexible": ("Flexible chain against Exudyn at equal accuracy", flexible),
    "fmu": ("FMUs", fmu.table),
}


def full(results: Results) -> str:
    """Every table that was measured."""
    parts = [_where(results)]
    parts += [f"## {title}\n{text(results[name])}" for name, (title, text) in SECTIONS.items() if name in results]
    return "\n\n".join(parts)


def _where(results: Results) -> str:
    m = results["machine"]
    return (
        f"{m['cpu']}, one core, {m['system']}, Python {m['python']}; kernel by {results['compiler']}, "
        f"{results['isa']} code; Pinocchio {results['versions'].get('pin', '-')}, MuJoCo "
        f"{results['versions'].get('mujoco', '-')}, NumPy {results['versions'].get('numpy', '-')}. {m['date']}."
    )


def readme(results: Results) -> str:
    """The short table of the README."""
    r = results["rigid"]
    one, ten, hundred = (_row(r, n)["seconds"] for n in (1, 10, 100))

    def peers(name: str, key: str) -> list[object]:
        single, batch = ("single_c", "batch_c") if key == "pin_cpp" else ("single_python", "batch")
        both = [(s, call) for s in (ten, hundred) for call in (single, batch)]
        return [name, *(ratio(s[call] / s[key]) for s, call in [(one, single), *both])]

    rigid_rows = [
        peers("Pinocchio `pin.aba`", "pin"),
        peers("`pinocchio::aba`, C against C++", "pin_cpp"),
        peers("MuJoCo `mj_forward`", "mujoco"),
        peers("articulated bodies in NumPy", "numpy"),
    ]
    flexible_rows = []
    for name, case in results["flexible"]["cases"].items():
        ratios = [
            ratio(x["bough"]["seconds"] / x["exudyn"]["seconds"]) if x["bough"] and x["exudyn"] else "-"
            for x in case["levels"]
        ]
        flexible_rows.append([name, *ratios])
    levels = [f"error {x['level']:.0e}" for x in next(iter(results["flexible"]["cases"].values()))["levels"]]
    f = results["flexible"]
    return "\n\n".join(
        [
            "Time of bough over time of the other, side by side in one run on one core; below 1 bough is faster. "
            "Forward dynamics of rigid chains: one call from Python against one of the peer (from C against C++ in the "
            f"second row), and a batch of {r['batch']} states against as many calls, since the peers take no batch:",
            table(
                ["bough /", "1 body, one call", "10 bodies, one call", "batch", "100 bodies, one call", "batch"],
                rigid_rows,
            ),
            f"Simulation of a chain of {f['bodies']} beams with {f['modes']} modes each, `full` fidelity, against "
            "Exudyn's reduced floating-frame bodies: computing time per simulated second at equal error of the tip, "
            "each program with its best method:",
            table(["beams", *levels], flexible_rows),
            f"{_where(results)} Method and all tables: [speed](docs/speed.md); your machine: `make bench`.",
        ]
    )
