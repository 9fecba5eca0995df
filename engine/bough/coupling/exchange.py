"""Values at one instant: outputs travel along the links until every input agrees with its source."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from bough.coupling.assembly import Assembly, Link, Port
from bough.coupling.graph import Stage, names_of, stages
from bough.coupling.outside import Outside, Signal
from bough.coupling.slave import Channel, Failure, Slave
from bough.run.result import Array

ITERATIONS = 200
"""Rounds through an algebraic loop before it is given up."""
AGREE = 1e-12
"""Change of a value, relative to the largest it has had in this loop, at which an algebraic loop has converged."""


Channels: TypeAlias = list[tuple[list[int], Channel]]
"""Links by component, with what reads or writes their ends there."""


@dataclass(frozen=True)
class _Plan:
    """A stage with the channels that it needs."""

    stage: Stage
    sources: Channels
    targets: Channels


class Exchange:
    """The links of a system between running FMUs.

    Attributes:
        values: What each link carries, in the unit of its target, (links,).
    """

    def __init__(self, assembly: Assembly, slaves: Mapping[str, Slave], inputs: Mapping[Port, Signal]) -> None:
        """Plan the order of reading and writing.

        Args:
            assembly: The system.
            slaves: Its FMUs, by component.
            inputs: Inputs from outside.
        """
        self.links = assembly.links
        self.values: Array = np.zeros(len(assembly.links))
        self._slaves = slaves
        self._assembly = assembly
        self._start = [self._plan(stage) for stage in stages(assembly, at_start=True)]
        self._run = [self._plan(stage) for stage in stages(assembly, at_start=False)]
        groups: dict[str, dict[str, Signal]] = {}
        for (name, variable), given in inputs.items():
            groups.setdefault(name, {})[variable] = given
        self.outside = [Outside(slaves[name], signals) for name, signals in groups.items()]
        self._wide = [self._wire(link) for link in assembly.wide]
        self._carried: list[list[Any]] = [[] for _ in assembly.wide]

    def _wire(self, link: Link) -> tuple[Channel, Channel]:
        """What reads and what sets the ends of a wide link."""
        ends = ((self._slaves[port[0]], self._assembly.variable(port)) for port in (link.source, link.target))
        source, target = (Channel(slave, [variable]) for slave, variable in ends)
        return source, target

    def _plan(self, stage: Stage) -> _Plan:
        return _Plan(stage, self.sources(stage.links), self.targets(stage.links))

    def sources(self, links: Sequence[int]) -> Channels:
        """Links by the component that they read, each with the channel of its outputs."""
        return self._channels(links, [link.source for link in self.links])

    def targets(self, links: Sequence[int]) -> Channels:
        """Links by the component that they set, each with the channel of its inputs."""
        return self._channels(links, [link.target for link in self.links])

    def _channels(self, links: Sequence[int], ends: Sequence[Port]) -> Channels:
        groups: dict[str, list[int]] = {}
        for i in links:
            groups.setdefault(ends[i][0], []).append(i)
        return [
            (group, Channel(self._slaves[name], [self._assembly.variable(ends[i]) for i in group]))
            for name, group in groups.items()
        ]

    def __call__(self, time: float, at_start: bool = False) -> None:
        """Bring every input up to its source, in the order of direct dependencies.

        Raises:
            Failure: A value is not finite, or an algebraic loop does not converge.
        """
        for outside in self.outside:
            outside.at(time)
        for _ in range(ITERATIONS):
            for plan in self._start if at_start else self._run:
                if plan.stage.loop:
                    self._solve(plan, time)
                else:
                    self._move(plan, time)
            if not self._move_wide():
                return
        names = names_of(self._assembly.wide)
        raise Failure(f"algebraic loop at t = {time:.9g} s: {names} still change after {ITERATIONS} rounds")

    def forget(self) -> None:
        """FMUs are back at an earlier state: what wide links have carried since is not there any more."""
        self._carried = [[] for _ in self._wide]

    def _move_wide(self) -> bool:
        """Move arrays, texts, bytes and 64-bit integers as they are; whether one of them has changed."""
        changed = False
        for i, (source, target) in enumerate(self._wide):
            values = source.take()
            if values != self._carried[i]:
                target.set(values)
                self._carried[i], changed = values, True
        return changed

    def read(self, sources: Channels, time: float) -> None:
        """Values of some links from their sources, without setting the targets."""
        for group, channel in sources:
            self._take(group, channel, time)

    def _move(self, plan: _Plan, time: float) -> None:
        self.read(plan.sources, time)
        for group, channel in plan.targets:
            channel.set([float(self.values[i]) for i in group])

    def _take(self, group: Sequence[int], channel: Channel, time: float) -> None:
        for i, value in zip(group, channel.get(), strict=True):
            link = self.links[i]
            self.values[i] = link.factor * value + link.offset
            if not math.isfinite(self.values[i]):
                name, variable = link.source
                raise Failure(f"component {name} failed at t = {time:.9g} s: its output {variable} is {value!r}")

    def _solve(self, plan: _Plan, time: float) -> None:
        """Fixed-point iteration: converges if going round the loop shrinks a difference."""
        group = list(plan.stage.links)
        largest = np.zeros(len(group))
        change = math.inf
        for _ in range(ITERATIONS):
            before = self.values[group].copy()
            self._move(plan, time)
            largest = np.maximum(largest, np.abs(self.values[group]))
            change = float(np.max(np.abs(self.values[group] - before)))
            if np.all(np.abs(self.values[group] - before) <= AGREE * largest):
                return
        loop = names_of([self.links[i] for i in group])
        raise Failure(
            f"algebraic loop at t = {time:.9g} s: after {ITERATIONS} rounds the values still change by {change:.3g}. "
            f"It runs through {loop}. Break it with a state (a filter, the motor's inductance) or a sampled component."
        )
