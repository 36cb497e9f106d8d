"""Makes a PDF one archival file: PDF/UA-1 and PDF/A-3a at once, with its data embedded.

WeasyPrint writes one of the two. Asked for both by ``xmp_metadata``, it writes a second ``rdf:RDF``
into the metadata, and programs that sign a PDF keep only the first. It also lists an embedded file
twice in ``/AF``.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, Final

VARIANT: Final = "pdf/a-3a"

# The identifier of PDF/UA-1, and its description, which PDF/A-3 requires for every schema that it
# does not define itself (ISO 19005-3, 6.6.2.3).
_UA_METADATA: Final = b"""\
<rdf:Description rdf:about="" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/" pdfuaid:part="1" />
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
  xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#"
  xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:schema>PDF/UA identification schema</pdfaSchema:schema>
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">
<pdfaProperty:name>part</pdfaProperty:name>
<pdfaProperty:valueType>Integer</pdfaProperty:valueType>
<pdfaProperty:category>internal</pdfaProperty:category>
<pdfaProperty:description>PDF/UA version identifier</pdfaProperty:description>
</rdf:li></rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>
"""
_RDF_END: Final = b"</rdf:RDF>"


@dataclass(frozen=True, slots=True)
class Embedded:
    """A JSON document that a PDF contains as a file, and the moment of its making."""

    content: bytes
    made_at: datetime
    name: str = "dossie.json"
    description: str = "Os mesmos registros, para programas"


def attachment(weasyprint: Any, embedded: Embedded) -> Any:
    """Return the file as WeasyPrint takes it. Its times are UTC, as WeasyPrint writes them."""
    made_at = embedded.made_at.astimezone(UTC)
    return weasyprint.Attachment(
        file_obj=BytesIO(embedded.content),
        name=embedded.name,
        description=embedded.description,
        created=made_at,
        modified=made_at,
        relationship="Data",
    )


def finish(pdf: Any) -> None:
    """Complete the metadata of a ``pydyf.PDF``, and list each embedded file once."""
    metadata = _object(pdf, pdf.catalog["Metadata"])
    (packet,) = metadata.stream
    before, end, after = packet.partition(_RDF_END)
    metadata.stream[:] = [before + _UA_METADATA + end + after]
    metadata.compress = False  # programs that cannot unpack a PDF may read it too
    if files := pdf.catalog.get("AF"):
        files[:] = dict.fromkeys(files)


def _object(pdf: Any, reference: bytes) -> Any:
    return pdf.objects[int(reference.split()[0])]
