"""Parses plates, and reads the upstream's records into typed values."""

from portal.vehicle.changes import (
    FineChange,
    PriceChange,
    RestrictionChange,
    changed_facts,
    changed_fines,
    changed_prices,
    changed_restrictions,
)
from portal.vehicle.decode import ATTRIBUTE_LABELS, Decoded, FipeEntry, PricePoint, read_decode
from portal.vehicle.drift import unexpected, unexpected_members
from portal.vehicle.field import EMPTY, HIDDEN, HIDDEN_MARKER, Field, fold, read_field
from portal.vehicle.fines import Fine, Licence, read_fines
from portal.vehicle.fipe import FipeCode, PriceSeries, fipe_code
from portal.vehicle.identity import (
    VehicleIdentity,
    differing_fields,
    identity_of,
)
from portal.vehicle.judicial import Restriction, read_restrictions
from portal.vehicle.makes import VehicleName, make_name, read_name, vehicle_name
from portal.vehicle.misspelling import (
    LETTER_PLACES,
    PLATE_LENGTH,
    RENAVAM_LENGTH,
    SHORT_RENAVAMS,
    probable_subject,
    typed_signs,
    visible,
    without_label,
)
from portal.vehicle.names import mask_names
from portal.vehicle.operation_name import (
    LOOKUPS,
    OPERATION_NAMES,
    LookupName,
    OperationName,
)
from portal.vehicle.plate import STATES, InvalidSubject, Plate, Renavam, parse_subject
from portal.vehicle.ranking import RankedEntry, of_other_vehicle, rank
from portal.vehicle.report import Report, Topic, read_report
from portal.vehicle.spelling import accented, name_case, sentence_case, spelled_like
from portal.vehicle.wire import (
    MOST_RECORDS,
    MOST_VALUES,
    OVERSIZED,
    has_too_many_values,
    result_of,
)

__all__ = [
    "ATTRIBUTE_LABELS",
    "EMPTY",
    "HIDDEN",
    "HIDDEN_MARKER",
    "LETTER_PLACES",
    "LOOKUPS",
    "MOST_RECORDS",
    "MOST_VALUES",
    "OPERATION_NAMES",
    "OVERSIZED",
    "PLATE_LENGTH",
    "RENAVAM_LENGTH",
    "SHORT_RENAVAMS",
    "STATES",
    "Decoded",
    "Field",
    "Fine",
    "FineChange",
    "FipeCode",
    "FipeEntry",
    "InvalidSubject",
    "Licence",
    "LookupName",
    "OperationName",
    "Plate",
    "PriceChange",
    "PricePoint",
    "PriceSeries",
    "RankedEntry",
    "Renavam",
    "Report",
    "Restriction",
    "RestrictionChange",
    "Topic",
    "VehicleIdentity",
    "VehicleName",
    "accented",
    "changed_facts",
    "changed_fines",
    "changed_prices",
    "changed_restrictions",
    "differing_fields",
    "fipe_code",
    "fold",
    "has_too_many_values",
    "identity_of",
    "make_name",
    "mask_names",
    "name_case",
    "of_other_vehicle",
    "parse_subject",
    "probable_subject",
    "rank",
    "read_decode",
    "read_field",
    "read_fines",
    "read_name",
    "read_report",
    "read_restrictions",
    "result_of",
    "sentence_case",
    "spelled_like",
    "typed_signs",
    "unexpected",
    "unexpected_members",
    "vehicle_name",
    "visible",
    "without_label",
]
