"""A partner at work, in Python: what the FMU in Python runs, and what tests compare the native library with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from bough.errors import SimulationError
from bough.mechanism.threads import OneThread, one_thread
from bough.partners.shapes import COUNT_MOST, SAMPLES_MOST


class PartnerRun(ABC):
    """Values, memory and clock of a partner.

    Attributes:
        value: Numbers by quantity, one per axis. `set` inputs, write parameters, `evaluate`, read outputs.
        memory: What it remembers from one step to the next.
        time: s.
        start_time: s; samples are counted from here.
        touched: Whether inputs have been set since the last step. A sample that is due is shown from then on: before,
            it would be made of new references and old measurements.
    """

    def __init__(self, value: dict[str, list[float]], axes: int, memory: Sequence[float]) -> None:
        """Begin with these values."""
        self.value, self.axes, self.memory = value, axes, list(memory)
        self.time = self.start_time = 0.0
        self.touched = True
        self._one_thread = OneThread("partner")

    @abstractmethod
    def evaluate(self) -> None:
        """Outputs for the present inputs, parameters and memory."""

    @abstractmethod
    def advance(self, end: float) -> None:
        """Memory to time `end`, s, with the inputs held; `time` stays until `step` sets it."""

    @one_thread
    def step(self, end: float) -> None:
        """On to time `end`, s.

        Raises:
            SimulationError: The step cannot be finished; nothing has moved.
        """
        self.advance(end)
        self.time, self.touched = end, False

    def set(self, **inputs: Sequence[float]) -> None:
        """Inputs of this instant, by quantity."""
        for name, numbers in inputs.items():
            self.value[name][:] = [float(x) for x in numbers]
        self.touched = True

    def shared(self, name: str, axis: int) -> float:
        """Value for an axis, also where all axes share one."""
        numbers = self.value[name]
        return numbers[0 if len(numbers) == 1 else axis]

    def check_samples(self, end: float, sample: float, most: float = SAMPLES_MOST) -> None:
        """Refuse a step with more samples than anybody means; the first number in memory is that of the next sample."""
        count = self.memory[0]
        if not (end - (self.start_time + count * sample) < most * sample and count + most < COUNT_MOST):
            raise SimulationError(
                f"a step from {self.time:.9g} s to {end:.9g} s holds more than {most:.0f} samples of {sample:g} s. "
                "Cure: shorter communication steps, or a longer 'sample'."
            )
