"""What people call the keys of a model file who come from other programs."""

from __future__ import annotations

from bough.text.vocabulary import Vocabulary

# Options of `bough run` by what other programs write into the model.
_OF_A_RUN = {
    "dt": "--step",
    "h": "--step",
    "step": "--step",
    "step_size": "--step",
    "time_step": "--step",
    "timestep": "--step",
    "duration": "--stop",
    "end_time": "--stop",
    "stop": "--stop",
    "stop_time": "--stop",
    "t_end": "--stop",
    "tend": "--stop",
    "integrator": "--method",
    "method": "--method",
    "solver": "--method",
    "rtol": "--rtol",
    "tolerance": "--rtol",
}
_MEANT = {
    "E": "e_modulus elastic_modulus modulus young youngs youngs_modulus young_modulus",
    "G": "shear g_modulus shear_modulus",
    "Q": "quat quaternion orientation rotation attitude",
    "armature": "motor_inertia rotor rotor_inertia gear_inertia",
    "at": "attach_to node parent_node",
    "axis": "direction dir",
    "bodies": "body links parts elements segments",
    "boundary": "bc bcs condition supports",
    "com": "cg cog centre center centroid mass_center mass_centre center_of_mass centre_of_mass",
    "count": "n number num modes",
    "damping": "b c d damper viscous viscous_friction dissipation zeta",
    "drive": "actuation control actuator motor",
    "elements": "mesh n_elements num_elements divisions",
    "frame": "origin offset pose transform placement",
    "gravity": "g",
    "height": "h",
    "hinge": "joint connection",
    "inertia": "i ixx moi tensor inertia_tensor moment_of_inertia moments",
    "initial": "init start q0 x0 initial_state state start_values",
    "inputs": "loads forces actuators",
    "length": "l len size",
    "mass": "m weight",
    "name": "id label title",
    "nu": "poisson poissons_ratio poisson_ratio v",
    "outputs": "sensors output probes measure",
    "parent": "base on connected_to",
    "phi": "angle theta",
    "position": "offset origin pos r translation xyz",
    "quaternion": "attitude orientation q quat rotation",
    "radius": "r",
    "rest": "neutral free_length offset reference",
    "rho": "density",
    "s": "displacement translation",
    "stiffness": "k spring",
    "thickness": "t wall wall_thickness",
    "type": "kind joint_type hinge_type",
    "v": "linear_velocity s_dot",
    "w": "angular_velocity omega phi_dot",
    "wheels": "rotors flywheels gyros",
    "width": "b w",
}
_CURES = {
    "bough": "write `bough: 1`, or use the release of bough that reads this version",
}

_OF_A_HINGE = ("armature", "axes", "axis", "friction", "gear", "initial", "limits")
"""Keys of hinges that people write beside `hinge:`."""

MODEL_WORDS = Vocabulary(
    synonyms=_MEANT,
    elsewhere={
        key: f"remove it, and say it when you run the model: `bough run {option}`" for key, option in _OF_A_RUN.items()
    }
    | {key: f"write it into the body's `hinge: {{..., {key}: ...}}`" for key in _OF_A_HINGE},
    cures=_CURES,
    directions=frozenset({"axis", "axes"}),
)
"""The words of model files, and of system files, which hold models."""
