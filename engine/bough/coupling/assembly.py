"""What a system is made of: components with their variables, links between them, and how it is to be run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

Value: TypeAlias = float | int | bool | str | bytes
Port: TypeAlias = tuple[str, str]
"""Component and variable."""

_INDEX = re.compile(r"\[[\d,]+\]$")
ORDERS = ("jacobi", "gauss-seidel")
EXTRAPOLATIONS = ("constant", "linear", "energy")
POWER = (1, 2, -3, 0, 0, 0, 0, 0)
"""Exponents of a power, W, in the order of `Unit.base`."""


@dataclass(frozen=True)
class Unit:
    """A unit by its definition in SI base units: value in SI = factor * value + offset.

    Attributes:
        base: Exponents of kg, m, s, A, K, mol, cd, rad.
        factor: For instance pi / 180 for deg.
        offset: For instance 273.15 for degC.
    """

    base: tuple[int, ...]
    factor: float = 1.0
    offset: float = 0.0

    def to(self, other: Unit) -> tuple[float, float]:
        """Factor and offset that turn a value of this unit into one of the other, which has the same dimension."""
        return self.factor / other.factor, (self.offset - other.offset) / other.factor


@dataclass(frozen=True)
class Variable:
    """A variable of an FMU.

    Attributes:
        name: As in the FMU; elements of an array are `name[1]`...
        kind: 'real', 'integer', 'boolean', 'string', 'binary' or 'clock'.
        fmi_type: As FMPy calls it: Real, Float64, Int32...
        causality: input, output, parameter, calculatedParameter, local...
        variability: constant, fixed, tunable, discrete or continuous.
        initial: exact, approx, calculated or None.
        reference: Value reference.
        unit: Name of the unit, or None.
        size: Number of elements; 1 for a scalar.
        nominal: Size of typical values.
        minimum: Least value allowed, or None.
        maximum: Greatest value allowed, or None.
        items: Of an enumeration: its values by their names.
    """

    name: str
    kind: str
    fmi_type: str
    causality: str
    variability: str
    initial: str | None
    reference: int
    unit: str | None = None
    size: int = 1
    nominal: float = 1.0
    minimum: float | None = None
    maximum: float | None = None
    items: Mapping[str, int] = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """Whether it is one number: no array, no text, no bytes, no clock."""
        return self.size == 1 and self.kind in ("real", "integer", "boolean")

    @property
    def exact(self) -> bool:
        """Whether a float64 holds all its values, so that a link may carry it as one."""
        return self.plain and self.fmi_type not in ("Int64", "UInt64")


@dataclass(frozen=True)
class Interface:
    """What the description of an FMU says of it.

    Attributes:
        model: Its name.
        fmi: Major version of the standard, 2 or 3.
        identifier: Stem of the binary's name.
        token: GUID or instantiation token.
        variables: By name.
        units: Definitions by name.
        feedthrough: Inputs that each output depends on directly.
        feedthrough_at_start: The same while initializing.
        has_states: Whether the FMU's state can be saved and restored.
        variable_steps: Whether communication steps may differ.
        interpolates: Whether it takes derivatives of inputs (FMI 2).
        log_categories: Of the messages that it can give.
        dislikes: What a validator dislikes in its description.
        helped: What it needs to step where it does not by itself, as `loaded.Loaded.load` takes it: a solver for
            Model Exchange, ticks for clocks. Empty for most.
    """

    model: str
    fmi: int
    identifier: str
    token: str
    variables: Mapping[str, Variable]
    units: Mapping[str, Unit]
    feedthrough: Mapping[str, frozenset[str]]
    feedthrough_at_start: Mapping[str, frozenset[str]]
    has_states: bool = False
    variable_steps: bool = True
    interpolates: bool = False
    log_categories: tuple[str, ...] = ()
    dislikes: tuple[str, ...] = ()
    helped: Mapping[str, Any] = field(default_factory=dict)

    def named(self, *causalities: str) -> list[Variable]:
        """Variables of some causalities, in the order of the description."""
        return [v for v in self.variables.values() if v.causality in causalities]

    def elements(self, name: str) -> list[str]:
        """Variables `name[1]`, `name[2]`... of a name without an index, or with a wrong one."""
        pattern = re.compile(re.escape(_INDEX.sub("", name)) + _INDEX.pattern)
        return [known for known in self.variables if pattern.fullmatch(known)]


@dataclass(frozen=True)
class Component:
    """An FMU in a system, with the values that are set before it starts."""

    name: str
    fmu: Path
    interface: Interface
    values: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Link:
    """A connection: value of target = factor * value of source + offset."""

    source: Port
    target: Port
    factor: float = 1.0
    offset: float = 0.0

    def __str__(self) -> str:
        """As in the system file."""
        return f"{'.'.join(self.source)} -> {'.'.join(self.target)}"


@dataclass(frozen=True)
class Master:
    """How a system is run.

    Attributes:
        step: Communication step, s.
        stop: End of the run, s.
        start: Its beginning, s.
        order: 'jacobi': all components step with what was known at the last communication point; 'gauss-seidel': one
            after the other, each with what those before it have found.
        sequence: Components in the order of Gauss-Seidel; empty: found from the connections.
        extrapolation: What an input does between communication points: 'constant' holds it, 'linear' continues it,
            'energy' holds it at a value that pays back what the last step missed at torque/speed ports.
        tolerance: Relative error of a step at which the step is chosen; None for equal steps.
    """

    step: float = 1e-3
    stop: float = 1.0
    start: float = 0.0
    order: str = "jacobi"
    sequence: tuple[str, ...] = ()
    extrapolation: str = "constant"
    tolerance: float | None = None


@dataclass(frozen=True)
class Assembly:
    """A whole system: what the system file and the SSP package both describe.

    Attributes:
        name: Of the system.
        components: Its FMUs.
        links: Connections that carry values while it runs.
        master: How it is run.
        warnings: What its user had better know.
        carried: Connections of the system file that became the value of a parameter, and no link. Of a package that
            bough has not written none are known.
        loose: Inputs that should have a source, and have none. Empty for a package: who made it has been told.
        wide: Connections of arrays, texts, bytes and 64-bit integers: they are moved as they are, and held over a step.
        models: Model files of the components that are mechanisms and were built from them.
    """

    name: str
    components: tuple[Component, ...]
    links: tuple[Link, ...]
    master: Master = Master()
    warnings: tuple[str, ...] = ()
    carried: tuple[Link, ...] = ()
    loose: tuple[Port, ...] = ()
    wide: tuple[Link, ...] = ()
    models: Mapping[str, Path] = field(default_factory=dict)

    def component(self, name: str) -> Component:
        """The component of a name."""
        return next(c for c in self.components if c.name == name)

    def with_links(self, links: Iterable[Link]) -> Assembly:
        """The same with these connections: numbers as links, everything else as wide ones."""
        found = list(links)
        wide = [link for link in found if not (self.variable(link.source).exact and self.variable(link.target).exact)]
        return replace(self, links=tuple(x for x in found if x not in wide), wide=tuple(wide))

    def variable(self, port: Port) -> Variable:
        """The variable at an end of a link."""
        return self.component(port[0]).interface.variables[port[1]]

    def open_inputs(self) -> list[Port]:
        """Inputs that no link sets and that take a number: no arrays, no texts."""
        taken = {link.target for link in (*self.links, *self.wide)}
        inputs = ((c.name, v) for c in self.components for v in c.interface.named("input"))
        free = ((name, v.name) for name, v in inputs if v.plain)
        return [port for port in free if port not in taken]
