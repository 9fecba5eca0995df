"""Options of a run against what the system can do."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from bough.coupling.assembly import EXTRAPOLATIONS, ORDERS, Assembly, Component, Port, Value, Variable
from bough.coupling.carry import carry_again
from bough.coupling.outside import Signal, signal
from bough.coupling.ports import power_ports
from bough.errors import SimulationError
from bough.text.problems import one_of

SETTABLE = ("parameter", "input", "structuralParameter")


def checked_master(assembly: Assembly) -> None:
    """Refuse options that do not fit the system.

    Raises:
        SimulationError: The message says which, and what to do.
    """
    master = assembly.master
    if master.order not in ORDERS:
        raise SimulationError(f"order is {master.order!r}; expected {' or '.join(ORDERS)}")
    if master.extrapolation not in EXTRAPOLATIONS:
        raise SimulationError(f"extrapolation is {master.extrapolation!r}; expected one of {', '.join(EXTRAPOLATIONS)}")
    names = [c.name for c in assembly.components]
    if master.sequence and sorted(master.sequence) != sorted(names):
        raise SimulationError(f"sequence is {', '.join(master.sequence)}; expected each of {', '.join(names)} once")
    if master.extrapolation == "energy" and not power_ports(assembly):
        raise SimulationError(
            "extrapolation is 'energy', and the system has no power port: no two components exchange a torque and a "
            "speed of one hinge, with their units. Take 'linear'"
        )
    if master.tolerance is not None:
        _check_control(assembly, master.tolerance)
    count = (master.stop - master.start) / master.step if master.step > 0 else 0.0
    fixed = [c.name for c in assembly.components if not c.interface.variable_steps]
    if fixed and abs(count - round(count)) > 1e-6:
        raise SimulationError(
            f"component {fixed[0]} takes equal communication steps only, and a run of {master.stop - master.start:g} s "
            f"is not a multiple of {master.step:g} s: choose another step or end"
        )


def checked_timeout(seconds: float) -> float:
    """The longest time of a call of an FMU, s; 0 for none.

    Raises:
        SimulationError: It is not a time.
    """
    if not 0.0 <= seconds < math.inf:
        raise SimulationError(f"call_timeout is {seconds!r}; expected seconds, or 0 for no limit")
    return seconds


def _check_control(assembly: Assembly, tolerance: float) -> None:
    if not 0.0 < tolerance < 1.0:
        raise SimulationError(f"tolerance is {tolerance!r}; expected a number between 0 and 1")
    for c in assembly.components:
        if not c.interface.has_states:
            raise SimulationError(
                f"error control repeats steps, and component {c.name} cannot save its state: leave the tolerance out"
            )
        if not c.interface.variable_steps:
            raise SimulationError(
                f"error control changes the step, and component {c.name} takes equal steps only: leave the tolerance "
                "out"
            )


def split(
    assembly: Assembly, inputs: Mapping[str, Any], values: Mapping[str, Value]
) -> tuple[Assembly, dict[Port, Signal]]:
    """Sort what the user gives: values go to their components, inputs become signals.

    Raises:
        SimulationError: There is no such variable, or it cannot be set.
    """
    free = set(assembly.open_inputs())
    signals: dict[Port, Signal] = {}
    for name, given in inputs.items():
        port = find(assembly, name)
        if port not in free:
            known = ", ".join(".".join(p) for p in sorted(free)) or "none"
            raise SimulationError(f"{name} is not a free input; free inputs are: {known}")
        signals[port] = signal(name, assembly.variable(port), given)
    start = _each(assembly, values)
    own = {c.name: {v: x for (name, v), x in start.items() if name == c.name} for c in assembly.components}
    components = tuple(replace(c, values={**c.values, **own[c.name]}) for c in assembly.components)
    return carry_again(replace(assembly, components=components), start), signals


def _each(assembly: Assembly, values: Mapping[str, Value]) -> dict[Port, Value]:
    """Values by variable. One for all elements of a name counts where an element has none of its own."""
    whole: dict[Port, Value] = {}
    single: dict[Port, Value] = {}
    for name, value in values.items():
        ports = find_settable(assembly, name)
        wrong = next((text for port in ports if (text := misfit(assembly.variable(port), value))), None)
        if wrong:
            raise SimulationError(f"{name} is {value!r}; expected {wrong}")
        (single if ".".join(ports[0]) == name else whole).update(dict.fromkeys(ports, value))
    return {**whole, **single}


def find_settable(assembly: Assembly, name: str) -> list[Port]:
    """What a `component.variable` names that can be given a value before the run: a variable, or all its elements.

    Raises:
        SimulationError: There is none, or it cannot be set.
    """
    component, _, variable = name.partition(".")
    there = next((c for c in assembly.components if c.name == component), None)
    elements = [] if there is None or variable.endswith("]") else there.interface.elements(variable)
    if there is None or variable in there.interface.variables or not elements:
        return [_checked(assembly, find(assembly, name))]
    return [_checked(assembly, (component, element)) for element in elements]


def _checked(assembly: Assembly, port: Port) -> Port:
    """A variable that can be given a value before the run; anything else is refused."""
    name = ".".join(port)
    source = next((link.source for link in assembly.links if link.target == port), None)
    if source is not None:
        raise SimulationError(f"{name} cannot be set: a connection sets it, from {'.'.join(source)}")
    reason = unsettable(assembly.component(port[0]), port[1])
    if reason:
        raise SimulationError(f"{name} cannot be set: {reason}{_offer(assembly, port[0])}")
    return port


def other_index(component: Component, variable: str, prefix: str) -> str | None:
    """What to say of a variable that is there with another index only, or without one; None if it is not.

    Args:
        component: Whose variable it should be.
        variable: The name that is not there.
        prefix: What is written before its variables.
    """
    elements = component.interface.elements(variable)
    if elements:
        return f"it has elements: {one_of(prefix + name for name in elements)}"
    bare = variable.partition("[")[0]
    if bare != variable and bare in component.interface.variables:
        return f"it has no index: {prefix}{bare}"
    return None


def settable(component: Component) -> list[str]:
    """Variables that can be given a value before the run, parameters first: there are fewer of them than of states."""
    names = [name for name in component.interface.variables if unsettable(component, name) is None]
    return sorted(names, key=lambda name: component.interface.variables[name].causality not in ("parameter", "input"))


def misfit(variable: Variable, value: object) -> str | None:
    """What is expected of a value that a variable cannot take, or None if it can."""
    if variable.kind in ("string", "binary"):
        kind: type = str if variable.kind == "string" else bytes
        return None if isinstance(value, kind) else "a text" if variable.kind == "string" else "bytes"
    if isinstance(value, (str, bytes)) or not isinstance(value, (int, float, bool)):
        return "a number"
    if isinstance(value, int):  # a float would round those of 64 bits
        low, high = variable.minimum, variable.maximum
        return (
            None if (low is None or value >= low) and (high is None or value <= high) else out_of_range(variable, value)
        )
    return out_of_range(variable, float(value))


def out_of_range(variable: Variable, value: float) -> str | None:
    """What is expected of a value that is outside of the variable's range, or None if it is inside."""
    low, high = variable.minimum, variable.maximum
    if (low is None or value >= low) and (high is None or value <= high):
        return None
    unit = f" {variable.unit}" if variable.unit and variable.unit != "1" else ""
    return " and ".join(f"{word} {x:g}{unit}" for word, x in (("at least", low), ("at most", high)) if x is not None)


def unsettable(component: Component, variable: str) -> str | None:
    """Why a variable cannot be given a value before the run, or None if it can."""
    v = component.interface.variables[variable]
    if v.size != 1 or v.kind == "clock":
        return "it is a clock" if v.kind == "clock" else "it is an array"
    if v.variability == "constant":
        return "it is a constant"
    if v.causality in SETTABLE or v.initial in ("exact", "approx"):
        return None
    return f"it is a calculated {v.causality}"


def find(assembly: Assembly, name: str) -> Port:
    """Component and variable of `component.variable`.

    Raises:
        SimulationError: There is none; the message says what is there that can be set.
    """
    component, _, variable = name.partition(".")
    names = [c.name for c in assembly.components]
    if component not in names:
        close = _closest(component, names)
        known = f"; did you mean '{close}.{variable}'?" if close else f"; there are: {', '.join(names)}"
        raise SimulationError(f"there is no component {component!r}{known}")
    there = assembly.component(component)
    if variable not in there.interface.variables:
        other = other_index(there, variable, f"{component}.")
        if other is not None:
            raise SimulationError(f"component {component} has no {variable!r}; {other}")
        fitting = settable(there)
        whole = [] if variable.endswith("]") else [name.partition("[")[0] for name in fitting]
        close = _closest(variable, [*fitting, *whole]) or _closest(variable, there.interface.variables)
        meant = f"; did you mean '{component}.{close}'?" if close else ""
        raise SimulationError(f"component {component} has no {variable!r}{meant}{_offer(assembly, component)}")
    return component, variable


def _offer(assembly: Assembly, component: str) -> str:
    """What can be set in a component, to end a message with."""
    taken = {link.target for link in assembly.links}
    names = [name for name in settable(assembly.component(component)) if (component, name) not in taken]
    return f"\n  In {component} you can set: {one_of(names) or 'nothing'}"


def _closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like this one, if any does."""
    names = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower()[:200], names, n=1, cutoff=0.6)
    return names[close[0]] if close else None


def hint(name: str, known: Iterable[str]) -> str:
    """A suggestion to end a message with."""
    names = list(known)
    close = _closest(name, names)
    return f"; did you mean {close!r}?" if close else f"; there are: {one_of(names)}"
