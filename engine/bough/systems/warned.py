"""What the user of a system is warned of: inputs without a source, steps too long for what happens in between."""

from __future__ import annotations

from collections.abc import Collection

from bough.model.report import one_of
from bough.partners.facts import Facts, read_facts
from bough.systems.structure import Assembly, Component, Port

ROUNDING = 1e-6
"""Relative difference at which two times count as equal."""


def facts_of(component: Component) -> Facts:
    """What is known of a component beyond its description; nothing if another tool has made it."""
    return read_facts(component.fmu, component.values)


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


def warnings_of(assembly: Assembly, given: Collection[Port] = ()) -> list[str]:
    """All warnings of a system that is about to be packed or run.

    Args:
        assembly: The system.
        given: Inputs that come from outside.
    """
    out = list(assembly.warnings)
    loose = [f"{c}.{v}" for c, v in assembly.loose if (c, v) not in given and v not in assembly.component(c).values]
    if loose:
        out.append(f"nothing is connected to {one_of(loose)}: what the FMUs start with stays there")
    return [*out, *too_slow(assembly)]


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
