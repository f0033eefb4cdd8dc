"""One file a migration, in order; a migration is never edited once it is released."""
