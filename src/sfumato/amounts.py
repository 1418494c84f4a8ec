"""Amounts as people write them: with currencies and units, thousands apart, losses in brackets."""

import re
from decimal import Decimal
from typing import NamedTuple


class WrittenAmount(NamedTuple):
    """A number with what it is of.

    >>> amount_of("CHF 1'200.-")
    WrittenAmount(unit='chf', number=Decimal('1200'))
    """

    unit: str
    """What it is of, in small letters; empty if nothing is said."""

    number: Decimal

    @property
    def is_money(self) -> bool:
        """Whether it is in a currency.

        >>> [amount_of(text).is_money for text in ("US$ 5", "5 EUR", "REF 5", "5 mg")]
        [True, True, False, False]
        """
        return self.unit in _CURRENCIES or any(sign in _SYMBOLS for sign in self.unit)


_SYMBOLS = "$€£¥₹₽₩₺₪₫₴₦฿₱"
_NAMES = (
    "aud brl cad chf clp cny czk dkk eur gbp hkd huf idr ils inr jpy krw mxn myr nok nzd php pln "
    "ron rub sek sgd thb try twd uah usd zar euro euros dm fr fr. sfr kr kr. kč zł ft rs rs. lei"
)
_CURRENCIES = frozenset(_NAMES.split())

_SYMBOL = f"[{_SYMBOLS}]"
_NAMED = "[A-Z]{3}|SFr|Fr|Rs|Kč|kr|Ft|DM|zł"
_SPACES = "\u0020\u00a0\u2009\u202f"
_APART = f"{_SPACES}'’"
_NUMBER = re.compile(
    r"(?:[~≈]|ca\.?)?\s*"
    r"(?P<minus>[-+−–]|\((?=[^()]*\)$))?\s*"
    rf"(?P<before>[A-Z]{{0,3}}{_SYMBOL}|(?:{_NAMED})\.?(?=\s?[-−]?\d))?\s*(?P<inner>[-−])?"
    rf"(?P<digits>\d{{1,2}}(?:,\d{{2}})+,\d{{3}}(?:\.\d{{1,4}})?"
    rf"|\d{{1,3}}(?:[{_APART}.,]\d{{3}})+(?:[.,]\d{{1,4}})?"
    r"|\d{1,18}(?:[.,]\d{1,12})?)"
    r"(?P<round>[.,][-–—]{1,2})?(?P<times>\s?k(?![^\W\d_])|[KT](?![^\W\d_]))?"
    r"\s*(?P<unit>[^\d\s.,;:/|+\-()][^\d;:/|+()]{0,11}(?:/\s?[^\W\d]{1,8})?|)"
    r"(?P<end>(?<=\d)[-−]|\))?"
)

_TIMES = {
    "k": 3, "t": 3, "tsd": 3, "mio": 6, "mn": 6, "mln": 6, "million": 6, "millions": 6,
    "millionen": 6, "mrd": 9, "bn": 9, "billion": 9, "lakh": 5, "crore": 7, "tausend": 3,
    "thousand": 3, "mille": 3, "mil": 3, "mila": 3, "duizend": 3, "miljoen": 6, "millón": 6,
    "millones": 6, "milione": 6, "milioni": 6, "milliarden": 9, "miliardi": 9, "miljard": 9,
}  # fmt: skip
_MULTIPLE = re.compile(
    rf"({'|'.join(sorted((each for each in _TIMES if len(each) > 1), key=len, reverse=True))})"
    rf"\.?(?:\s+|$|(?={_SYMBOL}))|(t)\s?(?={_SYMBOL}|(?:eur|usd|chf|gbp)$)"
)


def amount_of(text: str) -> WrittenAmount | None:
    """Return the amount that a text says; None if it says none.

    >>> [str(amount_of(text).number) for text in ("$1,200.50", "1.200,50 €", "(3.5)", "2 Mio. €")]
    ['1200.50', '1200.50', '-3.5', '2000000']
    >>> [str(amount_of(text).number) for text in ("50 k", "50 T€", "50 TEUR", "50 mil €", "50 mm")]
    ['50000', '50000', '50000', '50000', '50']
    >>> amount_of("E11"), amount_of("120/80")
    (None, None)
    """
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    minus, end = found["minus"], found["end"]
    if (minus == "(") != (end == ")"):
        return None
    below = sum(bool(sign) and sign != "+" for sign in (minus, found["inner"]))
    below += end in ("-", "−")
    unit, times = (found["unit"] or "").strip().casefold(), 0
    if found["times"]:
        times = _TIMES[found["times"].strip().lower()]
    elif (multiple := _MULTIPLE.match(unit)) is not None:
        times, unit = _TIMES[multiple[1] or multiple[2]], unit[multiple.end() :]
    before = (found["before"] or "").rstrip(".").casefold()
    try:
        number = Decimal(_digits(found["digits"])) * 10**times
    except ArithmeticError:
        return None
    unit = before or unit
    return WrittenAmount(_SAME.get(unit, unit), -number if below == 1 else number)


_SAME = {"€": "eur", "euro": "eur", "euros": "eur", "us$": "usd", "£": "gbp"}
"""One currency in several writings."""


def _digits(text: str) -> str:
    """Return digits as Python writes them."""
    digits = re.sub(f"[{_APART}]", "", text)
    dot, comma = digits.rfind("."), digits.rfind(",")
    if dot >= 0 and comma >= 0:
        # What comes last is the decimal point.
        group = "," if dot > comma else "."
        return digits.replace(group, "").replace(",", ".")
    if comma >= 0:
        whole = re.fullmatch(r"\d{1,3}(,\d{2,3})*,\d{3}", digits) is not None
        return digits.replace(",", "" if whole else ".")
    return digits.replace(".", "") if digits.count(".") > 1 else digits
