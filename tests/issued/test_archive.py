"""The archive of issued dossiers: encryption, owners, expiry and purges."""

import hashlib
import zlib
from typing import Any

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.exc import SQLAlchemyError

from portal.access.sealing import SubjectKeys
from portal.issued.archive import DossierArchive
from portal.issued.identifiers import Identifiers, new_identifiers
from portal.issued.model import IssuedDossier, IssuedSnapshot, NumberTaken, Purged
from portal.pdf.signing import Signature, SignedPdf
from portal.storage.database import Database
from portal.storage.tables import dossiers
from tests.fakes import Clock
from tests.fakes.forgetting import forget
from tests.fakes.purges import log_purge

SECRET = b"s" * 32
LIFETIME_S = 100
PROOF_S = 5_000
HTML, PDF = "<p>ABC1D23</p>", b"%PDF ABC1D23"


def tag(plate: str) -> str:
    return f"tag of {plate}"


def archive(database: Database, clock: Clock, **named: Any) -> DossierArchive:
    keys = SubjectKeys(**{"secret": SECRET, "tag": tag, "namespace": "upstream", **named})
    return DossierArchive(database, keys, lifetime_s=LIFETIME_S, proof_s=PROOF_S, clock=clock)


def issue(
    into: DossierArchive,
    owner: str = "ana",
    plate: str = "ABC1D23",
    pdf: bytes | None = PDF,
    last_purge: int = 0,
    signature: Signature | None = None,
    supersedes: str | None = None,
) -> Identifiers:
    identifiers = new_identifiers()
    snapshot = IssuedSnapshot(plate=plate, caller="token ana", summary='{"plate": "ABC1D23"}')
    signed = None if pdf is None else SignedPdf(pdf, signature)
    into.issue(
        *(owner, identifiers, snapshot, HTML, signed),
        last_purge=last_purge,
        supersedes=supersedes,
    )
    return identifiers


def cells(database: Database) -> list[Any]:
    with database.reading() as db:
        return [cell for row in db.execute(select(dossiers)).all() for cell in row]


def found(dossier: IssuedDossier | None) -> IssuedDossier:
    assert dossier is not None
    return dossier


def test_dossier_is_found_by_number_key_and_owner(database: Database, clock: Clock) -> None:
    kept = archive(database, clock)
    number, key = issue(kept)
    for dossier in (kept.by_number(number), kept.by_key(key), kept.owned(number, "ana")):
        assert found(dossier).state == "valid"
        assert found(dossier).key == key
        assert kept.html(found(dossier)) == HTML
        assert kept.pdf(found(dossier)) == PDF
    assert kept.owned(number, "bia") is None
    assert kept.by_number(new_identifiers().number) is None
    assert kept.by_key(new_identifiers().key) is None
    assert [each.number for each in kept.all_owned("ana")] == [number]
    assert kept.all_owned("bia") == []


def test_dossier_may_have_no_pdf(database: Database, clock: Clock) -> None:
    kept = archive(database, clock)
    dossier = found(kept.by_number(issue(kept, pdf=None).number))
    assert not dossier.has_pdf
    assert kept.pdf(dossier) is None


def test_database_holds_neither_plate_nor_key_nor_owner_in_clear(
    database: Database, clock: Clock
) -> None:
    kept = archive(database, clock)
    key = issue(kept).key
    for cell in cells(database):
        content = cell if isinstance(cell, bytes) else str(cell).encode()
        for secret in (key, "ABC1D23", "token ana"):
            assert secret.encode() not in content.replace(tag("ABC1D23").encode(), b"")
        assert content != b"ana"
        assert zlib.compress(HTML.encode()) not in content


def test_row_is_useless_under_another_secret_key_and_in_another_namespace(
    database: Database, clock: Clock
) -> None:
    number, key = issue(archive(database, clock))
    for other in (
        archive(database, clock, secret=b"o" * 32),
        archive(database, clock, namespace="b"),
    ):
        assert other.by_number(number) is None
        assert other.by_key(key) is None
        assert other.all() == []


def test_bytes_of_one_row_cannot_be_read_as_anothers(database: Database, clock: Clock) -> None:
    kept = archive(database, clock)
    one, other = issue(kept), issue(kept, plate="XYZ9K99")
    with database.engine.begin() as db:
        row = db.execute(select(dossiers).where(dossiers.c.number == other.number)).one()
        db.execute(
            update(dossiers)
            .where(dossiers.c.number == one.number)
            .values(head=row.head, html=row.html, pdf=row.pdf)
        )
    assert kept.by_number(one.number) is None


def test_expiry_ends_a_dossier_and_the_sweep_deletes_its_content(
    database: Database, clock: Clock
) -> None:
    kept = archive(database, clock)
    number, key = issue(kept)
    dossier = found(kept.by_number(number))
    clock.advance(LIFETIME_S)
    ended = found(kept.by_key(key))
    assert (ended.state, ended.snapshot, ended.key) == ("expired", None, None)
    assert kept.html(dossier) is None and kept.pdf(dossier) is None
    kept.drop_expired()
    with database.reading() as db:
        row = db.execute(select(dossiers)).one()
    assert (row.head, row.html, row.pdf) == (None, None, None)
    assert found(kept.by_key(key)).state == "expired"
    clock.advance(PROOF_S)
    kept.drop_expired()
    assert cells(database) == []


def test_proof_outlives_the_content_and_a_purge_deletes_it(
    database: Database, clock: Clock
) -> None:
    kept = archive(database, clock)
    signature = Signature("Ana Ltda", "ab" * 32, 1790000000.0, 1790000001.0)
    number, _ = issue(kept, signature=signature)
    sha256 = hashlib.sha256(PDF).hexdigest()
    clock.advance(LIFETIME_S)
    kept.drop_expired()
    proof = found(kept.by_sha256(sha256))
    assert (proof.number, proof.state, proof.signature) == (number, "expired", signature)
    assert proof.snapshot is None
    assert kept.is_own_certificate("ab" * 32) and not kept.is_own_certificate("cd" * 32)
    assert kept.count_of(["ABC1D23"]) == 1 and kept.count_of(["XYZ9K99"]) == 0
    clock.advance(PROOF_S - 1)
    kept.drop_expired()
    assert kept.by_sha256(sha256) is not None
    forget(database, kept, "ABC1D23")
    assert cells(database) == []


def test_dossier_that_supersedes_is_named_by_the_former(database: Database, clock: Clock) -> None:
    kept = archive(database, clock)
    former, _ = issue(kept)
    other, _ = issue(kept, owner="bia")
    clock.advance(1)
    newer, _ = issue(kept, supersedes=former)
    issue(kept, supersedes=other)  # another owner's, which stays as it is
    assert found(kept.by_number(former)).superseded_by == newer
    assert found(kept.by_number(former)).state == "valid"
    assert found(kept.by_number(other)).superseded_by is None


def test_newest_dossier_of_a_plate_is_the_owners_and_valid(
    database: Database, clock: Clock
) -> None:
    kept = archive(database, clock)
    assert kept.newest_owned("ana", "ABC1D23") is None
    first, _ = issue(kept)
    clock.advance(1)
    second, _ = issue(kept)
    issue(kept, plate="XYZ9K99")
    issue(kept, owner="bia")
    assert found(kept.newest_owned("ana", "ABC1D23")).number == second
    kept.revoke(second)
    assert found(kept.newest_owned("ana", "ABC1D23")).number == first
    clock.advance(LIFETIME_S)
    assert kept.newest_owned("ana", "ABC1D23") is None


def test_sweep_leaves_valid_dossiers(database: Database, clock: Clock) -> None:
    kept = archive(database, clock)
    number, _ = issue(kept)
    clock.advance(LIFETIME_S - 1)
    kept.drop_expired()
    assert kept.html(found(kept.by_number(number))) == HTML


def test_revocation_is_the_owners_or_the_operators(database: Database, clock: Clock) -> None:
    kept = archive(database, clock)
    first, second = issue(kept), issue(kept)
    assert not kept.revoke(first.number, "bia")
    assert found(kept.by_number(first.number)).state == "valid"
    assert kept.revoke(first.number, "ana")
    assert kept.revoke(second.number)
    assert not kept.revoke(second.number)
    for number, key in (first, second):
        assert found(kept.by_key(key)).state == "revoked"
        assert found(kept.by_number(number)).snapshot is None
    assert {cell for cell in cells(database) if isinstance(cell, bytes)} == set()


def test_expired_dossier_cannot_be_revoked(database: Database, clock: Clock) -> None:
    kept = archive(database, clock)
    number, _ = issue(kept)
    clock.advance(LIFETIME_S)
    assert not kept.revoke(number, "ana")
    assert found(kept.by_number(number)).state == "expired"


def test_purge_deletes_a_vehicles_dossiers_of_every_namespace(
    database: Database, clock: Clock
) -> None:
    one, other = archive(database, clock), archive(database, clock, namespace="other")
    mine, theirs, unrelated = issue(one), issue(other), issue(one, plate="XYZ9K99")
    assert forget(database, one, "ABC1D23") == 2
    assert one.by_key(mine.key) is None
    assert other.by_key(theirs.key) is None
    assert one.by_key(unrelated.key) is not None


def test_dossier_of_records_from_before_a_purge_is_not_stored(
    database: Database, clock: Clock
) -> None:
    kept = archive(database, clock)
    (number,) = log_purge(database, tag("ABC1D23"))
    snapshot = IssuedSnapshot(plate="ABC1D23", caller="ana", summary="{}")
    with pytest.raises(Purged):
        kept.issue("ana", new_identifiers(), snapshot, HTML, None, last_purge=0)
    assert cells(database) == []
    issue(kept, last_purge=number)  # a new dossier of the vehicle may be stored


def test_number_is_unique(database: Database, clock: Clock) -> None:
    kept = archive(database, clock)
    number, _ = issue(kept)
    snapshot = IssuedSnapshot(plate="XYZ9K99", caller="ana", summary="{}")
    again = Identifiers(number, new_identifiers().key)
    with pytest.raises(NumberTaken):
        kept.issue("ana", again, snapshot, HTML, None, last_purge=0)
    assert found(kept.by_number(number)).snapshot != snapshot


def test_unreachable_database_is_reported(database: Database, clock: Clock) -> None:
    kept = archive(database, clock)
    with database.engine.begin() as db:
        db.execute(text("DROP TABLE dossiers"))
    for use in (
        lambda: kept.by_key("k"),
        lambda: kept.all(),
        lambda: kept.revoke("n"),
        lambda: issue(kept),
    ):
        with pytest.raises(SQLAlchemyError):
            use()
    with pytest.raises(SQLAlchemyError):
        forget(database, kept, "ABC1D23")
