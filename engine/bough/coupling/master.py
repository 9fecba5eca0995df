"""The master: takes a system of FMUs from one communication point to the next.

At t_n every input agrees with its source, along direct dependencies (exchange.py). During the step [t_n, t_n + h] an
input u cannot know its source y; what it does instead decides the order of the coupling:

    constant   u = y_n                                             error of a run O(h)
    linear     u = y_n + (t - t_n) (y_n - y_{n-1}) / h             error of a run O(h^2)
    energy     u = y_n + D_n / h,  D_{n+1} = D_n + int (y - u) dt   error of a run O(h^2); at power ports

D is what an input still owes its source: with a torque as y it is angular momentum, with a speed an angle. It is paid
back in the following step, so that momentum and angle, and with them the energy that passes a port, balance up to one
step (after Sadjina and Pedersen, "Energy conservation and coupling error reduction in non-iterative co-simulations",
Engineering with Computers 36 (2020), 1579-1587). The integral is taken by the trapezoidal rule. In the order of
Gauss-Seidel y_{n+1} of components that have stepped is known: constant takes it, linear and energy go towards it.

An FMU that takes derivatives of its inputs gets the line; any other one its mean, which moves the state by as much up
to O(h^3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from bough.coupling.assembly import Assembly
from bough.coupling.exchange import Channels, Exchange
from bough.coupling.graph import sequence
from bough.coupling.ports import EnergyMeter, power_ports
from bough.coupling.slave import Channel, Slave
from bough.coupling.warned import facts_of
from bough.errors import SimulationError
from bough.partners.facts import SAMPLE_SLACK
from bough.run.result import Array

SMALLEST = 2.0**-20
"""Least step of the error control, in communication steps; shorter ones are taken as they are."""
SAFETY, SHRINK, GROW = 0.9, 0.2, 2.0
FLOOR = 1e-3
"""An exchanged value counts as at least so large, in nominal values, when its error is judged."""


@dataclass(frozen=True)
class _Feed:
    """How one component gets its inputs.

    Attributes:
        slave: The FMU.
        links: Links into it.
        channel: Their targets.
        known: Links into it whose sources have stepped before it.
        sources: What reads those.
        smooth: For each link, whether it may be continued over the step: a continuous real value.
        slopes: References of the inputs that take a derivative, with their place in `links`.
    """

    slave: Slave
    links: tuple[int, ...]
    channel: Channel
    known: frozenset[int]
    sources: Channels
    smooth: tuple[bool, ...]
    slopes: tuple[tuple[int, int], ...]


class Coupling:
    """A system of initialized FMUs at a communication point.

    Attributes:
        time: Of the communication point, s.
        steps: Steps taken.
        rejected: Steps taken back by the error control.
        meter: Energy that has passed the power ports.
    """

    def __init__(self, assembly: Assembly, slaves: Mapping[str, Slave], exchange: Exchange) -> None:
        """Begin at the start of the run, where the exchange has been done."""
        self._assembly, self._slaves, self._exchange = assembly, slaves, exchange
        master = assembly.master
        self._mode = master.extrapolation
        self._order = 1 if self._mode == "constant" else 2
        self.time = master.start
        self.steps = self.rejected = 0
        self.meter = EnergyMeter(power_ports(assembly))
        count = len(assembly.links)
        self._before: Array = exchange.values.copy()
        self._h_before = 0.0
        self._debt: Array = np.zeros(count)
        self._in_port = np.zeros(count, dtype=bool)
        for port in self.meter.ports:
            self._in_port[[port.effort, port.flow]] = True
        self._continuous = [self._is_smooth(i) for i in range(count)]
        self._nominal = np.array([FLOOR * assembly.variable(link.target).nominal for link in assembly.links])
        self._peak: Array = np.abs(exchange.values)
        self._h = master.step
        controlled = assembly.components if master.tolerance is not None else ()
        self._samples = {sample for c in controlled if (sample := facts_of(c).sample) is not None}
        self._feeds = self._plan()

    def _is_smooth(self, link: int) -> bool:
        ends = (self._assembly.links[link].source, self._assembly.links[link].target)
        return all(v.kind == "real" and v.variability == "continuous" for v in map(self._assembly.variable, ends))

    def _plan(self) -> list[_Feed]:
        assembly, links = self._assembly, self._assembly.links
        names = list(assembly.master.sequence) or sequence(assembly)
        one_by_one = assembly.master.order == "gauss-seidel"
        feeds: list[_Feed] = []
        done: set[str] = set()
        for name in names:
            into = tuple(i for i, link in enumerate(links) if link.target[0] == name)
            known = [i for i in into if links[i].source[0] in done] if one_by_one else []
            variables = [assembly.variable(links[i].target) for i in into]
            smooth = tuple(self._continuous[i] for i in into)
            takes = self._mode == "linear" and assembly.component(name).interface.interpolates
            slopes = tuple((v.reference, k) for k, v in enumerate(variables) if takes and smooth[k])
            slave = self._slaves[name]
            sources = self._exchange.sources(known)
            feeds.append(_Feed(slave, into, Channel(slave, variables), frozenset(known), sources, smooth, slopes))
            done.add(name)
        return feeds

    # ---- one step

    def step_to(self, time: float, size: float) -> None:
        """Go on to the next communication point.

        Args:
            time: The point, s.
            size: Nominal length of the step, for FMUs that know no other.
        """
        if self._assembly.master.tolerance is None:
            self._advance(time, size, keep=False)
        else:
            self._controlled(time, self._assembly.master.tolerance)

    def _advance(self, end: float, size: float | None, keep: bool) -> None:
        """One communication step. `size` goes to FMUs with equal steps; None: no such FMU is there."""
        exchange, begin = self._exchange, self.time
        h = end - begin
        now = exchange.values.copy()
        used = np.stack([now, now], axis=1)
        for outside in exchange.outside:
            outside.over(begin, end, held=self._mode == "constant")
        for feed in self._feeds:
            exchange.read(feed.sources, end)
            self._feed(feed, now, used, h)
            fixed = not feed.slave.component.interface.variable_steps
            feed.slave.step(begin, size if fixed and size is not None else h, keep)
            if feed.known or self._mode != "constant":
                # What an output that depends directly on an input is at the end of the step.
                feed.channel.set([self._line(feed, k, now, h)[1] for k in range(len(feed.links))])
        exchange(end)
        self._debt += h * ((now + exchange.values) / 2 - used.mean(axis=1))
        self.meter.add(h, used, np.stack([now, exchange.values], axis=1))
        self._before, self._h_before, self.time = now, h, end
        self.steps += 1

    def _feed(self, feed: _Feed, now: Array, used: Array, h: float) -> None:
        """Set the inputs of one component for a step."""
        if not feed.links:
            return
        values = []
        slopes = {k for _, k in feed.slopes}
        for k, i in enumerate(feed.links):
            line = self._line(feed, k, now, h)
            mean = (line[0] + line[1]) / 2
            used[i] = line if k in slopes else (mean, mean)
            values.append(float(used[i, 0]))
        if self._mode != "constant" or feed.known:
            feed.channel.set(values)
        if feed.slopes:
            rates = [float(used[feed.links[k], 1] - used[feed.links[k], 0]) / h for _, k in feed.slopes]
            feed.slave.set_derivatives([reference for reference, _ in feed.slopes], rates)

    def _line(self, feed: _Feed, k: int, now: Array, h: float) -> tuple[float, float]:
        """What an input does during a step: its values at the beginning and at the end."""
        i = feed.links[k]
        known = i in feed.known
        y0, y1 = float(now[i]), float(self._exchange.values[i])
        if not feed.smooth[k]:  # a sample is taken of what is there when the step begins
            return y0, y0
        if self._mode == "linear":
            if not known:
                y1 = y0 + h * (y0 - float(self._before[i])) / self._h_before if self._h_before else y0
            return y0, y1
        if self._mode == "energy" and self._in_port[i]:
            mean = (y0 + y1) / 2 if known else y0
            owed = float(self._debt[i]) / max(h, self._h_before)
            return mean + owed, mean + owed
        return (y1, y1) if known else (y0, y0)

    # ---- error control

    def _controlled(self, target: float, tolerance: float) -> None:
        """Steps whose error, by doubling, stays below the tolerance, up to a communication point."""
        least = SMALLEST * self._assembly.master.step
        while self.time < target:
            stop = self._next_stop(target)
            left = stop - self.time
            h = left if left < 1.01 * self._h else self._h if left > 2 * self._h else left / 2
            begin, saved = self.time, self._save()
            try:
                self._advance(stop if h == left else begin + h, None, keep=True)
                coarse = self._exchange.values.copy()
                end = self.time
                self._restore(saved)
                self._advance(begin + h / 2, None, keep=True)
                self._advance(end, None, keep=True)
                error = self._error(coarse) / tolerance
                factor = SAFETY * error ** (-1 / (self._order + 1)) if error > 0.0 else GROW
                if error > 1.0 and h > least:
                    self._restore(saved)
                    self.rejected += 1
                    self._h = h * min(0.7, max(SHRINK, factor))
                    continue
                self._peak = np.maximum(self._peak, np.abs(self._exchange.values))
                if h == self._h or factor < 1.0:
                    self._h = min(h * min(GROW, max(SHRINK, factor)), self._assembly.master.step)
            finally:
                self._forget(saved)

    def _next_stop(self, target: float) -> float:
        """The communication point, or a sample before it: across one, a jump that is meant would look like an error."""
        start, stops = self._assembly.master.start, [target]
        for sample in self._samples:
            at = start + (math.floor((self.time - start) / sample + SAMPLE_SLACK) + 1) * sample
            if at < target - SAMPLE_SLACK * sample:
                stops.append(at)
        return min(stops)

    def _error(self, coarse: Array) -> float:
        """Error of the two half steps, relative to the largest value that each link has had so far."""
        smooth = np.array(self._continuous, dtype=bool)
        if not smooth.any():
            return 0.0
        scale = np.maximum(np.maximum(self._peak, np.abs(self._exchange.values)), self._nominal)
        difference = np.abs(self._exchange.values - coarse) / (scale * (2.0**self._order - 1))
        return float(np.max(difference[smooth]))

    def _save(self) -> dict[str, Any]:
        return {
            "states": [(slave, slave.save(), slave.time) for slave in self._slaves.values()],
            "values": self._exchange.values.copy(),
            "own": (self.time, self.steps, self._before, self._h_before, self._debt.copy()),
            "energy": (list(self.meter.taken), list(self.meter.given)),
        }

    def _restore(self, saved: Mapping[str, Any]) -> None:
        for slave, state, time in saved["states"]:
            slave.restore(state)
            slave.time = time
        self._exchange.values[:] = saved["values"]
        self._exchange.forget()
        self.time, self.steps, self._before, self._h_before, debt = saved["own"]
        self._debt = debt.copy()
        self.meter.taken, self.meter.given = (list(part) for part in saved["energy"])

    @staticmethod
    def _forget(saved: Mapping[str, Any]) -> None:
        for slave, state, _ in saved["states"]:
            slave.forget(state)


def communication_points(start: float, stop: float, step: float) -> Sequence[float]:
    """Times start + i step, and the end.

    Each is the number nearest to what the decimals of start and step make, computed without adding up: 2002 steps of
    0.001 s are 2.002 s, where a product of binary numbers is 2.0020000000000002 s.

    Raises:
        SimulationError: There would be none, or too many.
    """
    if not (np.isfinite(start) and np.isfinite(stop) and stop > start):
        raise SimulationError(f"the run ends at {stop!r} s and begins at {start!r} s: expected a later end")
    if not (np.isfinite(step) and step > 0.0):
        raise SimulationError(f"the communication step is {step!r} s: expected more than 0")
    count = (stop - start) / step
    if count > MOST_STEPS:
        raise SimulationError(f"{count:.3g} communication steps; at most {MOST_STEPS} are taken: choose a longer step")
    whole = int(np.ceil(count - 1e-9 * max(1.0, count)))
    begin, size = Fraction(repr(float(start))), Fraction(repr(float(step)))
    scale = math.lcm(begin.denominator, size.denominator)
    first, each = int(begin * scale), int(size * scale)
    # A quotient of two whole numbers is rounded once, however large they are.
    return [*((first + i * each) / scale for i in range(max(whole, 1))), stop]


MOST_STEPS = 100_000_000
