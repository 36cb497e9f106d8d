"""Stores issued dossiers encrypted in the database.

A dossier consists of the head (its share key and an IssuedSnapshot), the HTML and optionally a PDF.
Each of these parts has its own encryption key. This key is derived from the data key, the
namespace, the dossier's number and the part's name. A part that is copied into another row
therefore cannot be decrypted.

The share key is the random text in a dossier's link. The column ``share_key`` contains only the
HMAC of this text. The portal uses the HMAC to find the dossier of a link. The encrypted head
contains the share key itself, so that the portal can show the link to the issuer.

After its end, a dossier's row remains as its proof for some years, without content and plate: the
number, the hash of the PDF, and who signed it. A purge of the vehicle deletes it too.

No process caches dossiers, so a revocation takes effect at the next request.
"""

import hashlib
import time
import zlib
from collections.abc import Callable, Sequence
from typing import Final, Literal

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    delete,
    func,
    insert,
    select,
    true,
    tuple_,
    update,
)
from sqlalchemy.exc import IntegrityError

from portal.access.idempotency import forget_made
from portal.access.sealing import SubjectKeys, keyed_hash
from portal.issued.identifiers import Identifiers
from portal.issued.model import (
    IssuedDossier,
    IssuedSnapshot,
    NumberTaken,
    Purged,
    State,
)
from portal.pdf.signing import Signature, SignedPdf
from portal.storage.database import Also, Database, Lock, hold, nothing_else
from portal.storage.ends import note_end
from portal.storage.purge_log import was_purged
from portal.storage.tables import dossiers as table

# The number of dossiers, each of some 200 KB, whose content is deleted in one transaction. Other
# writers wait for its end.
_ENDED_AT_ONCE: Final = 20
_WITHOUT_CONTENT: Final = dict.fromkeys(("head", "html", "pdf"))


class _Head(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    snapshot: IssuedSnapshot


class DossierArchive:
    """The issued dossiers of one namespace. Methods raise SQLAlchemyError if the database fails.

    A dossier lives ``lifetime_s`` seconds, and its proof ``proof_s`` seconds longer.
    ``forget`` and ``drop_expired`` delete data of all namespaces.
    """

    def __init__(
        self,
        database: Database,
        keys: SubjectKeys,
        *,
        lifetime_s: int,
        proof_s: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.lifetime_s: Final = lifetime_s
        self.proof_s: Final = proof_s
        self._database = database
        self._keys = keys
        self._clock = clock

    def issue(
        self,
        owner: str,
        identifiers: Identifiers,
        snapshot: IssuedSnapshot,
        html: str,
        pdf: SignedPdf | None,
        *,
        last_purge: int,
        supersedes: str | None = None,
        also: Also = nothing_else,
    ) -> None:
        """Store a dossier, which takes the place of the owner's dossier ``supersedes``.

        ``last_purge`` is the number of the last purge that was known before the dossier's data was
        read. ``also`` is done in the same transaction. Raises NumberTaken if a dossier has the
        number, or Purged if the vehicle's data was purged since.
        """
        number, key = identifiers
        now, subject = self._clock(), self._keys.tag(snapshot.plate)
        head = msgspec.json.encode(_Head(key=key, snapshot=snapshot))
        row = {
            "number": number,
            "namespace": self._keys.namespace,
            "owner": self._owner_key(owner),
            "share_key": self._key_hash(key),
            "subject": subject,
            "issued_at": now,
            "expires_at": now + self.lifetime_s,
            "head": self._seal(number, "head", head),
            "html": self._seal(number, "html", zlib.compress(html.encode())),
            "pdf": None if pdf is None else self._seal(number, "pdf", pdf.content),
            "pdf_sha256": None if pdf is None else hashlib.sha256(pdf.content).hexdigest(),
            "signature": _encoded(pdf.signature) if pdf and pdf.signature else None,
        }
        with self._database.writing() as db:
            if was_purged(db, subject, last_purge):
                raise Purged
            try:
                db.execute(insert(table).values(**row))
            except IntegrityError:
                raise NumberTaken from None
            if supersedes is not None:
                former = (table.c.number == supersedes) & (table.c.owner == row["owner"])
                db.execute(update(table).where(former).values(superseded_by=number))
            also(db)

    def by_number(self, number: str) -> IssuedDossier | None:
        return self._find(table.c.number == number)

    def by_key(self, key: str) -> IssuedDossier | None:
        return self._find(table.c.share_key == self._key_hash(key))

    def by_sha256(self, sha256: str) -> IssuedDossier | None:
        """Return the dossier whose PDF has the SHA-256 ``sha256`` (hex)."""
        return self._find(table.c.pdf_sha256 == sha256)

    def is_own_certificate(self, sha256: str) -> bool:
        """Return whether a dossier was signed with the certificate of this SHA-256 (hex)."""
        query = select(table.c.number).where(table.c.signature.contains(f'"{sha256}"')).limit(1)
        with self._database.reading() as db:
            return db.execute(query).first() is not None

    def newest_owned(self, owner: str, plate: str) -> IssuedDossier | None:
        """Return the owner's latest valid dossier of a plate, or None."""
        where = (table.c.subject == self._keys.tag(plate)) & self._is_unended()
        newest = self._list(where & (table.c.owner == self._owner_key(owner)), 1)
        return newest[0] if newest else None

    def ending(self, until: float) -> Sequence[tuple[IssuedDossier, str]]:
        """Return the valid dossiers that end before ``until``, each with its owner.

        Left out are those that a newer one has replaced, and those of which the owner is not known,
        because somebody else has them now or a former version has issued them.
        """
        where = self._is_unended() & (table.c.expires_at < until) & table.c.superseded_by.is_(None)
        return [
            (dossier, owner)
            for dossier in self._list(where)
            if dossier.snapshot
            and (owner := dossier.snapshot.owner)
            and self.owned(dossier.number, owner)
        ]

    def count_of(self, plates: Sequence[str]) -> int:
        """Return how many dossiers of these plates can be verified, in every namespace."""
        tags = list(map(self._keys.tag, plates))
        query = select(func.count()).select_from(table).where(table.c.subject.in_(tags))
        with self._database.reading() as db:
            return db.execute(query).scalar_one()

    def owned(self, number: str, owner: str) -> IssuedDossier | None:
        return self._find((table.c.number == number) & (table.c.owner == self._owner_key(owner)))

    def all_owned(
        self, owner: str, most: int | None = None, after: IssuedDossier | None = None
    ) -> list[IssuedDossier]:
        """Return at most ``most`` of the owner's dossiers, the latest first.

        Expired and revoked ones are included. The list begins after the dossier ``after``.
        """
        where = table.c.owner == self._owner_key(owner)
        if after is not None:
            where &= tuple_(table.c.issued_at, table.c.number) < (after.issued_at, after.number)
        return self._list(where, most)

    def all(self) -> list[IssuedDossier]:
        return self._list(true())

    def html(self, dossier: IssuedDossier) -> str | None:
        """Return the document as HTML, or None if the dossier is no longer valid."""
        packed = self._content(dossier, "html")
        return None if packed is None else zlib.decompress(packed).decode()

    def pdf(self, dossier: IssuedDossier) -> bytes | None:
        """Return the document as PDF, or None if the dossier has no PDF or is no longer valid."""
        return self._content(dossier, "pdf")

    def revoke(self, number: str, owner: str | None = None, also: Also = nothing_else) -> bool:
        """Revoke a valid dossier and delete its content.

        If ``owner`` is given, only a dossier of this owner is revoked. ``also`` is done in the same
        transaction. Return False if no valid
        dossier was found. Raises BytesKept if deleted bytes remain in the database's files. The
        dossier is revoked nevertheless.
        """
        where = self._is_valid(number)
        if owner is not None:
            where &= table.c.owner == self._owner_key(owner)
        now = self._clock()

        def note(db: Connection) -> None:
            note_end(db, "dossier", {"number": number}, now)
            also(db)

        is_found = self._end(where, note, revoked_at=now) > 0
        if is_found:
            self._database.erase_deleted()
        return is_found

    def drop_expired(self) -> None:
        """Delete the content of expired dossiers in all namespaces.

        The row itself is deleted ``proof_s`` seconds after the expiry. The caller then calls
        ``erase_deleted``. Raises SQLAlchemyError.
        """
        now = self._clock()
        expired = table.c.head.is_not(None) & (table.c.expires_at <= now)
        long_ended = table.c.expires_at <= now - self.proof_s
        # Read first, because most calls find nothing to delete and reading does not block writers.
        with self._database.reading() as db:
            if not any(
                db.execute(select(table.c.number).where(condition).limit(1)).first()
                for condition in (expired, long_ended)
            ):
                return
        group = select(table.c.number).where(expired).limit(_ENDED_AT_ONCE)
        while self._end(table.c.number.in_(group)) == _ENDED_AT_ONCE:
            pass
        with self._database.writing() as db:
            db.execute(delete(table).where(long_ended))

    def forget(self, db: Connection, plate: str) -> int:
        """Delete a vehicle's dossiers in every namespace, and return how many were deleted.

        Their proofs are among them: no number or file of these dossiers can be verified afterwards.

        The caller then erases the bytes of the deleted rows (``erase_deleted``).
        """
        hold(db, Lock.DOSSIERS)
        of_plate = table.c.subject == self._keys.tag(plate)
        forget_made(db, select(table.c.number).where(of_plate))
        return db.execute(delete(table).where(of_plate)).rowcount

    def _end(self, where: ColumnElement[bool], also: Also = nothing_else, **changes: float) -> int:
        """Delete the content of the dossiers that match ``where``, and return how many matched.

        If any matched, ``also`` is done in the same transaction.
        ``changes`` are new values for other columns of these dossiers. The caller then erases the
        bytes of the deleted content (``erase_deleted``). Raises SQLAlchemyError.
        """
        with self._database.writing() as db:
            hold(db, Lock.DOSSIERS)
            done = db.execute(update(table).where(where).values(**_WITHOUT_CONTENT, **changes))
            if done.rowcount:
                also(db)
            return int(done.rowcount)

    def _find(self, where: ColumnElement[bool]) -> IssuedDossier | None:
        dossiers = self._list(where)
        return dossiers[0] if dossiers else None

    def _list(self, where: ColumnElement[bool], most: int | None = None) -> list[IssuedDossier]:
        columns = (
            *table.c["number", "issued_at", "expires_at", "revoked_at", "head"],
            *table.c["pdf_sha256", "signature", "superseded_by"],
        )
        query = (
            select(*columns, table.c.pdf.is_not(None).label("has_pdf"))
            .where(table.c.namespace == self._keys.namespace, where)
            .order_by(table.c.issued_at.desc(), table.c.number.desc())
            .limit(most)
        )
        with self._database.reading() as db:
            rows: Sequence[RowMapping] = db.execute(query).mappings().all()
        return [dossier for row in rows if (dossier := self._dossier(row)) is not None]

    def _dossier(self, row: RowMapping) -> IssuedDossier | None:
        """Return the dossier of a row, or None if the row's head cannot be decrypted."""
        number = row["number"]
        state: State = "valid"
        if row["revoked_at"] is not None:
            state = "revoked"
        elif row["expires_at"] <= self._clock():
            state = "expired"
        head = None
        if state == "valid":
            content = self._unseal(number, "head", row["head"])
            if content is None:
                return None
            head = msgspec.json.decode(content, type=_Head)
        return IssuedDossier(
            number=number,
            issued_at=row["issued_at"],
            expires_at=row["expires_at"],
            revoked_at=row["revoked_at"],
            state=state,
            has_pdf=bool(row["has_pdf"]),
            key=head.key if head else None,
            snapshot=head.snapshot if head else None,
            sha256=row["pdf_sha256"],
            signature=_decoded(row["signature"]),
            superseded_by=row["superseded_by"],
        )

    def _content(self, dossier: IssuedDossier, part: Literal["html", "pdf"]) -> bytes | None:
        query = select(table.c[part]).where(self._is_valid(dossier.number))
        with self._database.reading() as db:
            sealed = db.execute(query).scalar()
        return self._unseal(dossier.number, part, sealed)

    def _is_valid(self, number: str) -> ColumnElement[bool]:
        """Return the SQL condition for this namespace's valid dossier with the number."""
        return (
            (table.c.number == number)
            & (table.c.namespace == self._keys.namespace)
            & self._is_unended()
        )

    def _is_unended(self) -> ColumnElement[bool]:
        return table.c.revoked_at.is_(None) & (table.c.expires_at > self._clock())

    def _seal(self, number: str, part: str, content: bytes) -> bytes:
        return self._keys.encrypt(self._purpose(number, part), content)

    def _unseal(self, number: str, part: str, sealed: bytes | None) -> bytes | None:
        if sealed is None:
            return None
        return self._keys.decrypt(self._purpose(number, part), bytes(sealed))

    def _purpose(self, number: str, part: str) -> bytes:
        return f"dossier|{self._keys.namespace}|{number}|{part}".encode()

    def hand_over(self, db: Connection, former: str, new: str) -> int:
        """Give an owner's dossiers to another, and return how many."""
        is_former = table.c.owner == self._owner_key(former)
        changed = update(table).where(is_former).values(owner=self._owner_key(new))
        return db.execute(changed).rowcount

    def _key_hash(self, key: str) -> str:
        named = f"{self._keys.namespace}\0{key}"
        return keyed_hash(self._keys.secret, b"dossier key", named.encode())

    def _owner_key(self, owner: str) -> str:
        return self._keys.owner_key("dossier\0", owner)


def _encoded(signature: Signature) -> str:
    return msgspec.json.encode(signature).decode()


def _decoded(text: str | None) -> Signature | None:
    return None if text is None else msgspec.json.decode(text, type=Signature)
