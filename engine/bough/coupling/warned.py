"""What the user of a system is warned of: what is not connected, angles in degrees, steps that are too long."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from bough.coupling.assembly import Assembly, Component, Port
from bough.errors import SimulationError
from bough.partners.facts import Facts, partner_values, read_facts
from bough.text.problems import one_of

ROUNDING = 1e-6
"""Relative difference at which two times count as equal."""
TURN = 6.2832
"""Angle of a partner up to which nothing is said, rad: a turn, in as many digits as people write."""
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def facts_of(component: Component) -> Facts:
    """What is known of a component beyond its description; nothing if another tool has made it."""
    numbers = {k: float(v) for k, v in component.values.items() if not isinstance(v, (str, bytes))}
    return read_facts(component.fmu, numbers)


def loose_inputs(assembly: Assembly) -> list[Port]:
    """Inputs that should have a source, and have none.

    A hinge that nothing drives is a passive one, and a command that is added to a move may stay zero; but a component
    with no source at all has been forgotten.
    """
    unset = [port for port in assembly.open_inputs() if port[1] not in assembly.component(port[0]).values]
    out = []
    for c in assembly.components:
        own = [port for port in unset if port[0] == c.name]
        facts = facts_of(c) if own else None
        if facts is not None and len(own) < len(c.interface.named("input")):
            own = [] if facts.mechanism else [port for port in own if port[1] not in facts.optional]
        out += own
    return out


def disliked(assembly: Assembly, strict: bool = False) -> list[str]:
    """Components whose description a validator dislikes, with all that it says.

    Raises:
        SimulationError: There are some, and they are to be refused.
    """
    out = []
    for c in assembly.components:
        if c.interface.dislikes:
            reasons = "; ".join(c.interface.dislikes)
            out.append(f"component {c.name}, {c.fmu.name}: its description breaks the standard: {reasons}")
    if out and strict:
        raise SimulationError(". ".join([*out, "it is refused, because `strict` is set"]))
    return [f"{text}. It is run nonetheless; `--strict` refuses it" for text in out]


def silent_clocks(assembly: Assembly) -> list[str]:
    """Components with input clocks that only another FMU could tick."""
    out = []
    for c in assembly.components:
        if clocks := c.interface.helped.get("silent"):
            names = ", ".join(f"{name} ({variability})" for name, variability in clocks)
            out.append(
                f"component {c.name}, {c.fmu.name}: nothing ticks its input clocks {names}: their variables stay as "
                "they are. Periodic clocks tick by themselves; other input clocks are not known here"
            )
    return out


def warnings_of(assembly: Assembly, given: Collection[Port] = ()) -> list[str]:
    """All warnings of a system that is about to be packed or run.

    Args:
        assembly: The system.
        given: Inputs that come from outside.
    """
    out = [*assembly.warnings, *disliked(assembly), *silent_clocks(assembly)]
    loose = [port for port in assembly.loose if not _has_value(assembly, port, given)]
    idle = idle_outputs(assembly, given)
    if loose:
        # A line that is missing leaves an input and an output alone: that is one thing to say.
        same = [item for item in idle if not set(item.sinks).isdisjoint(loose)]
        idle = [item for item in idle if item not in same]
        text = f"nothing is connected to {_listed(loose)}: what the FMUs start with stays there"
        out.append(". ".join([text, *map(str, same)]))
    return [*out, *map(str, idle), *two_sides(assembly), *many_turns(assembly), *too_slow(assembly)]


def _has_value(assembly: Assembly, port: Port, given: Collection[Port]) -> bool:
    """Whether an input is given one, from outside or as what it starts with."""
    return port in given or port[1] in assembly.component(port[0]).values


def _listed(ports: Iterable[Port]) -> str:
    return one_of(".".join(port) for port in ports)


@dataclass(frozen=True)
class Idle:
    """A partner that drives nothing.

    Attributes:
        component: Its name.
        outputs: For each axis that drives nothing, the outputs one of which should be connected.
        units: Of those.
        sinks: Inputs that take them, and have no source.
    """

    component: str
    outputs: tuple[tuple[str, ...], ...]
    units: tuple[str, ...]
    sinks: tuple[Port, ...]

    def __str__(self) -> str:
        """A warning with its cure."""
        told = one_of(" or ".join(f"{self.component}.{name}" for name in names) for names in self.outputs)
        verb, it = ("is", "it") if len(self.outputs) == 1 else ("are", "each of them")
        other = f"an input in {' or '.join(self.units)}, or with a `factor` to one in another unit"
        return f"{told} {verb} connected to nothing: connect {it} to {_listed(self.sinks) or other}"


def idle_outputs(assembly: Assembly, given: Collection[Port]) -> list[Idle]:
    """Partners that drive nothing: the torque of a motor or the command of a controller goes nowhere.

    Not so where each input that could take it is given a value: then it is left out on purpose. Nor where the partner
    is alone.
    """
    used = {link.source for link in (*assembly.links, *assembly.carried)}
    out = []
    for c in assembly.components if len(assembly.components) > 1 else ():
        idle = tuple(names for names in facts_of(c).drives if not any((c.name, name) in used for name in names))
        units = {c.interface.variables[name].unit or "" for names in idle for name in names}
        sinks = _sinks(assembly, c, units) if idle else []
        free = tuple(port for port in sinks if not _has_value(assembly, port, given))
        if idle and (free or not sinks):
            out.append(Idle(c.name, idle, tuple(sorted(units)), free))
    return out


def _sinks(assembly: Assembly, source: Component, units: Collection[str]) -> list[Port]:
    """Inputs of other components that no link sets, and that take values in some units of a component."""
    optional = {c.name: facts_of(c).optional for c in assembly.components}
    bases = [source.interface.units[unit].base for unit in units if unit in source.interface.units]
    out = []
    for port in assembly.open_inputs():
        there = assembly.component(port[0])
        unit = there.interface.units.get(assembly.variable(port).unit or "")
        if there is not source and unit is not None and unit.base in bases and port[1] not in optional[port[0]]:
            out.append(port)
    return out


def two_sides(assembly: Assembly) -> list[str]:
    """Warnings of partners that take one side of a gear in a model file for the other one.

    A hinge with a gear has a rotor, and its torque acts there. A motor on it must feel the speed of the rotor and add
    its inertia there; the torque of a controller with a model inside is meant for the hinge.
    """
    out = []
    for link in assembly.links:
        (there, name), (partner, output) = link.target, link.source
        hinge = name.removesuffix(".tau")
        if hinge == name or f"{hinge}.rotor.w" not in assembly.component(there).interface.variables:
            continue
        kind = partner_values(assembly.component(partner).fmu)[0]
        on = f"{there}.{hinge}.tau acts on the rotor, because the hinge has a gear in its model file"
        if kind == "model-controller" and link.factor == 1.0:
            out.append(
                f"{on}; {partner}.{output} is a torque at the hinge: give the connection a `factor`, one over the "
                "gear's ratio"
            )
        if kind == "motor":
            axis = output.removeprefix("tau")
            links = {(each.source, each.target) for each in (*assembly.links, *assembly.carried)}
            if ((there, f"{hinge}.w"), (partner, f"w{axis}")) in links:
                out.append(
                    f"{on}; {partner}.w{axis} is the speed of the hinge, and the motor does not turn with it: connect "
                    f"{there}.{hinge}.rotor.w, and set N = 1 unless the motor has a gear besides"
                )
            if ((partner, f"armature{axis}"), (there, f"{hinge}.armature")) in links:
                out.append(
                    f"{on}; {partner}.armature{axis} goes to the hinge: connect it to {there}.{hinge}.rotor.armature, "
                    "or leave it out where `inertia` of the gear holds the rotor"
                )
    return out


def many_turns(assembly: Assembly) -> list[str]:
    """Warnings of angles of partners that look like degrees. An angle that is measured scaled is not one of a hinge."""
    scaled = {link.target for link in assembly.links if link.factor != 1.0}
    out = []
    for c in assembly.components:
        for name, value in facts_of(c).angles:
            measured = "phi" + name[len(name.partition("[")[0]) :]
            turns = math.ceil(abs(value) / (2 * math.pi)) - 1
            if abs(value) <= TURN or (c.name, measured) in scaled:
                continue
            many = f"{_COUNTS[turns - 1] if turns <= len(_COUNTS) else turns} turn{'s' if turns > 1 else ''}"
            out.append(
                f"{c.name}.{name}: {value:g} rad is more than {many}; angles are in radians, {value:g} deg is "
                f"{math.radians(value):.4g}"
            )
    return out


def too_slow(assembly: Assembly) -> list[str]:
    """Warnings of communication steps that are longer than a component bears. Error control needs none of them."""
    step = assembly.master.step
    if assembly.master.tolerance is not None:
        return []
    out = []
    for c in assembly.components:
        facts = facts_of(c)
        if facts.sample is not None and step > facts.sample * (1.0 + ROUNDING):
            out.append(
                f"component {c.name} samples every {facts.sample:g} s, and the communication step is {step:g} s: "
                f"{step / facts.sample:.3g} samples are taken of inputs that stand still. Choose a step of "
                f"{facts.sample:g} s or a fraction of it (--step, or `step` under `master`), or a longer sample time"
            )
        if facts.lag is not None and step > facts.lag * (1.0 + ROUNDING):
            out.append(
                f"component {c.name} has a time constant of {facts.lag:.3g} s (L/R of its winding), and the "
                f"communication step is {step:g} s: the others see its torque late. Choose a step of {facts.lag:.3g} s "
                "or less (--step, or `step` under `master`), or leave the winding's delay out with L = 0"
            )
    return out
