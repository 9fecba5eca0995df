"""A system that starts at rest: bodies bent by their weight, and hinges held by what drives them.

The forces are followed back along the connections: to the torque command of a controller, or through a motor to its
voltage. A controller gets them as feed-forward, `u_ff`; a motor that nobody commands gets its `u`. A model-controller
finds them itself. What cannot be followed back is told, and starts as it would have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bough.coupling.assembly import Assembly, Component, Port
from bough.errors import ArgumentError, SimulationError
from bough.partners.facts import partner_values
from bough.run.settling import at_rest

SMALL = 1e-9
"""Forces below this part of the greatest need nobody, N or N.m."""


def settled_system(assembly: Assembly, models: Mapping[str, Path]) -> Assembly:
    """The system with start values at rest.

    Args:
        assembly: The system.
        models: Model files of the components that are mechanisms.

    Raises:
        SimulationError: There is no mechanism whose model file is known, or it has no equilibrium.
    """
    if not models:
        raise SimulationError(
            "to settle a system, the model file of a mechanism is needed, and no component comes from one: run the "
            "system file, not the package or FMUs"
        )
    out, told = assembly, list(assembly.warnings)
    for name, path in models.items():
        component = out.component(name)
        numbers = {key: float(value) for key, value in component.values.items() if not key.startswith("solver.")}
        try:
            rest = at_rest(path, numbers, {link.target[1] for link in out.links if link.target[0] == name})
        except (ArgumentError, SimulationError) as error:
            raise SimulationError(f"component {name}: {error}") from None
        new = {key: value for key, value in rest.values.items() if key in component.interface.variables}
        out = _with(out, name, new)
        most = max((abs(force) for force in rest.forces.values()), default=0.0)
        for hinge, force in rest.forces.items():
            if abs(force) > SMALL * most:
                out, problem = _give(out, (name, hinge), force)
                told += [f"{name}.{hinge} takes {force:.6g} at rest; {problem}"] if problem else []
    return replace(out, warnings=tuple(told))


def _with(assembly: Assembly, name: str, values: Mapping[str, float]) -> Assembly:
    components = tuple(replace(c, values={**c.values, **values}) if c.name == name else c for c in assembly.components)
    return replace(assembly, components=components)


def _give(assembly: Assembly, port: Port, value: float) -> tuple[Assembly, str]:
    """The system in which an input starts with a value; or why that cannot be had."""
    link = next((link for link in assembly.links if link.target == port), None)
    if link is None:
        if port[1] in assembly.component(port[0]).values:
            return assembly, "it is set to something else"
        if _is_hinge(assembly.component(port[0]), port[1]):
            return assembly, "nothing drives it: the hinge begins to move"
        return _with(assembly, port[0], {port[1]: value}), ""
    wanted = (value - link.offset) / link.factor if link.factor else 0.0
    return _command(assembly, link.source, wanted)


def _is_hinge(component: Component, variable: str) -> bool:
    stem = variable.rpartition(".")[0]
    return bool(stem) and any(f"{stem}.{name}" in component.interface.variables for name in ("phi", "s"))


def _command(assembly: Assembly, source: Port, wanted: float) -> tuple[Assembly, str]:
    """The system in which an output of a partner starts with a value."""
    component = assembly.component(source[0])
    index = source[1][len(source[1].partition("[")[0]) :]
    kind, start = partner_values(component.fmu)
    if kind == "model-controller":
        return assembly, ""  # it has the mechanics inside
    if kind == "controller" and source[1] == f"u{index}":
        name = f"u_ff{index}"
        if any(link.target == (component.name, name) for link in assembly.links) or name in component.values:
            return assembly, f"{component.name}.{name} is given already"
        return _with(assembly, component.name, {name: wanted}), ""
    if kind == "motor" and source[1] == f"tau{index}":
        values = {**start, **component.values}
        R, N, eta, Kt, Ka = (float(values[f"{key}{index}"]) for key in ("R", "N", "eta", "Kt", "Ka"))
        per_volt = N * eta * Kt * Ka / R
        if per_volt == 0.0:
            return assembly, f"{component.name} gives no torque"
        return _give(assembly, (component.name, f"u{index}"), wanted / per_volt)
    return assembly, f"{'.'.join(source)} is not a torque of a controller or motor of bough: its start value stays"
