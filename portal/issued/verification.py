"""Says whether a dossier was issued, and whether a file is the one that was issued.

A number, the key in a QR code, the hash of a file and a file lead to one ``Verification``, which
the page, the JSON API and the client read.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from portal.issued.archive import DossierArchive
from portal.issued.identifiers import display_number, is_share_key, parse_number
from portal.issued.model import IssuedDossier
from portal.pdf.inspection import Contents, Difference, FoundSignature, PdfInspector, Unreadable

# The first that holds, in this order.
Result = Literal["unknown", "foreign", "altered", "revoked", "ended", "superseded", "same"]
SignatureState = Literal["valid", "broken", "none"]


@dataclass(frozen=True, slots=True)
class SignatureFacts:
    """What is known of a file's signature. Times are epoch seconds.

    It is "valid" if the file is unchanged since it was signed. The name of a signer other than the
    portal is what that certificate states.
    """

    state: SignatureState
    signer: str = ""
    signed_at: float | None = None
    stamped_at: float | None = None


@dataclass(frozen=True, slots=True)
class Verification:
    """The answer to a number, a key, a hash or a file.

    ``unaltered`` is None if no file was compared. ``number`` has no hyphens; it is "" if none is
    known. ``dossier`` is None if the portal has no proof of one. ``by_holder`` is true if the
    sender has the dossier itself, and so may see what is in it. ``signature`` is None if it is
    unknown. ``is_readable`` is false for a file that is no PDF, or too odd to read.
    """

    result: Result
    number: str = ""
    dossier: IssuedDossier | None = None
    unaltered: bool | None = None
    by_holder: bool = False
    signature: SignatureFacts | None = None
    differences: Sequence[Difference] = ()
    is_compared: bool = False
    is_readable: bool = True


class Verifier:
    """Verifies against an archive. ``certificate`` is the SHA-256 of the present one, or None."""

    def __init__(
        self, archive: DossierArchive, inspector: PdfInspector, certificate: str | None
    ) -> None:
        self._archive = archive
        self._inspector = inspector
        self._certificate = certificate

    def by_key(self, key: str) -> Verification | None:
        """Verify the key of a QR code, which only a dossier's paper and link hold."""
        dossier = self._archive.by_key(key) if is_share_key(key) else None
        return None if dossier is None else judged(dossier, by_holder=True)

    def by_number(self, text: str) -> Verification | None:
        number = parse_number(text)
        dossier = self._archive.by_number(number) if number else None
        return None if dossier is None else judged(dossier)

    def by_hash(self, sha256: str) -> Verification:
        """Verify a file by its SHA-256 (hex) alone. Whoever knows it has the file."""
        dossier = self._archive.by_sha256(sha256.lower())
        if dossier is None:
            return Verification("unknown")
        return judged(dossier, unaltered=True, by_holder=True)

    def file(self, content: bytes) -> Verification:
        """Verify a file. Raises Busy."""
        by_content = self.by_hash(hashlib.sha256(content).hexdigest())
        if by_content.dossier is not None:
            return by_content
        try:
            contents = self._inspector.read(content)
        except Unreadable:
            return Verification("unknown", is_readable=False)
        dossier, by_holder = self._named_in(contents)
        own = [signature for signature in contents.signatures if self._is_own(signature)]
        others = [signature for signature in contents.signatures if signature not in own]
        if dossier is None:
            return _without_dossier(contents, own, others)
        issued = self._archive.pdf(dossier)
        if issued == content:  # issued by a version that kept no hash
            return judged(dossier, unaltered=True, by_holder=True)
        has_issued = issued is not None and content.startswith(issued)
        return Verification(
            "foreign" if _is_foreign(own, others) and not has_issued else "altered",
            dossier.number,
            dossier,
            unaltered=False,
            by_holder=by_holder or has_issued,
            signature=_of_file([*own, *others]),
            differences=self._differences(content, issued, by_holder, has_issued),
            is_compared=issued is not None and (by_holder or has_issued),
        )

    def _named_in(self, contents: Contents) -> tuple[IssuedDossier | None, bool]:
        """Return the dossier that a file names, and whether the file has the dossier's key.

        Somebody who knows only a number could write it into a file, and would otherwise learn from
        the differences what the dossier says.
        """
        for key in contents.keys:
            if (dossier := self._archive.by_key(key)) is not None:
                return dossier, True
        for text in contents.numbers:
            number = parse_number(text)
            if number and (dossier := self._archive.by_number(number)) is not None:
                return dossier, False
        return None, False

    def _is_own(self, signature: FoundSignature) -> bool:
        certificate = signature.certificate
        if not certificate:
            return False
        return certificate == self._certificate or self._archive.is_own_certificate(certificate)

    def _differences(
        self, content: bytes, issued: bytes | None, by_holder: bool, has_issued: bool
    ) -> Sequence[Difference]:
        if issued is None:
            return ()
        if has_issued:
            count = len(content) - len(issued)
            return [Difference(None, f"acrescentado depois da emissão: {count} bytes")]
        if not by_holder:
            return ()
        try:
            return self._inspector.differences(content, issued)
        except Unreadable:
            return ()


def judged(
    dossier: IssuedDossier, *, unaltered: bool | None = None, by_holder: bool = False
) -> Verification:
    """Return the answer for a dossier that was issued, and a file that is unaltered, if any."""
    signed = dossier.signature
    facts = SignatureFacts("none")
    if signed is not None:
        facts = SignatureFacts("valid", signed.signer, signed.signed_at, signed.stamped_at)
    return Verification(
        _standing(dossier),
        dossier.number,
        dossier,
        unaltered,
        by_holder,
        signature=facts if unaltered or signed is None else None,
    )


def _standing(dossier: IssuedDossier) -> Result:
    if dossier.state == "revoked":
        return "revoked"
    if dossier.state == "expired":
        return "ended"
    return "superseded" if dossier.superseded_by else "same"


def _without_dossier(
    contents: Contents, own: Sequence[FoundSignature], others: Sequence[FoundSignature]
) -> Verification:
    """Return the answer for a file of which the portal has no proof.

    A file with a valid signature of the portal was issued by it: a purge has deleted the proof.
    """
    number = next((parsed for text in contents.numbers if (parsed := parse_number(text))), "")
    if own:
        is_valid = any(signature.state == "valid" for signature in own)
        result: Result = "ended" if is_valid else "altered"
        return Verification(result, number, unaltered=is_valid, signature=_of_file(own))
    result = "foreign" if _is_foreign(own, others) else "unknown"
    return Verification(result, signature=_of_file(others))


def _is_foreign(own: Sequence[FoundSignature], others: Sequence[FoundSignature]) -> bool:
    """Return whether somebody else alone has signed a file.

    A signature whose signer cannot be read, because it is damaged or pyHanko is not installed,
    says nothing of somebody else.
    """
    return not own and any(signature.certificate for signature in others)


def _of_file(signatures: Sequence[FoundSignature]) -> SignatureFacts | None:
    """Return the facts of the first signature of a file, or None if it could not be checked."""
    if not signatures:
        return SignatureFacts("none")
    first = signatures[0]
    if first.state is None:
        return None
    return SignatureFacts(first.state, first.signer, first.signed_at, first.stamped_at)


def shown_number(verification: Verification) -> str:
    return display_number(verification.number) if verification.number else ""
