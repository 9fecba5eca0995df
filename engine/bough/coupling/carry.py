"""Connections to parameters: the source is initialized, and what it is then becomes the parameter's value."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bough.coupling.assembly import Assembly, Component, Link, Port, Value, Variable
from bough.coupling.slave import Channel, Slave


def carried_value(link: Link, source: Component) -> Value:
    """What a connection to a parameter sets it to.

    Raises:
        SimulationError: The source cannot be run here.
    """
    variable = source.interface.variables[link.source[1]]
    value = initial_value(source, variable)
    return link.factor * float(value) + link.offset if variable.kind == "real" else value


def carry_again(assembly: Assembly, changed: Collection[Port]) -> Assembly:
    """A system some of whose values have been changed, with the parameters that follow from them.

    Args:
        assembly: With the changed values.
        changed: What has been set: the sources of parameters are read again, and a parameter among them stays.

    Raises:
        SimulationError: A source cannot be run here.
    """
    components = {c.name: c for c in assembly.components}
    touched = {name for name, _ in changed}
    for link in assembly.carried:
        (source, _), (name, variable) = link.source, link.target
        if source not in touched or link.target in changed:
            continue
        target, value = components[name], carried_value(link, components[source])
        if target.values.get(variable) != value:
            components[name] = replace(target, values={**target.values, variable: value})
            touched.add(name)
    return replace(assembly, components=tuple(components.values()))


def initial_value(component: Component, variable: Variable) -> Value:
    """What a variable is after initialization.

    Raises:
        SimulationError: The FMU cannot be run here.
    """
    if variable.name in component.values:
        return component.values[variable.name]
    with TemporaryDirectory(prefix="bough-", ignore_cleanup_errors=True) as scratch:
        slave = Slave(component, Path(scratch))
        try:
            slave.enter_initialization(0.0, 1.0, None)
            slave.exit_initialization()
            found = Channel(slave, [variable]).get()[0]
        finally:
            slave.free()
    return found if variable.kind == "real" else bool(found) if variable.kind == "boolean" else round(found)
