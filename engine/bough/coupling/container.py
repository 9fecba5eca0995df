"""The same system as one FMU: by fmucontainer, of the package fmu-manipulation-toolbox.

fmucontainer reads SSP packages, but neither their parameter values nor which outputs to show. A description of its own
kind travels in the package, under `extra/`, and says all of it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from bough.coupling.assembly import Assembly, Link
from bough.coupling.graph import sequence
from bough.errors import BuildError
from bough.files import binary_file

CONTAINER = "extra/bough.fmucontainer/container.json"
"""In the package. FMUs are looked for in `resources/`."""


def scaled(assembly: Assembly) -> list[Link]:
    """Links that fmucontainer cannot express: it does not scale values."""
    return [link for link in assembly.links if (link.factor, link.offset) != (1.0, 0.0)]


def left_out(assembly: Assembly) -> list[str]:
    """A warning where the package has no description for fmucontainer."""
    links = scaled(assembly)
    if not links:
        return []
    return [f"no {Path(CONTAINER).name} is in the package: fmucontainer does not scale values, and {links[0]} does"]


def container_text(assembly: Assembly) -> str:
    """The description that fmucontainer reads: same components, connections, values, step and order.

    Only for systems whose values are not scaled: without those links it would describe another system.
    """
    master = assembly.master

    def file(name: str) -> str:
        return f"{name}.fmu"

    names = sequence(assembly)
    # What a link carries is a local variable of the container already, under the same name.
    carried = {link.source for link in assembly.links}
    outputs = [(c.name, v.name) for c in assembly.components for v in c.interface.named("output") if v.size == 1]
    shown = [port for port in outputs if port not in carried]
    data: dict[str, Any] = {
        "name": file(assembly.name),
        "step_size": master.step,
        "mt": False,
        "sequential": master.order == "gauss-seidel",
        "auto_link": False,
        "auto_input": False,
        "auto_output": False,
        "auto_parameter": False,
        "fmu": [file(name) for name in (master.sequence or names)],
        "link": [[file(x.source[0]), x.source[1], file(x.target[0]), x.target[1]] for x in assembly.links],
        "input": [[f"{name}.{variable}", file(name), variable] for name, variable in assembly.open_inputs()],
        "output": [[file(name), variable, f"{name}.{variable}"] for name, variable in shown],
        "start": [[file(c.name), key, value] for c in assembly.components for key, value in c.values.items()],
    }
    return json.dumps(data, indent=1) + "\n"


def build_container(assembly: Assembly, target: Path, fmi: str = "2.0") -> None:
    """Write a system as one FMU, with fmucontainer's own master inside.

    Args:
        assembly: The system.
        target: Of the FMU.
        fmi: Version of its interface.

    Raises:
        BuildError: fmu-manipulation-toolbox is missing, or cannot do it.
    """
    try:
        from fmu_manipulation_toolbox.assembly import Assembly as Container
    except ImportError:
        cure = "pip install fmu-manipulation-toolbox"
        raise BuildError(f"one FMU of several needs the package fmu-manipulation-toolbox: {cure}") from None
    odd = scaled(assembly)
    if odd:
        raise BuildError(f"fmucontainer does not scale values, and {odd[0]} does: connect equal units")
    with tempfile.TemporaryDirectory(prefix="bough-") as scratch:
        folder = Path(scratch)
        for c in assembly.components:
            shutil.copyfile(c.fmu, folder / f"{c.name}.fmu")
        (folder / "container.json").write_text(container_text(assembly), encoding="utf-8")
        made = folder / f"{assembly.name}.fmu"
        try:
            container = Container("container.json", fmu_directory=folder)
            container.make_fmu(fmi_version=int(fmi[0]))
        except Exception as error:  # its own family, which is of no concern here
            raise BuildError(f"fmucontainer refuses the system: {error}") from None
        with made.open("rb") as source, binary_file(target) as out:
            shutil.copyfileobj(source, out)
