"""The URL paths of vehicles' pages."""

from portal.vehicle.plate import Plate, Renavam


def subject_path(subject: Plate | Renavam) -> str:
    """Return ``/placa/ABC1D23`` or ``/renavam/12345678910``."""
    return f"/{'placa' if isinstance(subject, Plate) else 'renavam'}/{subject.text}"
