"""What it means: plates and the upstream's records, typed and tolerant."""

from portal.vehicle.plate import STATES, InvalidPlate, Plate, Renavam, parse_subject

__all__ = ["STATES", "InvalidPlate", "Plate", "Renavam", "parse_subject"]
