"""Shares for people to read."""


def percent(share: float) -> str:
    """Write a share, never rounded up to all or down to none.

    >>> percent(0.998), percent(0.99999), percent(0.00001), percent(1), percent(0)
    ('99.8 %', '99.9 %', '0.1 %', '100 %', '0 %')
    """
    if share in (0, 1):
        return f"{100 * share:.0f} %"
    return f"{100 * min(max(share, 0.001), 0.999):.1f} %"
