"""FMUs that work beside a mechanism: motor with amplifier, joint controller, controller with a model inside."""

from bough.partners.misfit import Misfit, PartnerError
from bough.partners.partner_fmu import KINDS, build_partner, describe_partner
from bough.partners.quantity import Partner, Quantity

__all__ = ["KINDS", "Misfit", "Partner", "PartnerError", "Quantity", "build_partner", "describe_partner"]
