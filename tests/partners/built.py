"""Partners of these tests: their FMUs unpacked for this machine, called through the class of tests/fmu."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from fmu.fmi import Fmu, Instance

from bough.demo import MODEL
from bough.fmu.package import find_binary, native_platform
from bough.partners import describe_partner
from bough.partners.opened import open_partner
from bough.partners.partner_fmu import partner_files, partner_name
from bough.partners.partner_run import PartnerRun
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


def python_run(kind: str, axes: int = 1, **values: Any) -> PartnerRun:
    """The same partner at work in Python."""
    return open_partner(partner_files(described(kind, axes, **values), "2.0")["resources/model.bough"]).run
