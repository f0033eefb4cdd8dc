"""Facts by whom they are about: who is known, and what is known of some of them.

Who there is comes first and by itself. Beside an OR of beginnings and endings no index over
subjects serves, and a database would read every fact of the user.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from bmo.ledger.facts import fetch, is_live, select_facts
from bmo.ledger.schema import facts
from bmo.turn import StoredFact


def _every_subject() -> sa.Select[tuple[str]]:
    """The next subject after the last, over and over: a step in the index each, not a fact each."""
    user = facts.c.user_id == sa.bindparam("user")
    each = sa.select(sa.func.min(facts.c.subject).label("subject")).where(user).cte("each", True)
    after = facts.alias("after")
    following = sa.select(sa.func.min(after.c.subject)).where(
        after.c.user_id == sa.bindparam("user"), after.c.subject > each.c.subject
    )
    each = each.union_all(sa.select(following.scalar_subquery()).where(each.c.subject.is_not(None)))
    return sa.select(each.c.subject).where(each.c.subject.is_not(None))


_EVERY_SUBJECT = _every_subject()
_LIVE = (
    select_facts()
    .where(
        facts.c.user_id == sa.bindparam("user"),
        facts.c.subject.in_(sa.bindparam("subjects", expanding=True)),
        is_live(),
    )
    .order_by(facts.c.valid_from, facts.c.id)
)


def subjects_of(connection: Connection, user_id: str, meant: Callable[[str], bool]) -> list[str]:
    """Subjects of a user's facts, live or ended, for which ``meant`` is true."""
    known = connection.execute(_EVERY_SUBJECT, {"user": user_id}).scalars()
    return [subject for subject in map(str, known) if meant(subject)]


def of_people(connection: Connection, user_id: str, relation: str, name: str) -> list[StoredFact]:
    """Live facts of everybody of a relation, and of everybody of that name."""

    def meant(subject: str) -> bool:
        of_relation = subject == relation or subject.startswith(f"{relation}:")
        return of_relation or (bool(name) and subject.endswith(f":{name}"))

    subjects = subjects_of(connection, user_id, meant)
    return fetch(connection, _LIVE, {"user": user_id, "subjects": subjects}) if subjects else []
