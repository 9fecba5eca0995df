"""The model blocks of the C test programs: blocks.h, written when the tests run.

Small models that between them take every path of the kernel.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from kernel.cases import HINGES, Dict, panel

from bough import Mechanism


def _body(name: str, parent: str, kind: str, part: Dict, **hinge: Any) -> Dict:
    out: Dict = {"name": name, "parent": parent, "hinge": HINGES[kind] | hinge} | part
    if parent != "ground":
        out["at"] = "n3"
    return out


def _rigid(**more: Any) -> Dict:
    nodes = {"n3": {"position": [0.4, 0.1, -0.2], "quaternion": [0.1, 0.1, 0.7, 0.7]}}
    body = {"mass": 1.5, "com": [0.2, 0.05, -0.1], "inertia": [0.05, 0.06, 0.07, 0.01, 0.0, 0.005], "nodes": nodes}
    return {"rigid": body | more}


def _flexible(modes: int, **options: Any) -> Dict:
    part = panel(modes, nodes=4, **options)
    if modes > 1:  # not by ratios: a full damping matrix and a stiffness that couples modes
        part.pop("damping")
        part["damping_matrix"] = (0.1 * np.eye(modes) + 0.02).tolist()
        part["stiffness"] = (30.0 * np.eye(modes) + 5.0).tolist()
    return {"nodal": part}


def _beam(**modes: Any) -> Dict:
    section = {"shape": "rectangle", "width": 0.02, "height": 0.03}
    material = {"E": 1e11, "nu": 0.3, "rho": 5e5}  # heavy: modal coordinates of order one are small deflections
    body = {"length": 1.0, "elements": 4, "section": section, "material": material, "modes": modes, "damping": 0.01}
    return {"beam": body}


def _acting() -> Dict:
    """Every type of force, a load in node axes, and the field of a point mass."""
    pair = ["a.n3", "c.n3"]
    table = [[-1.0, -80.0], [-0.1, -10.0], [0.4, 3.0], [1.0, 60.0]]
    frames = [{"position": [0.5, 0.2, 0.1]}, {"position": [-0.6, 0.1, 0.3]}]
    forces: list[Dict] = [
        {"type": "spring", "between": pair, "frames": frames, "stiffness": 20.0, "damping": 1.0, "length": 0.3},
        {"type": "spring", "between": pair, "frames": frames, "stiffness": table, "damping": [[0, 0], [1, 2]]},
        {"type": "spring", "between": ["b.n3", "ground.origin"], "frames": frames, "stiffness": 9.0, "only": "tension"},
        {"type": "actuator", "between": pair, "frames": frames},
        {"type": "bushing", "between": ["c.n3", "ground.origin"], "stiffness": [1, 2, 3, 4, 5, 6],
         "damping": [0.1] * 6},
        {"type": "contact", "between": ["c.n3", "ground.origin"], "frames": [{}, {"position": [0, 0, -9]}],
         "normal": [0, 0, 1], "radius": 0.1, "stiffness": 50.0, "friction": 0.5},
        {"type": "contact", "between": pair, "frames": [{}, {"position": [2, 0, 0]}], "radius": [0.1, 0.1],
         "stiffness": 50.0, "law": "hunt-crossley", "damping": 1.0, "exponent": 1.5},
    ]  # fmt: skip
    loads = ["a.n3.force", "b.n3.local_force", "c.n3.local_torque"]
    return {"forces": forces, "inputs": loads, "gravity": {"mu": 30.0, "center": [0, 5, 0]}}


def models() -> dict[str, Dict]:
    """The models by name: every hinge type, every kind of body, springs, armature, wheels, loads, drives."""
    spring: Dict = {"stiffness": 3.0, "damping": 0.1, "armature": 0.05}
    rigid = [
        _body("a", "ground", "free", _rigid(wheels=[{"axis": [0, 1, 1], "momentum": 0.7}])),
        _body("b", "a", "revolute", _rigid(), **spring),
        _body("c", "b", "universal", _rigid(), **spring),
        _body("d", "a", "spherical", _rigid(), **spring),
        _body("e", "d", "planar", _rigid(), rest=0.1, **spring),
        _body("f", "e", "cylindrical", _rigid()),
        _body("g", "e", "prismatic", _rigid(), drive="motion"),
        _body("h", "g", "fixed", _rigid()),
    ]
    full = [
        _body("a", "ground", "free", _flexible(2, clamped=False)),
        _body("b", "a", "revolute", _flexible(3), **spring),
        _body("c", "a", "universal", _flexible(1, rotary=False), drive="motion"),
        _body("d", "b", "spherical", _rigid(), stiffness=2.0),
    ]
    ruthless = [
        _body("a", "ground", "revolute", _flexible(6)),
        _body("b", "a", "revolute", _flexible(2, clamped=False)),
        _body("c", "b", "spherical", _flexible(3), **spring),
        _body("d", "c", "revolute", _flexible(1)),
        _body("e", "c", "prismatic", _flexible(1), drive="locked"),
    ]
    stiffened = [
        _body("a", "ground", "universal", _beam(count=3)),
        _body("b", "a", "revolute", _beam(boundary="free", count=2), **spring),
        _body("c", "b", "spherical", _rigid()),
    ]
    clamped = [_body("a", "ground", "revolute", _beam(count=3)), _body("b", "a", "revolute", _beam(count=2))]
    rubs: Dict = {"friction": {"coulomb": 0.4, "static": 0.6, "stribeck": 0.3}}
    gear: Dict = {"gear": {"ratio": 20.0, "inertia": 1e-3, "stiffness": 30.0, "damping": 0.2, "backlash": 0.01}}
    drives = [
        _body(
            "a", "ground", "revolute", _rigid(), limits={"lower": -9, "upper": 9, "stiffness": 50, "damping": 1}, **rubs
        ),
        _body("b", "a", "universal", _rigid(), **rubs),
        _body("c", "b", "revolute", _flexible(2), **gear),
        _body("d", "c", "prismatic", _rigid(), limits={"lower": -9.0, "upper": 9.0, "restitution": 0.5}),
    ]
    equal = [
        _body("a", "ground", "revolute", _flexible(3)),  # of the same kind as the others, but for the number of modes
        _body("b", "a", "revolute", _flexible(2)),
        _body("c", "b", "revolute", _flexible(2)),
        _body("d", "b", "revolute", _flexible(2)),
    ]
    forced = [
        _body("a", "ground", "free", _rigid(wheels=[{"name": "w", "axis": [0, 1, 1], "inertia": 0.01, "w": 5.0}])),
        _body("b", "a", "revolute", _flexible(3), **spring),
        _body("c", "b", "spherical", _flexible(2, clamped=False), **spring),
    ]
    out = {}
    for name, fidelity, bodies in (
        ("rigid", "full", rigid),
        ("full", "full", full),
        ("ruthless", "ruthless", ruthless),
        ("stiffened", "full", stiffened),
        ("stiffened_ruthless", "ruthless", clamped),
        ("equal", "full", equal),
        ("drives", "full", drives),
        ("equal_ruthless", "ruthless", equal),
        ("forced", "full", forced),
        ("forced_ruthless", "ruthless", forced),
    ):
        loads = [f"{b['name']}.n3.{key}" for b in bodies[::2] for key in ("force", "torque")]
        head = {"bough": 1, "name": name, "gravity": [0.3, -0.2, -9.81], "fidelity": fidelity}
        out[name] = head | {"bodies": bodies, "inputs": loads, "geometric_stiffening": "stiffened" in name}
        if "forced" in name:
            out[name] |= _acting()
    return out


@cache
def blocks() -> dict[str, bytes]:
    """The models' blocks by name."""
    return {name: Mechanism(model).block.data for name, model in models().items()}


@cache
def _header() -> str:
    """The text of blocks.h: each block as 64-bit words, which a little-endian machine has in the order of the bytes."""
    lines = ["/* blocks.h - model blocks of the test programs. Written by tests/kernel/make_blocks.py. */"]
    lines += ["#ifndef BLOCKS_H", "#define BLOCKS_H", "", "#include <stddef.h>", "#include <stdint.h>", ""]
    lines += [
        "typedef struct {",
        "  const char *name;",
        "  const uint64_t *words;",
        "  size_t size;",
        "} test_block;",
        "",
    ]
    for name, data in blocks().items():
        words = [f"0x{w:x}u" for w in np.frombuffer(data, dtype="<u8")]
        lines.append(f"static const uint64_t block_{name}[] = {{")
        lines += ["  " + ", ".join(words[i : i + 6]) + "," for i in range(0, len(words), 6)]
        lines.append("};")
    lines += ["", "static const test_block blocks[] = {"]
    lines += [f'    {{"{name}", block_{name}, sizeof block_{name}}},' for name in blocks()]
    return "\n".join([*lines, "};", "enum { BLOCKS = sizeof blocks / sizeof blocks[0] };", "", "#endif", ""])


def blocks_header(folder: Path) -> str:
    """Write blocks.h into a folder; return the option by which a compiler finds it there."""
    (folder / "blocks.h").write_text(_header(), encoding="utf-8")
    return f"-I{folder}"
