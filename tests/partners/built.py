"""Partners of these tests: their FMUs unpacked for this machine, called through the class of tests/fmu."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from fmu.fmi import Fmu, Instance

import bough.mechanism.instance
from bough.demo import MODEL
from bough.fmu.package import find_binary, native_platform
from bough.partners import describe_partner
from bough.partners.partner_fmu import partner_files, partner_name
from bough.partners.quantity import Partner, variable_table

VERSIONS = ("2.0", "3.0")


def described(kind: str, axes: int = 1, **values: Any) -> Partner:
    """A partner; a model-controller is that of the two-link arm."""
    return describe_partner(kind, axes, values, MODEL if kind == "model-controller" else None)


def unpack(partner: Partner, fmi: str, folder: Path) -> Fmu:
    """Write a partner's FMU into a folder as a master unpacks it."""
    files = partner_files(partner, fmi)
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    library = folder / "binaries" / f"{partner_name(partner)}.so"
    library.parent.mkdir(exist_ok=True)
    library.write_bytes(find_binary(native_platform(), fmi))
    found = re.search(r'(?:guid|instantiationToken)="([^"]+)"', files["modelDescription.xml"].decode())
    assert found is not None
    return Fmu(fmi, folder, library, found[1], {v.name: i for i, v in enumerate(variable_table(partner))})


def instance(folder: Path, kind: str, fmi: str = "2.0", axes: int = 1, **values: Any) -> Instance:
    """An instance of a native partner."""
    return Instance(unpack(described(kind, axes, **values), fmi, folder))


class AtWork:
    """A partner in C, called from Python by quantities: one number per axis."""

    def __init__(self, partner: Partner) -> None:
        self.it = bough.mechanism.instance.Instance(partner_files(partner, "2.0")["resources/model.bough"], "partner")
        self.it.initialize()
        self.places: dict[str, bough.mechanism.instance.Place] = {}

    def _place(self, quantity: str) -> bough.mechanism.instance.Place:
        if quantity not in self.places:
            names = [v.name for v in self.it.variables if v.name.split("[")[0] == quantity]
            self.places[quantity] = self.it.place(*names)
        return self.places[quantity]

    def __getitem__(self, quantity: str) -> list[float]:
        return self.it.read(self._place(quantity)).tolist()

    def set(self, **numbers: Any) -> None:
        for quantity, values in numbers.items():
            names = [v.name for v in self.it.variables if v.name.split("[")[0] == quantity]
            self.it.set_all(dict(zip(names, values, strict=True)))

    @property
    def time(self) -> float:
        return self.it.time

    def step(self, end: float) -> None:
        self.it.step(self.it.time, end - self.it.time)


def at_work(kind: str, axes: int = 1, **values: Any) -> AtWork:
    """A partner at work."""
    return AtWork(described(kind, axes, **values))
