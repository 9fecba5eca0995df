"""Partners as FMUs: description, resource, binaries and page in one zip file."""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bough._build_info import VERSION
from bough.errors import BuildError, did_you_mean
from bough.fmu import fmi2, fmi3
from bough.fmu.description import Description, Unknown
from bough.fmu.package import (
    NO_TOKEN,
    VERSIONS,
    content_token,
    find_binary,
    finished,
    licence,
    placed,
    platform_tuples,
    write_fmu,
)
from bough.fmu.python_runtime import python_files
from bough.mechanism.resource import Content, pack
from bough.model.named_files import check_target
from bough.partners import controller, model_controller, motor
from bough.partners.misfit import Misfit, PartnerError
from bough.partners.partner_page import page
from bough.partners.quantity import AXES_MOST, Partner, Value, dependencies, variable_table

KINDS = ("motor", "controller", "model-controller")
RUNTIMES = ("native", "python")
FAMILIES = {
    "motor": Partner("motor", motor.NUMBER, motor.TEXT, 1, motor.QUANTITIES, {}),
    "controller": Partner("controller", controller.NUMBER, controller.TEXT, 1, controller.QUANTITIES, {}),
    "model-controller": Partner(
        "model-controller", model_controller.NUMBER, model_controller.TEXT, 1, model_controller.QUANTITIES, {}
    ),
}
"""Each kind as it is unless anything is set."""
NO_LIMIT = sys.float_info.max
"""Stands for no limit in the resource, where every number is finite."""


def describe_partner(
    kind: str,
    axes: int = 1,
    values: Mapping[str, Value | str] | None = None,
    model: Any = None,
) -> Partner:
    """A partner with its start values.

    Args:
        kind: "motor", "controller" or "model-controller".
        axes: How many axes; variables of several have an index: `tau[1]`. A model-controller takes those of its model.
        values: Start values of parameters and inputs: one for all axes, one for each, or of one axis (`"R[2]"`). A
            controller also has "output": "voltage" (into an amplifier) or "torque" (into a hinge); a model-controller
            has "bandwidth" (rad/s), "sample" (s) and "armature" (kg.m2), which are settled here.
        model: For a model-controller: what `bough.load` takes, or a Mechanism.

    Raises:
        PartnerError: Something is unknown or out of range.
        BuildError: There is no such partner.
    """
    given: dict[str, Any] = dict(values or {})
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS)
        raise BuildError(f"there is no partner {kind!r}; partners are {', '.join(KINDS)}{hint}")
    if not 1 <= axes <= AXES_MOST:
        raise PartnerError(kind, Misfit("axes", f"axes is {axes}", f"1 to {AXES_MOST}"))
    if kind == "model-controller":
        if model is None:
            expected, cure = "the model that it is to control", "name the model file"
            raise PartnerError(kind, Misfit("model", "it has no model", expected, cure))
        return model_controller.describe(model, given)
    if model is not None:
        cure = "leave it out, or take a model-controller"
        raise PartnerError(kind, Misfit("model", f"a {kind} takes no model", "none", cure))
    if kind == "motor":
        return motor.describe(axes, given)
    output = given.pop("output", "voltage")
    return controller.describe(axes, given, output)


def build_partner(
    kind: str,
    path: str | os.PathLike[str],
    *,
    axes: int = 1,
    values: Mapping[str, Value | str] | None = None,
    model: Any = None,
    fmi: str = "2.0",
    platforms: str | Sequence[str] = "all",
    runtime: str = "native",
) -> Path:
    """Write a partner as an FMU: for Co-Simulation, controllers for Model Exchange too. Same arguments, same bytes.

    Args:
        kind: "motor", "controller" or "model-controller".
        path: Of the FMU; its folder must exist.
        axes: See `describe_partner`, like values and model.
        values: See axes.
        model: See axes.
        fmi: "2.0" or "3.0".
        platforms: "all"; "native", this machine's; or tuples such as "x86_64-linux", one or a list.
        runtime: "native": compiled code, nothing else needed. "python": a pythonfmu slave, to be changed; FMI 2.0 only.
            The motor's holds its law in Python; a controller's is a thin layer over the same C code.

    Returns:
        The path.

    Raises:
        BuildError: Something is unknown or out of range, a binary is missing, or the file cannot be written.
    """
    _check(fmi, runtime)
    check_target(path, model)
    partner = describe_partner(kind, axes, values, model)
    tuples = platform_tuples(platforms, runtime)
    files = partner_files(partner, fmi, runtime)
    name = partner_name(partner)
    if runtime == "python":
        files = python_files(files, name, tuples, "motor_slave.py" if kind == "motor" else "slave.py")
    else:
        files |= placed({t: find_binary(t, fmi) for t in tuples}, name, fmi)
    target = Path(path)
    write_fmu(target, files)
    return target


def _check(fmi: str, runtime: str) -> None:
    if fmi not in VERSIONS:
        raise BuildError(f"fmi is {fmi!r}; expected '2.0' or '3.0'")
    if runtime not in RUNTIMES:
        raise BuildError(f"runtime is {runtime!r}; expected 'native' or 'python'")
    if runtime == "python" and fmi != "2.0":
        raise BuildError("runtime='python' is for FMI 2.0 only: ask for fmi='2.0', or for runtime='native'")


def partner_name(partner: Partner) -> str:
    """Name of the FMU's model."""
    return partner.kind.replace("-", "_")


def partner_files(partner: Partner, fmi: str, runtime: str = "native") -> dict[str, bytes]:
    """Everything in a partner's FMU but its binaries, by path."""
    d, new = description(partner, fmi), fmi == "3.0"
    write = fmi3.model_description if new else lambda d, t: fmi2.model_description(d, t, runtime == "python")
    text = write(d, NO_TOKEN)
    token = content_token(resource(partner, d, NO_TOKEN), text.encode())
    return {
        "modelDescription.xml": finished(text, token),
        "resources/model.bough": resource(partner, d, token),
        "documentation/index.html": page(partner, d, fmi).encode(),
        "documentation/licenses/license.txt" if new else "licenses/license.txt": licence().encode(),
    }


def description(partner: Partner, fmi: str) -> Description:
    """What modelDescription.xml says. Parameters are knowns of initialization and, in FMI 3, of outputs."""
    variables, found = variable_table(partner), dependencies(partner)
    inputs = [v.causality != "parameter" for v in variables]
    tunable = [v.variability != "fixed" for v in variables]

    def unknowns(knowns: Sequence[bool]) -> tuple[Unknown, ...]:
        return tuple(Unknown(r, tuple(j for j in names if knowns[j]), False) for r, names in found.items())

    run, start = unknowns(tunable if fmi == "3.0" else inputs), unknowns([True] * len(variables))
    events = any(q.sampled for q in partner.quantities)
    text = partner.text if partner.axes == 1 else f"{partner.text}, {partner.axes} axes"
    return Description(
        partner_name(partner),
        text,
        f"bough {VERSION}",
        variables,
        run,
        (),
        start,
        partner=True,
        exchange=events,
        events=events,
    )


def resource(partner: Partner, d: Description, token: str) -> bytes:
    """The bytes of `model.bough`.

    The block of a partner: i64 reals, i64 bytes for the kernel; reals: least and greatest value of each variable, then
    a table; the kernel's block.
    """
    reals: list[float] = []
    for v in d.variables:
        low, high = (0.0, 1.0) if v.type == "Boolean" else (v.minimum, v.maximum)
        reals += [-NO_LIMIT if low is None else low, NO_LIMIT if high is None else high]
    reals += partner.table
    block = struct.pack("<qq", len(reals), len(partner.block)) + struct.pack(f"<{len(reals)}d", *reals) + partner.block
    content = Content(token, d.name, block, partner.bodies, (), (partner.number, partner.axes))
    return pack(d.variables, content)
