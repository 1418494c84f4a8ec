"""Fingerprints: an increment that is given twice is recognised, without being kept."""

import hmac
from collections import Counter
from collections.abc import Mapping

from sfumato.ledger.asks import Ask
from sfumato.ledger.written import digest_text


def of_row(salt: str, ask: Ask) -> str:
    """Give the fingerprint of one row.

    The salt is the ledger's own: fingerprints of different ledgers cannot be compared. Whoever
    has the ledger can still try out rows; that is why it is private.
    """
    # Labels and rows are written as JSON, which has no line breaks.
    return _hmac(salt, f"{ask.kind}\n{ask.labels}\n{ask.row}\n{ask.new_labels}\n{ask.new_row}")


def of_increment(salt: str, asks: Mapping[Ask, int]) -> str:
    """Give the fingerprint of all rows together, whatever their order.

    >>> one, two = Ask("add", '["a"]', '["x"]'), Ask("add", '["a"]', '["y"]')
    >>> of_increment("s", Counter([one, two])) == of_increment("s", Counter([two, one]))
    True
    """
    rows = sorted((of_row(salt, ask), rows) for ask, rows in Counter(asks).items())
    return _hmac(salt, digest_text(rows))


def _hmac(salt: str, text: str) -> str:
    return hmac.digest(salt.encode(), text.encode(), "sha256").hex()
