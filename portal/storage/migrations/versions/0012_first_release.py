"""The schema of the first release. The numbers before 0012 were of versions before it.

``upgrade_schema`` creates these tables from the metadata, together with those of later revisions.
"""

revision = "0012"
down_revision = None


def upgrade() -> None:
    raise AssertionError("the tables are created from the metadata")
