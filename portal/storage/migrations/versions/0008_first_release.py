"""The schema of the first release. The numbers before 0008 were of versions before it.

``upgrade_schema`` creates these tables from the metadata, together with those of later revisions.
"""

revision = "0008"
down_revision = None


def upgrade() -> None:
    raise AssertionError("the tables are created from the metadata")
