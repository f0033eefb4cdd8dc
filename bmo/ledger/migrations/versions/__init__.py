"""One file a migration, in order; a migration is never edited once it is released.

Workers of the version before go on working with what a migration made: it adds tables, indexes and
columns that may be left out (nullable, or with a default of the server's). What nothing reads or
writes any more is taken away one version later, by a migration that raises ``migrating.OLDEST`` to
the schema before it. ``tests/integration/test_rolling_upgrade.py`` compares.
"""
