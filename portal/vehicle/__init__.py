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
from portal.vehicle.typed import (
    CPF_IN_TEXT,
    LETTER_PLACES,
    NAME_AND_YEAR,
    PHONE_IN_TEXT,
    PLATE_IN_TEXT,
    PLATE_LENGTH,
    RENAVAM_LENGTH,
    SHORT_RENAVAMS,
    Doubt,
    Typed,
    is_month_and_year,
    is_tax_number,
    parse_typed,
    read_typed,
    typed_signs,
    visible,
)
from portal.vehicle.wire import (
    MOST_RECORDS,
    MOST_VALUES,
    OVERSIZED,
    has_too_many_values,
    result_of,
)

__all__ = [
    "ATTRIBUTE_LABELS",
    "CPF_IN_TEXT",
    "EMPTY",
    "HIDDEN",
    "HIDDEN_MARKER",
    "LETTER_PLACES",
    "LOOKUPS",
    "MOST_RECORDS",
    "MOST_VALUES",
    "NAME_AND_YEAR",
    "OPERATION_NAMES",
    "OVERSIZED",
    "PHONE_IN_TEXT",
    "PLATE_IN_TEXT",
    "PLATE_LENGTH",
    "RENAVAM_LENGTH",
    "SHORT_RENAVAMS",
    "STATES",
    "Decoded",
    "Doubt",
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
    "Typed",
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
    "is_month_and_year",
    "is_tax_number",
    "make_name",
    "mask_names",
    "name_case",
    "of_other_vehicle",
    "parse_subject",
    "parse_typed",
    "rank",
    "read_decode",
    "read_field",
    "read_fines",
    "read_name",
    "read_report",
    "read_restrictions",
    "read_typed",
    "result_of",
    "sentence_case",
    "spelled_like",
    "typed_signs",
    "unexpected",
    "unexpected_members",
    "vehicle_name",
    "visible",
]
