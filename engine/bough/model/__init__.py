"""The model file: reading, checking, and the model that the rest of bough works with."""

from bough.model.beam_data import Beam, BeamModes, Cut, Material, ModalInitial, Section
from bough.model.damping import ModalDamping
from bough.model.fe_data import Fe, FeInterface, FeModes, FeUnits
from bough.model.hinges import HINGES, HingeKind
from bough.model.loader import load, schema
from bough.model.model import Body, End, Hinge, Model, Nodal, NodalNode, Rigid, RigidNode, Wheel
from bough.model.plausible import Note, plausibility_notes

__all__ = [
    "HINGES",
    "Beam",
    "BeamModes",
    "Body",
    "Cut",
    "End",
    "Fe",
    "FeInterface",
    "FeModes",
    "FeUnits",
    "End",
    "Hinge",
    "HingeKind",
    "Material",
    "ModalDamping",
    "ModalInitial",
    "Model",
    "Nodal",
    "NodalNode",
    "Note",
    "Rigid",
    "RigidNode",
    "Section",
    "Wheel",
    "load",
    "plausibility_notes",
    "schema",
]
