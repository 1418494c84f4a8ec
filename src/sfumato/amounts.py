"""Amounts as people write them: with currencies and units, thousands apart, losses in brackets."""

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import NamedTuple

from sfumato.patterns import late


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

    def counted_in(self, unit: str) -> Decimal | None:
        """Return the number that it is in another unit; None if that is no measure of the same.

        >>> [amount_of(text).counted_in("kg") for text in ("80 kg", "80000 g", "80 cm")]
        [Decimal('80'), Decimal('80'), None]
        >>> amount_of("150 mg/dl").counted_in("g/l"), amount_of("98.6 °F").counted_in("°c")
        (Decimal('1.50'), Decimal('37.0'))
        """
        if unit == self.unit:
            return self.number
        if {unit, self.unit} <= {*_DEGREES}:
            celsius = _DEGREES[self.unit] == "c"
            other = self.number * 9 / 5 + 32 if celsius else (self.number - 32) * 5 / 9
            return self.number if _DEGREES[unit] == _DEGREES[self.unit] else other
        mine, asked = _measure(self.unit), _measure(unit)
        if mine is None or asked is None or mine.of != asked.of:
            return None
        return self.number * mine.size / asked.size


def amount_in_parts(text: str) -> WrittenAmount | None:
    """Return the amount that several numbers say, each with its unit; None if they say none.

    >>> [str(amount_in_parts(text).number) for text in ("1h 30m", "PT2H5M", "1 Std. 20 Min.")]
    ['90', '125', '80']
    >>> amount_in_parts("5 ft 11 in"), amount_in_parts("5 kg 11 in")
    (WrittenAmount(unit='in', number=Decimal('71')), None)
    """
    bare = text.strip().casefold()
    bare = bare[2:] if bare.startswith("pt") else bare
    if _IN_PARTS.fullmatch(bare) is None:
        return None
    pairs = [(Decimal(n.replace(",", ".")), unit) for n, unit in _PART.findall(bare)]
    units = [_units().get(_SHORT.get(unit, unit)) for _, unit in pairs]
    if units[0] is not None and units[0].of == ("time",):
        # Minutes are as short as metres.
        pairs = [(number, "min" if unit == "m" else unit) for number, unit in pairs]
    total, last = Decimal(0), _SHORT.get(pairs[-1][1], pairs[-1][1])
    for number, unit in pairs:
        part = WrittenAmount(_SHORT.get(unit, unit), number).counted_in(last)
        if part is None:
            return None
        total += part
    return WrittenAmount(last, total.quantize(Decimal("1e-6")).normalize() + 0)


_PART = late(r"(\d+(?:[.,]\d+)?)\s*([^\W\d_]+|['′\"″])")
_IN_PARTS = late(rf"(?:{_PART.pattern}\.?[\s,]*){{2,5}}")
_SHORT = {"'": "ft", "′": "ft", '"': "in", "″": "in"}


class _Measure(NamedTuple):
    of: tuple[str, ...]
    """What it measures: a mass; a mass and a volume for a mass per volume."""

    size: Decimal
    """How large it is beside the others that measure the same."""


_SIZES = {
    "mass": "µg ug mcg 0.000001  mg 0.001  g gr gram grams gramm 1  kg kgs kilo kilos 1000  "
    "lb lbs pound pounds 453.59237  oz 28.349523125",
    "length": "mm 0.001  cm 0.01  dm 0.1  m 1  km 1000  in inch inches 0.0254  "
    "ft feet foot 0.3048  mi mile miles 1609.344",
    "volume": "µl ul 0.000001  ml 0.001  cl 0.01  dl 0.1  l liter litre liters litres 1",
    "substance": "nmol 0.000001  µmol umol 0.001  mmol 1  mol 1000",
    "time": "ms 0.001  s sec sek secs seconds sekunden 1  min mins minutes minuten 60  "
    "h hr hrs hour hours std stunden 3600  d day days tag tage jours días 86400  "
    "week weeks wk wks woche wochen 604800  month months mo monat monate mois 2629746  "
    "y yr yrs year years jahr jahre ans años 31556952",
}
"""Measures, each with its units and how many of one they are."""

_DEGREES = {"°c": "c", "ºc": "c", "celsius": "c", "°f": "f", "ºf": "f", "fahrenheit": "f"}


@cache
def _units() -> Mapping[str, _Measure]:
    found: dict[str, _Measure] = {}
    for measure, text in _SIZES.items():
        for line in text.split("  "):
            *names, size = line.split()
            # Two characters look like the letter for a millionth.
            found |= {n: _Measure((measure,), Decimal(size)) for n in names}
            found |= {n.replace("µ", "μ"): found[n] for n in names}
    return found


def _measure(unit: str) -> _Measure | None:
    """Return what a unit measures, and how large it is; None if it is not known."""
    parts = [_units().get(part.strip(" .")) for part in unit.split("/")]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len(known) > 2:
        return None
    of = tuple(measure for part in known for measure in part.of)
    size = known[0].size / (known[1].size if len(known) > 1 else 1)
    return _Measure(of, size)


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
_NUMBER = late(
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
_MULTIPLE = late(
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
