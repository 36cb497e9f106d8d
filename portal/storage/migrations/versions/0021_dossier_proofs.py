"""Adds what proves that a dossier was issued: the hash of its PDF, its signature, its successor."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.add_column("dossiers", sa.Column("pdf_sha256", sa.String(64)))
    op.add_column("dossiers", sa.Column("signature", sa.Text))
    op.add_column("dossiers", sa.Column("superseded_by", sa.String(12)))
    op.create_index("dossiers_by_pdf_sha256", "dossiers", ["pdf_sha256"])
