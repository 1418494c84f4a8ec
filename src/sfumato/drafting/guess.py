"""Guess what a column is, from its name and its values."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

import numpy as np

from sfumato.schema import Role
from sfumato.tables import Domain
from sfumato.text import date_of, number_of, percent, text_of
from sfumato.typing import Value

# What the names of columns say: words in English, German, French and Spanish.


class Meaning(NamedTuple):
    """What a word in a column's name stands for."""

    role: Role
    what: str


_FREE_TEXT = Meaning(Role.DROPPED, "free text")
_ID, _QI, _SENSITIVE = Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE

# First match wins. A blank joins words that mean something only side by side.
_WORDS: tuple[tuple[Meaning, str], ...] = (
    (_FREE_TEXT, """
        note, notes, comment, comments, remark, remarks, free text, freetext, narrative,
        message, notiz, notizen, bemerkung, bemerkungen, kommentar, freitext, anmerkung,
        remarque, remarques, commentaire, commentaires, nota, notas, comentario, comentarios,
        observacion, observaciones"""),
    (Meaning(_ID, "a person's name"), """
        surname, firstname, lastname, fullname, forename, first name, last name, full name,
        given name, family name, middle name, maiden name, birth name, user name, username,
        nickname, vorname, nachname, familienname, geburtsname, rufname, prenom, nom de famille,
        apellido, apellidos"""),
    (Meaning(_ID, "an e-mail address"), "email, e mail, mail, correo, courriel"),
    (Meaning(_ID, "a telephone number"), """
        phone, telephone, tel, mobile, cellphone, fax, telefon, telefonnummer, handy,
        handynummer, telefono, movil"""),
    (Meaning(_ID, "an address"), """
        street, address, addr, house number, strasse, hausnummer, adresse, anschrift, rue,
        direccion, calle, ip, ip address, mac address, url, website, homepage"""),
    (Meaning(_ID, "a number given to one person"), """
        ssn, social security, nhs, mrn, iban, bic, passport, passport number, driver license,
        drivers license, licence plate, license plate, tax number, taxpayer, nino, dni, nie,
        nif, account number, credit card, card number, insurance number,
        sozialversicherungsnummer, versichertennummer, versicherungsnummer,
        krankenversichertennummer, steuernummer, reisepass, kontonummer, patientennummer,
        fallnummer, kundennummer, personalnummer, matrikelnummer, numero de securite sociale,
        nir, passeport, pasaporte, cuenta"""),
    (Meaning(_QI, "an age"), "age, ages, alter, edad, lebensalter"),
    (Meaning(_QI, "a date in a life"), """
        birth, birthday, birthdate, dob, born, yob, geburt, geburtsdatum, geburtstag,
        geburtsjahr, naissance, nacimiento, death, dod, died on, sterbedatum, deces, date,
        datum, fecha, year, month, day, jahr, monat, annee, mois, jour, ano, mes, admission,
        admitted, discharge, discharged, visit, aufnahme, aufnahmedatum, entlassung,
        entlassungsdatum, entree, sortie, ingreso hospital, timestamp"""),
    (Meaning(_SENSITIVE, "health"), """
        disease, diseases, diagnosis, diagnoses, diag, icd, condition, ill, illness, disorder,
        symptom, symptoms, comorbidity, health condition, krankheit, erkrankung, diagnose,
        diagnosen, befund, maladie, diagnostic, affection, enfermedad, diagnostico, dolencia,
        hiv, aids, sti, cancer, tumor, pregnant, pregnancy, disability, behinderung, handicap,
        discapacidad, outcome, prognosis, treatment, therapy, procedure, behandlung, therapie,
        traitement, tratamiento, surgery"""),
    (Meaning(_SENSITIVE, "a test result"), """
        test result, result, results, lab, lab value, ergebnis, laborwert, resultat, resultado,
        viral load, genotype, mutation"""),
    (Meaning(_SENSITIVE, "medication"), """
        medication, medications, drug, drugs, medicine, prescription, medikament, medikamente,
        medikation, medicament, medicaments, medicamento, medicacion"""),
    (Meaning(_SENSITIVE, "money"), """
        salary, income, wage, wages, earnings, pay, debt, wealth, credit score, gehalt, lohn,
        einkommen, verdienst, schulden, vermoegen, vermogen, salaire, revenu, revenus, dette,
        salario, sueldo, ingresos, renta, deuda"""),
    (Meaning(_SENSITIVE, "belief or conduct"), """
        religion, religious, faith, konfession, glaube, sexual orientation, orientation,
        political, politics, party, partei, parti, partido, union member, crime, conviction,
        offence, offense, straftat, delito"""),
    (Meaning(_QI, "sex or gender"), "sex, gender, geschlecht, sexe, genre, sexo, genero"),
    (Meaning(_QI, "a postcode"), """
        zip, zipcode, zip code, postcode, post code, postal, postal code, plz, postleitzahl,
        code postal, codigo postal, cp"""),
    (Meaning(_QI, "a place"), """
        city, town, village, place, country, county, state, region, district, province,
        location, latitude, longitude, lat, lon, lng, residence, birthplace, stadt, ort,
        wohnort, gemeinde, land, bundesland, kreis, geburtsort, ville, commune, pays,
        departement, lieu, ciudad, pais, municipio, provincia, lugar"""),
    (Meaning(_QI, "origin"), """
        nationality, citizenship, race, ethnicity, ethnic, ethnic group, origin, native,
        language, mother tongue, nationalitat, nationalitaet, staatsangehorigkeit,
        staatsangehoerigkeit, herkunft, muttersprache, sprache, nationalite, origine, langue,
        nacionalidad, etnia, origen, idioma"""),
    (Meaning(_QI, "family"), """
        marital, marital status, married, spouse, children, household, relationship, siblings,
        familienstand, zivilstand, kinder, haushalt, etat civil, enfants, situation familiale,
        estado civil, hijos, hogar"""),
    (Meaning(_QI, "education or work"), """
        education, degree, school, university, qualification, occupation, job, profession,
        employer, employment, workclass, industry, department, position, rank, government,
        bildung, schulabschluss, abschluss, beruf, tatigkeit, taetigkeit, arbeitgeber, branche,
        formation, diplome, metier, emploi, employeur, educacion, estudios, ocupacion,
        profesion, trabajo, empleo"""),
    (Meaning(_QI, "the body"), """
        height, weight, bmi, blood group, blood type, eye color, eye colour, hair color, hair
        colour, grosse, gewicht, taille, poids, altura, estatura, peso"""),
)  # fmt: skip

_NAMING = Meaning(_ID, "a name or number given to one person")
_NAMES_ONE = frozenset({
    "id", "ids", "uid", "uuid", "guid", "pid", "key", "login",
    "name", "names", "nom", "noms", "nombre", "nombres",
})  # fmt: skip
_WHOLE = frozenset({
    "patient", "person", "customer", "client", "employee", "student", "member", "subject",
    "participant", "user", "patientin", "kunde", "kundin", "mitarbeiter", "cliente", "paciente",
})  # fmt: skip
"""Say something only when they are the whole name."""

_COUNTS_UP = frozenset({
    "number", "no", "nr", "num", "numero", "nummer", "index", "idx", "record", "row", "rownum",
    "ref",
})  # fmt: skip

_PHRASES: dict[tuple[str, ...], Meaning] = {}
for _meaning, _list in _WORDS:
    for _phrase in _list.split(","):
        _PHRASES.setdefault(tuple(_phrase.split()), _meaning)
_RANK = {meaning: rank for rank, (meaning, _) in enumerate(_WORDS)}
_LONGEST = max(map(len, _PHRASES))


def words(name: str) -> tuple[str, ...]:
    """Split a column's name into plain words.

    >>> words("PatientID"), words("Straße & Nº"), words("net_income-2020")
    (('patient', 'id'), ('strasse', 'no'), ('net', 'income'))
    """
    plain = unicodedata.normalize("NFKD", name)
    plain = "".join(char for char in plain if not unicodedata.combining(char))
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain)
    return tuple(re.findall(r"[^\W\d_]+", plain.casefold()))


def meaning_of(name: str) -> Meaning | None:
    """Return what a column's name stands for, or None if it says nothing known.

    >>> meaning_of("age_at_diagnosis").what, meaning_of("city_name").what
    ('an age', 'a place')
    >>> meaning_of("patient name").role, meaning_of("x1")
    (<Role.IDENTIFIER: 'identifier'>, None)
    """
    said = words(name)
    found = [
        _PHRASES[said[start:end]]
        for start in range(len(said))
        for end in range(start + 1, min(start + _LONGEST, len(said)) + 1)
        if said[start:end] in _PHRASES
    ]
    if found:
        return min(found, key=_RANK.__getitem__)
    if _NAMES_ONE.intersection(said) or (len(said) == 1 and said[0] in _WHOLE):
        return _NAMING
    return None


def counts_up(name: str) -> bool:
    """Return whether a name is that of a running number or key, if its values are one.

    >>> counts_up("Record No."), counts_up("diagnosis id"), counts_up("age")
    (True, True, False)
    """
    said = words(name)
    return not (_NAMES_ONE | _COUNTS_UP).isdisjoint(said)


_LOOKED_AT = 1000
"""Values that are looked at to see of what kind they are."""

_NEARLY_ALL = 0.9
_ENOUGH = 20
"""In fewer rows, being unique is no sign of anything."""

_PATTERNS = {
    "e-mail addresses": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "telephone numbers": re.compile(r"(\+\d|\(\d)[\d ()./-]{6,20}"),
    "account numbers (IBAN)": re.compile(r"[A-Z]{2}\d{2} ?([A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}"),
    "social security numbers": re.compile(r"\d{3}-\d{2}-\d{4}"),
    "unique identifiers (UUID)": re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "internet addresses": re.compile(r"\w{3,6}://\S+|\d{1,3}(\.\d{1,3}){3}"),
}
"""Values that name a person whatever the column is called."""

_OTHERS_MAY_KNOW = "others may know it"


class Guess(NamedTuple):
    """A column's role and why."""

    role: Role
    reason: str
    certain: bool = False
    """Whether there is little doubt: what the name says, or an empty column."""


def guess(domain: Domain) -> Guess:
    """Guess the role of a column, on the safe side where nothing is known.

    A column without known words is generalised (quasi-identifier) rather than
    published as it is: others may know it, and ranges of a measurement betray less than
    the measurement itself, which is nearly unique.
    """
    look = _Look(domain)
    facts = look.facts()
    if not domain.rows.size:
        return Guess(
            Role.DROPPED, "every cell is missing: there is nothing to publish", certain=True
        )
    pattern = look.pattern()
    if pattern:
        return Guess(Role.IDENTIFIER, f"{facts}: the values look like {pattern}")
    if look.is_free_text():
        return Guess(Role.DROPPED, f"{facts}, long texts: free text can name people")
    named = _certain(domain.column, look)
    return named if named is not None else _by_values(look)


def guess_all(columns: Sequence[str], domains: Mapping[str, Domain]) -> dict[str, Guess]:
    """Guess every column's role."""
    reason = "has no single value per row, so it cannot be protected"
    nested = Guess(Role.DROPPED, reason, certain=True)
    return {name: guess(domains[name]) if name in domains else nested for name in columns}


def _certain(column: str, look: "_Look") -> Guess | None:
    meaning, facts = meaning_of(column), look.facts()
    named = meaning is not None and meaning.role is Role.IDENTIFIER
    if not named and counts_up(column) and look.nearly_unique:
        reason = f"{facts}, called like a running number: looks like an identifier"
        return Guess(Role.IDENTIFIER, reason, certain=True)
    if meaning is None:
        return None
    role, reason = meaning.role, f"{facts}, looks like {meaning.what} by its name"
    if role is Role.DROPPED:
        reason += ": it can name people"
    elif role is Role.SENSITIVE and look.kind == "date":
        role, reason = Role.QUASI_IDENTIFIER, f"{reason}, but holds dates: {_OTHERS_MAY_KNOW}"
    elif role is Role.SENSITIVE and look.kind == "text" and look.nearly_unique_for_sure:
        role = Role.DROPPED
        reason += ", but nearly every row has its own text, which would be a fingerprint"
    elif role is Role.SENSITIVE:
        reason += ": nobody should learn it about a person"
    elif role is Role.QUASI_IDENTIFIER:
        reason += f": {_OTHERS_MAY_KNOW}"
    return Guess(role, reason, certain=True)


def _by_values(look: "_Look") -> Guess:
    facts = look.facts()
    if look.is_running_number():
        return Guess(
            Role.IDENTIFIER, f"{facts}, whole numbers without gaps: looks like a row number"
        )
    if look.kind == "text" and look.nearly_unique:
        return Guess(Role.IDENTIFIER, f"{facts}: looks like an identifier")
    if look.is_long_number() and look.nearly_unique_for_sure:
        return Guess(
            Role.IDENTIFIER, f"{facts}, long numbers of one length: looks like an identifier"
        )
    if look.kind == "date":
        return Guess(Role.QUASI_IDENTIFIER, f"{facts}, dates: {_OTHERS_MAY_KNOW}")
    if look.kind == "number" and look.nearly_unique_for_sure:
        return Guess(
            Role.QUASI_IDENTIFIER,
            f"{facts}, a measurement: exact figures are fingerprints, ranges are not",
        )
    return Guess(Role.QUASI_IDENTIFIER, f"{facts}, meaning unknown: to be safe, {_OTHERS_MAY_KNOW}")


class _Look:
    """What a few values, and how often each occurs, show."""

    def __init__(self, domain: Domain) -> None:
        self._distinct = len(domain.rows)
        self._known = int(domain.rows.sum())
        self._alone = int(np.count_nonzero(domain.rows == 1))
        self._missing = domain.missing
        self._sample = domain.values(_LOOKED_AT)
        self._texts = [text_of(value) for value in self._sample]
        self.kind = _kind(self._sample)
        self.nearly_unique = self._known >= 2 and self._alone >= _NEARLY_ALL * self._known
        self.nearly_unique_for_sure = self.nearly_unique and self._known >= _ENOUGH

    def facts(self) -> str:
        """Return in a few words how the values are spread."""
        if self._alone == self._known > 1:
            facts = "different in every row"
        elif self.nearly_unique:
            share = percent(self._alone / self._known)
            facts = f"unique for {share} of rows" if self._missing == 0 else f"{share} unique"
        else:
            facts = f"{self._distinct:,} distinct value{'s' * (self._distinct != 1)}"
        if self._missing:
            facts += f", {percent(self._missing / (self._known + self._missing))} missing"
        return facts

    def pattern(self) -> str | None:
        """Return what most of the texts are, if it is something that names people."""
        for what, form in _PATTERNS.items():
            hits = sum(form.fullmatch(text) is not None for text in self._texts)
            if hits >= 0.8 * len(self._texts):
                return what
        return None

    def is_free_text(self) -> bool:
        """Return whether the texts are sentences, which are long, and few of which occur twice."""
        if self.kind != "text" or self._distinct < 0.5 * self._known:
            return False
        length = fmean(len(text) for text in self._texts)
        return length >= 100 or (length >= 30 and fmean(t.count(" ") for t in self._texts) >= 5)

    def is_running_number(self) -> bool:
        """Return whether the values count the rows: each once, at steady steps."""
        if self._alone < self._known or self._known < 5:
            return False
        numbers = _whole(self._sample)
        if numbers is None:
            return False
        if self._distinct <= len(numbers):
            gaps = {b - a for a, b in pairwise(numbers)}
            if len(gaps) == 1:
                return True
        return self._known >= _ENOUGH and numbers[-1] - numbers[0] < 1.2 * self._distinct

    def is_long_number(self) -> bool:
        """Return whether the values are whole numbers of many and equally many digits."""
        lengths = set(map(len, self._texts))
        return _whole(self._sample) is not None and len(lengths) == 1 and max(lengths) >= 5


def _kind(values: Sequence[Value]) -> str:
    if values and all(date_of(value) is not None for value in values):
        return "date"
    if values and all(number_of(value) is not None for value in values):
        return "number"
    return "text" if all(isinstance(value, str | bytes) for value in values) else "other"


def _whole(values: Sequence[Value]) -> list[int] | None:
    """Return the values in order if all are whole numbers."""
    numbers = [number_of(value) for value in values]
    if any(number is None or not number.is_integer() for number in numbers):
        return None
    return sorted(int(number) for number in numbers if number is not None)
