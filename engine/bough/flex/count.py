"""How many modes a body has, where only its eigenproblem or its file can tell."""

from __future__ import annotations

from bough.errors import ModelError, Problem
from bough.flex.build import flex_body
from bough.model import Body, Model
from bough.model import load as load_file
from bough.text.source import ModelSource


def load(source: ModelSource) -> Model:
    """A checked model from a YAML or JSON file, or from a mapping with the same keys.

    Bodies whose modes are chosen by a cut-off frequency or come from a file are read and counted here.

    Raises:
        ModelError: Something in it is wrong: what, where, and what would be right.
    """
    return counted(load_file(source))


def counted(model: Model) -> Model:
    """The model with the number of modes of every body known.

    Raises:
        ModelError: A body cannot be made, or its start values do not fit its modes.
    """
    if all(body.knows_mode_count for body in model.bodies):
        return model
    return model.model_copy(update={"bodies": tuple(_counted(body, model) for body in model.bodies)})


def _counted(body: Body, model: Model) -> Body:
    if body.knows_mode_count:
        return body
    nm = flex_body(body, model.geometric_stiffening).nm
    initial = body.modal_initial
    for key in ("eta", "eta_dot"):
        given = () if initial is None else getattr(initial, key)
        if given and len(given) != nm:
            raise ModelError(_misfit(body, key, len(given), nm))
    return body.model_copy(update={"modes_kept": nm})


def _misfit(body: Body, key: str, found: int, nm: int) -> Problem:
    return Problem(
        file=f"body {body.name!r}",
        line=None,
        key=f"initial.{key}",
        expected=f"{nm} numbers, one per mode",
        found=f"{found} numbers",
        cure="see `bough flex` for the modes that the body has",
    )
