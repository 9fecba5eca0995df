"""The model file: reading, checking, and the model that the rest of bough works with."""

from bough.model.beam import Beam, BeamDamping, BeamModes, Material, ModalInitial, Section
from bough.model.fe import Fe, FeDamping, FeInterface, FeModes, FeUnits
from bough.model.hinges import HINGES, HingeKind
from bough.model.loader import load, schema
from bough.model.model import Body, Hinge, Model, Nodal, NodalNode, Rigid, RigidNode, Wheel

__all__ = [
    "HINGES",
    "Beam",
    "BeamDamping",
    "BeamModes",
    "Body",
    "Fe",
    "FeDamping",
    "FeInterface",
    "FeModes",
    "FeUnits",
    "Hinge",
    "HingeKind",
    "Material",
    "ModalInitial",
    "Model",
    "Nodal",
    "NodalNode",
    "Rigid",
    "RigidNode",
    "Section",
    "Wheel",
    "load",
    "schema",
]
