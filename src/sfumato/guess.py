"""Guess what a column is, from its name and its values."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from enum import IntEnum, StrEnum
from functools import cached_property
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple

import numpy as np

from sfumato.dates import look_like_dates, read_text
from sfumato.schema import Role
from sfumato.tables import Domain
from sfumato.text import number_of, percent, text_of
from sfumato.typing import Value

# What the names of columns say: words in English, German, French and Spanish.


class Meaning(NamedTuple):
    """What a word in a column's name stands for."""

    role: Role
    what: str


_FREE_TEXT = Meaning(Role.DROPPED, "free text")
_ID, _QI, _SENSITIVE = Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE
_A_WEIGHT = Meaning(Role.WEIGHT, "a survey weight")

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
        nickname, vorname, nachname, familienname, geburtsname, rufname, prenom, prenoms,
        nom de famille, nom complet, nom et prenom, apellido, apellidos, nombre completo,
        nombre y apellidos"""),
    (Meaning(_ID, "an e-mail address"), """
        email, e mail, mail, emailadresse, mailadresse, correo, correo electronico, courriel"""),
    (Meaning(_ID, "a telephone number"), """
        phone, telephone, tel, mobile, cellphone, fax, telefon, telefonnummer, telefonnr, handy,
        handynummer, mobilnummer, rufnummer, telefono, movil, celular"""),
    (Meaning(_ID, "an address"), """
        street, address, addr, house number, strasse, hausnummer, adresse, anschrift, rue,
        direccion, domicilio, calle, ip, ip address, mac address, url, website, homepage"""),
    (Meaning(_ID, "a number given to one person"), """
        ssn, social security, nhs, mrn, iban, bic, passport, passport number, driver license,
        drivers license, licence plate, license plate, tax number, taxpayer, nino, dni, nie,
        nif, account number, credit card, card number, insurance number,
        sozialversicherungsnummer, versichertennummer, versicherungsnummer,
        krankenversichertennummer, steuernummer, reisepass, kontonummer, patientennummer,
        fallnummer, kundennummer, personalnummer, matrikelnummer, ausweisnummer, aktenzeichen,
        steuer id, pseudonym, medical record, hospital number, national id, social insurance,
        numero de securite sociale, numero de dossier, numero patient, matricule, identifiant,
        nir, passeport, pasaporte, cuenta, cedula, historia clinica, expediente"""),
    (Meaning(_QI, "an age"), "age, ages, alter, edad, lebensalter"),
    (Meaning(_QI, "a date in a life"), """
        birth, birthday, birthdate, dob, born, yob, geburt, geburtsdatum, geburtstag, gebdat,
        geburtsjahr, geboren, naissance, ddn, nacimiento, death, dod, died on, deathdate,
        sterbedatum, sterbetag, todesdatum, todestag, gestorben, verstorben, deces, defuncion,
        fallecimiento, muerte, date,
        datum, fecha, year, month, day, jahr, monat, annee, mois, jour, ano, mes, admission,
        admitted, discharge, discharged, visit, aufnahme, aufnahmedatum, entlassung,
        entlassungsdatum, entree, sortie, ingreso hospital, timestamp"""),
    (Meaning(_SENSITIVE, "health"), """
        disease, diseases, diagnosis, diagnoses, diag, icd, condition, ill, illness, disorder,
        symptom, symptoms, comorbidity, health condition, krankheit, erkrankung, diagnose,
        diagnosen, befund, maladie, diagnostic, affection, enfermedad, diagnostico, dolencia,
        hiv, aids, sti, cancer, tumor, pregnant, pregnancy, disability, behinderung, handicap,
        discapacidad, outcome, prognosis, treatment, therapy, procedure, behandlung, therapie,
        traitement, tratamiento, surgery, asthma, diabetes, diabetic, hepatitis, hypertension,
        stroke, epilepsy, dementia, depression, depressed, anxiety, psychiatric, tuberculosis,
        syphilis, blood pressure, cholesterol, smoker, smoking, drinker, alcohol, suicide,
        abortion, disabled, blutdruck, bluthochdruck, schlaganfall, raucher, alkohol, diabetiker,
        diabete, asthme, fumeur, alcool, asma, hipertension, fumador"""),
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
    (_A_WEIGHT, """
        survey weight, sampling weight, sample weight, person weight, design weight, fnlwgt,
        pweight, perwt, wgt, wt, finalwgt, weighting, hochrechnungsfaktor, gewichtung,
        ponderation, ponderacion, factor de expansion, peso muestral, wght, wgts, wts, wtvar,
        finlwgt, finalwt, finalweight, final weight, household weight, hhwt, hwgt, hweight,
        dweight, anweight, pspwght, pspweight, weight factor, case weight, cross sectional weight,
        longitudinal weight, replicate weight, replicate weights, repwt, repwtp, repwgt, repweight,
        pwgtp, wgtp, wtint, wtmec, wtdrd, llcpwt, asecwt, wtfinl, wtsupp, inverse probability,
        ipw, expansion factor, grossing factor, weightvar, designgewicht, anpassungsgewicht,
        hochrechnungsgewicht, gewichtungsfaktor, personengewicht, haushaltsgewicht,
        poids de sondage, coefficient de ponderation, facteur d expansion, factor expansion,
        factor de ponderacion, fexp"""),
    (Meaning(_QI, "the body"), """
        height, weight, bmi, blood group, blood type, eye color, eye colour, hair color, hair
        colour, grosse, gewicht, taille, poids, altura, estatura, peso"""),
)  # fmt: skip

_NAMING = Meaning(_ID, "a name or number given to one person")
_NAMES_ONE = frozenset({
    "id", "ids", "uid", "uuid", "guid", "pid", "key", "login",
    "name", "names", "nom", "noms", "nombre", "nombres", "kennung", "kennziffer",
})  # fmt: skip
_FOR_NAMES = frozenset({"name", "names", "nom", "noms", "nombre", "nombres"})
_WHOLE = frozenset({
    "patient", "person", "customer", "client", "employee", "student", "member", "subject",
    "participant", "user", "patientin", "kunde", "kundin", "mitarbeiter", "cliente", "paciente",
})  # fmt: skip
"""Say something only when they are the whole name."""

_PERSONS = _WHOLE | {
    "people", "persons", "pat", "respondent", "proband", "individual", "insured", "citizen",
    "resident", "child", "mother", "father", "pupil", "worker", "staff", "volunteer", "donor",
    "victim", "suspect", "offender", "inmate", "personne", "persona", "individu", "individuo",
    "enfant", "eleve", "alumno", "empleado", "usuario", "utilisateur", "salarie", "etudiant",
    "estudiante", "sujet", "sujeto", "versicherter", "teilnehmer", "teilnehmerin", "schueler",
    "studierende", "befragte", "bewohner", "kind", "panelist", "applicant", "borrower", "owner",
    "tenant", "player", "author", "voter", "driver",
}  # fmt: skip
_THINGS = frozenset({
    "household", "hh", "family", "hospital", "clinic", "ward", "doctor", "physician", "gp",
    "practice", "school", "class", "employer", "company", "firm", "organisation", "organization",
    "site", "centre", "center", "region", "district", "area", "station", "visit", "event", "order",
    "product", "diagnosis", "drug", "item", "building", "house", "department", "team", "group",
    "cluster", "stratum", "psu", "batch", "lab", "device", "vehicle", "session", "encounter",
    "admission", "stay", "episode", "sample", "specimen", "test", "study", "trial", "survey",
    "wave", "haushalt", "familie", "klinik", "krankenhaus", "arzt", "praxis", "schule", "klasse",
    "betrieb", "firma", "foyer", "menage", "hopital", "medecin", "ecole", "hogar", "familia",
    "medico", "escuela", "empresa", "gemeinde", "couple", "litter", "pair",
})  # fmt: skip
"""What several people share, or what one person has several of."""

_KEYS = frozenset({"pid", "ssn", "login", "pseudonym"})
_BESIDE = frozenset({"of", "the", "de", "del", "des", "du", "der", "unique", "anon", "pseudo"})


def is_of_a_person(name: str) -> bool:
    """Return whether a name is that of a person's name or number, and of nothing else's.

    >>> [is_of_a_person(name) for name in ("id", "Patient-ID", "nom", "ssn", "hospital_id", "age")]
    [True, True, True, True, False, False]
    """
    meaning, said = meaning_of(name), set(words(name))
    if meaning is None or meaning.role is not Role.IDENTIFIER:
        return False
    return meaning is not _NAMING or not said - _NAMES_ONE - _PERSONS - _BESIDE


_COUNTS_UP = frozenset({
    "number", "no", "nr", "num", "numero", "nummer", "index", "idx", "record", "row", "rownum",
    "ref", "obs", "rowid", "recno", "caseno", "seqno", "seq", "seqn", "sequence", "serial",
    "case", "caseid", "lfd", "dossier", "folio", "referenz",
})  # fmt: skip
_ENDS = ("nummer", "nr", "kennung", "schluessel", "schlussel", "kennzeichen")
"""Ends of German words for something that is numbered."""

_LIFE_DATES = frozenset({
    "birth", "birthday", "birthdate", "dob", "born", "geburt", "geburtsdatum", "geburtstag",
    "gebdat", "geboren", "naissance", "ddn", "nacimiento", "death", "dod", "died", "deathdate",
    "sterbedatum", "sterbetag", "todesdatum", "todestag", "gestorben", "verstorben", "deces",
    "defuncion", "fallecimiento", "muerte",
})  # fmt: skip
_COORDINATES = frozenset({
    "latitude", "longitude", "lat", "lon", "long", "lng", "gps", "coordinates", "coordinate",
    "coord", "coords", "geo", "breitengrad", "laengengrad", "langengrad", "koordinaten",
    "coordonnees", "latitud", "longitud", "coordenadas",
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
    known = not (_NAMES_ONE | _COUNTS_UP).isdisjoint(said)
    return known or any(word.endswith(_ENDS) and len(word) > 4 for word in said)


class Key(IntEnum):
    """How surely each person has one value of a column, and all rows of a person have the same."""

    NONE = 0
    MAYBE = 1
    SURELY = 2


def key_of_people(name: str, *, identifier: bool) -> Key:
    """Return how surely a column is the key of people, by its name.

    Names and addresses are no keys: two people may be called Ann. The number of a household or of
    a visit is none either.

    Args:
        name: The name of the column.
        identifier: Whether the publisher says that it is an identifier.

    >>> [key_of_people(name, identifier=True).name for name in ("patient_id", "id", "household id")]
    ['SURELY', 'MAYBE', 'NONE']
    >>> key_of_people("pidp", identifier=True).name, key_of_people("pidp", identifier=False).name
    ('MAYBE', 'NONE')
    """
    meaning, said = meaning_of(name), frozenset(words(name))
    numbered = meaning is not None and meaning.what == "a number given to one person"
    if not _THINGS.isdisjoint(said):
        return Key.NONE
    if meaning is None:
        counted = not _COUNTS_UP.isdisjoint(said) and not _PERSONS.isdisjoint(said)
        return Key.SURELY if counted else Key.MAYBE if identifier else Key.NONE
    if not (numbered or meaning is _NAMING) or not _FOR_NAMES.isdisjoint(said):
        return Key.NONE
    persons = not _PERSONS.isdisjoint(said) and not _NAMES_ONE.isdisjoint(said)
    if numbered or persons or not _KEYS.isdisjoint(said):
        return Key.SURELY
    # A column called user may tell new ones from others, and id may count anything.
    return Key.NONE if said - _NAMES_ONE - _PERSONS - _BESIDE else Key.MAYBE


_LOOKED_AT = 1000
"""Values that are looked at to see of what kind they are."""

_NEARLY_ALL = 0.9
_ENOUGH = 20
"""In fewer rows, being unique is no sign of anything."""

_MANY = 100
"""In fewer rows, whole numbers may be different in every row and mean anything."""

_PATTERNS = {
    "e-mail addresses": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "account numbers (IBAN)": re.compile(r"[A-Z]{2}\d{2} ?([A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}"),
    "card numbers": re.compile(r"\d{4}([ -]\d{4}){3}"),
    "social security numbers": re.compile(r"\d{3}-\d{2}-\d{4}"),
    "national numbers of people": re.compile(
        r"\d{8}-?[A-Z]|[XYZ]-?\d{7}-?[A-Z]"  # Spain
        r"|[A-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]"  # United Kingdom
        r"|[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]"  # Italy
        r"|(19|20)?\d{6}[-+A]\d{3}[0-9A-Z]"  # Sweden, Denmark, Finland
        r"|\d{2} ?\d{6} ?[A-Z] ?\d{3}"  # Germany, pensions
        r"|[A-Z]\d{9}"  # Germany, health insurance
        r"|\d{2} \d{3} \d{3} \d{3}"  # Germany, taxes
        r"|[12] \d{2} \d{2} \w{2} \d{3} \d{3}( \d{2})?"  # France
        r"|756\.\d{4}\.\d{4}\.\d{2}"  # Switzerland
        r"|\d{3}\.\d{3}\.\d{3}-\d{2}|\d{1,2}\.\d{3}\.\d{3}-[\dkK]"  # Brazil, Chile
    ),
    "unique identifiers (UUID)": re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    "hashes": re.compile(r"([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})", re.IGNORECASE),
    "internet addresses": re.compile(
        r"\w{3,6}://\S+|www\.\S+|\d{1,3}(\.\d{1,3}){3}|([0-9a-fA-F]{0,4}:){4,7}[0-9a-fA-F]{1,4}"
        r"|([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}|@\w{2,40}"
    ),
    "coordinates": re.compile(r"\D{0,8}[-+]?\d{1,3}\.\d{3,}\D{1,4}[-+]?\d{1,3}\.\d{3,}\D{0,3}"),
    "telephone numbers": re.compile(
        r"(\+\d|\(\d|00\d|0\d{1,4}[ /-])[\d ()./-]{6,20}"
        r"|\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}|[6-9]\d{2} \d{3} \d{3}"
    ),
}
"""Values that name or find a person whatever the column is called."""

_FIGURE = re.compile(r"[<>~≤≥≈]? ?[-+]?\d[\d.,' ]*( ?[^\d\s]{1,5})?")
"""A number as people write it: with a sign, with separators, with a unit."""

_LIFETIME = 40
"""Days of more years than this are days of births or deaths rather than of visits."""

_FREQUENT_NAMES = """
    aaron abdul adam adriana agnes ahmed aisha alan alberto alejandro alexander ali alice alicia
    alvarez amanda amelia amy ana anders anderson andre andrea andreas andrew angela anita anke
    ann anna anne annette anthony antoine antonio arthur astrid barbara bauer beatriz becker ben
    benjamin bernard bernd bert bianchi birgit bob braun brian brigitte brown bruno camille carl
    carla carlos carmen carol caroline catherine cecile celine charles chen chloe chris christa
    christian christine christopher claire clara claudia claus cristina daniel daniela david
    davis deborah denise dennis devries diana diaz diego dieter dmitri dominique donald dora
    dorothy dubois dupont durand eduardo edward elena elisabeth elizabeth ella ellen emil emilia
    emily emma eric erik erika ernst esther eva evelyn fatima felix fernandez fernando ferrari
    fischer florian fournier francisco frank frans franz fred frederic friedrich fritz gabriel
    gabriela gabriele garcia georg george gerard gerd gerhard giovanni girard gisela giulia
    gloria gomez gonzalez grace greta guido guillaume gustav hannah hans hansen harry hartmann
    hassan heather heidi heike heinrich heinz helen helena helga helmut henri henry herbert
    hermann hernandez hoffmann hofmann hugo ian ibrahim ida ines inge ingrid irene iris irma
    isabel isabelle ivan ivanov jack jacob jacqueline jacques jakob james jan jana jane janet
    jansen jean jennifer jens jessica jill jim jimenez joan joe johan johann johannes john
    johnson jonas jonathan jones jorge jose josef joseph juan judith julia julian julie julien
    jurgen jutta karen karin karl kate katharina kathrin katja kaya kevin khan klaus klein koch
    kowalski krause kristin krueger kruger kumar kurt lange larry larsen laura laurent lea
    lefebvre lehmann lena leo leon leonie leroy linda lisa liza lopez lorenzo louis louise luca
    lucas lucia lucy luis luisa luise lukas maier maja manfred manuel marc marcel marco margaret
    maria marianne marie mario marion mark markus marta martha martin martina martinez mary
    mateo mathias matteo matthew matthias max mehmet melanie meyer mia michael michel miguel
    miller mohamed mohammed monica monika monique moore moreau morel moreno moritz mueller
    muller nadia nancy natalia natalie neumann nguyen nicolas nicole nielsen nikolaus nina noah
    nora novak nowak olaf olga oliver olsen oscar otto pablo pascal patel patricia patrick paul
    paula paulina pedro perez peter petra philip philipp philippe pierre pilar rachel rafael
    rainer rajesh ralf ramon raul rebecca regina renate richard richter rita robert roberto
    rodriguez roger roland romero rosa rosemary rossi roux ruben rudolf ruiz russo ruth sabine
    sally samuel sanchez sandra sara sarah schaefer schafer schmidt schneider schroder schroeder
    schulz schwarz sebastian sergio sharma silke silvia simon simone singh smith sofia sonia
    sophia sophie stefan stefanie stephan stephanie stephen steven susan susanne sven sylvie
    tanja taylor teresa theo theresa thierry thomas thompson tim timothy tobias tom tomas tony
    ulrich ulrike ursula ute uwe valentina valerie vanessa vera veronica veronique victor
    vincent visser volker wagner walter wang weber werner wilhelm williams wilma wilson wolf
    wolfgang xavier yasmin yilmaz yves yvonne zimmermann zoe
"""
_PEOPLE = frozenset(_FREQUENT_NAMES.split())
"""Frequent names of people in the languages of `_WORDS`, as `words` spells them."""

_LIKE_IDENTIFIER = "looks like an identifier"
_NO_CHANCE = "whole numbers so close that some would be equal by chance"
_OTHERS_MAY_KNOW = "others may know it"


class Kind(StrEnum):
    """What a column is of, as far as its name, its values and other columns tell."""

    NOTHING = "nothing"
    """Every cell is missing, or holds what is no single value."""

    CONSTANT = "a constant"
    IDENTIFIER = "an identifier"
    FREE_TEXT = "free text"
    SET = "a set of items"
    COPY = "a copy of another column"
    """Each tells the other: a recoded copy, a logarithm, the age of another year."""

    FUNCTION = "a function of another column"
    """The other column tells it, and not the reverse: a class of ages, a dummy of a category."""

    WEIGHT = "a survey weight"
    AGE = "an age"
    SEX = "sex or gender"
    DATE = "a date"
    PLACE = "a place"
    ORIGIN = "origin"
    FAMILY = "family"
    WORK = "education or work"
    BODY = "the body"
    HEALTH = "health"
    """Diagnoses, symptoms, habits; yes/no columns too."""

    TREATMENT = "a treatment"
    MEASUREMENT = "a measurement"
    """Laboratory values, vital signs, scores: what only who measured it knows."""

    OUTCOME = "an outcome"
    """What became of a person: death, relapse, time to an event, arrest."""

    MONEY = "money"
    BELIEF = "belief or conduct"
    """Opinions, religion, politics, sexuality, offences."""

    TECHNICAL = "technical"
    """How the data was collected; harmless."""

    UNKNOWN = "unknown"


class Guess(NamedTuple):
    """A column's role and why."""

    role: Role
    reason: str
    certain: bool = False
    """Whether there is little doubt: what the name says, or an empty column."""

    kind: Kind = Kind.UNKNOWN
    of: str | None = None
    """The column of which this one is a copy or a function; None if there is none."""

    missing: tuple[Value, ...] = ()
    """Values that look like codes of a missing one, as in -9 or 999."""


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
    separator = separator_in(domain)
    if separator is not None:
        what = f"several items with {separator!r} between them"
        return Guess(Role.SET, f"{facts}, {what}{_SOME_KNOWN}")
    pattern = look.pattern()
    if pattern:
        return Guess(Role.IDENTIFIER, f"{facts}: the values look like {pattern}")
    if look.is_free_text():
        return Guess(Role.DROPPED, f"{facts}, long texts: free text can name people")
    named = _certain(domain.column, look)
    return named if named is not None else _by_values(look)


_SOME_KNOWN = (
    ": others may know some of them. What people who share these items also have in common is "
    "learned; if it must not be, leave the column out (dropped)"
)

_SEPARATORS = ";|"
"""What items of a cell are told apart by; a comma stands in names and addresses too."""

_SEVERAL = 0.1
"""The share of cells with several items from which on a column is one of sets."""

_LONGEST_ITEM = 40


def separator_in(domain: Domain) -> str | None:
    """Return what stands between the items of the cells of a column; None if they are no sets.

    Items come again in other cells, and in another order or company: that parts a list of
    diagnoses from a text that has a semicolon.

    >>> cells = ["I10;E11", "E11", "I10;J45", "J45;E11"]
    >>> separator_in(Domain("ill", np.array([2, 1, 1, 1]), 0, lambda at: [cells[i] for i in at]))
    ';'
    """
    values = domain.values(_LOOKED_AT)
    if not all(isinstance(value, str) for value in values):
        return None
    for separator in _SEPARATORS:
        cells = [[part.strip() for part in str(value).split(separator)] for value in values]
        several = [cell for cell in cells if len(cell) > 1]
        if len(several) < max(2, _SEVERAL * len(cells)):
            continue
        items = [item for cell in cells for item in cell if item]
        distinct = set(items)
        if max(map(len, items)) <= _LONGEST_ITEM and 2 * len(distinct) <= len(items):
            return separator
    return None


def guess_all(
    columns: Sequence[str], domains: Mapping[str, Domain], lists: Collection[str] = ()
) -> dict[str, Guess]:
    """Guess every column's role; `lists` are those that hold lists of items."""
    reason = "has no single value per row, so it cannot be protected"
    nested = Guess(Role.DROPPED, reason, certain=True)
    several = Guess(Role.SET, f"lists of items{_SOME_KNOWN}", certain=True)
    return {
        name: guess(domains[name]) if name in domains else (several if name in lists else nested)
        for name in columns
    }


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
    elif role is Role.WEIGHT and look.are_weights():
        reason += ": all rows of a class get the mean of theirs"
    elif role is Role.WEIGHT:
        role, reason = Role.QUASI_IDENTIFIER, f"{reason}, but not all are numbers of 0 or more"
        reason += f": {_OTHERS_MAY_KNOW}"
    elif role is Role.QUASI_IDENTIFIER:
        reason += f": {_OTHERS_MAY_KNOW}"
    return Guess(role, reason, certain=True)


def _by_values(look: "_Look") -> Guess:
    facts = look.facts()
    if look.is_running_number() or look.is_assigned():
        gapless = "whole numbers without gaps: looks like a row number"
        what = gapless if look.is_running_number() else f"{_NO_CHANCE}: {_LIKE_IDENTIFIER}"
        return Guess(Role.IDENTIFIER, f"{facts}, {what}")
    if look.are_names() or (look.kind == "text" and look.nearly_unique):
        what = "the values look like names of people" if look.are_names() else _LIKE_IDENTIFIER
        return Guess(Role.IDENTIFIER, f"{facts}: {what}")
    if look.is_long_number() and look.nearly_unique_for_sure:
        return Guess(
            Role.IDENTIFIER, f"{facts}, long numbers of one length: looks like an identifier"
        )
    if look.kind == "date":
        return Guess(Role.QUASI_IDENTIFIER, f"{facts}, dates: {_OTHERS_MAY_KNOW}")
    if look.kind in ("number", "decimals") and look.nearly_unique_for_sure:
        return Guess(
            Role.QUASI_IDENTIFIER,
            f"{facts}, a measurement: exact figures are fingerprints, ranges are not",
        )
    return Guess(Role.QUASI_IDENTIFIER, f"{facts}, meaning unknown: to be safe, {_OTHERS_MAY_KNOW}")


# What finds a person by itself if it is published as it is.


def identifying(domain: Domain) -> str | None:
    """Return why a column names or finds people by itself as it is; None if it does not.

    A role is guessed on the safe side, for a policy that is read. This answer refuses a release,
    so it needs more than that: a name that is borne out by the values, values that speak for
    themselves, or a value of its own for every one of many people. A measurement, a survey weight
    or a date of a visit may be different in every row too. They single people out, but only those
    of whom the figure is known; they are no identifiers.

    >>> from sfumato.tables import open_table
    >>> import pyarrow as pa
    >>> table = pa.table({"x7": ["Anna Koch", "Tom Fox", "Eva May"], "dose": [0.17, 0.32, 0.55]})
    >>> found = open_table(table).domains(["x7", "dose"])
    >>> identifying(found["x7"]), identifying(found["dose"])
    ('different in every row: the values look like names of people', None)
    """
    if not domain.rows.size:
        return None
    look, meaning = _Look(domain), meaning_of(domain.column)
    signs = {
        **_signs_of_names(domain.column, look, meaning),
        ", whole numbers without gaps: looks like a row number": look.is_running_number(_ENOUGH),
        **_signs_of_life(domain.column, look, meaning),
        **_signs_of_one_each(look, named=meaning is not None),
    }
    return _first_of(signs, look)


def naming(domain: Domain) -> str | None:
    """Return why the values of a sensitive column name people; None if they do not.

    A sensitive figure may be different in every row and name no person. A name may be meant as
    something that should not become known, and is published as it is.

    >>> from sfumato.tables import open_table
    >>> import pyarrow as pa
    >>> table = pa.table({"mail": ["ann@x.org", "bob@x.org"], "pay": [51_000, 38_500]})
    >>> found = open_table(table).domains(["mail", "pay"])
    >>> naming(found["mail"]), naming(found["pay"])
    ('different in every row: the values look like e-mail addresses', None)
    """
    if not domain.rows.size:
        return None
    look, meaning = _Look(domain), meaning_of(domain.column)
    return _first_of(_signs_of_names(domain.column, look, meaning), look)


def _first_of(signs: Mapping[str, bool], look: "_Look") -> str | None:
    reason = next((text for text, is_so in signs.items() if is_so), None)
    return None if reason is None else f"{look.facts()}{reason}"


def _signs_of_names(column: str, look: "_Look", meaning: Meaning | None) -> dict[str, bool]:
    """Return whether values name people by what they are, or by what their column is called."""
    pattern = look.pattern()
    return {
        f": the values look like {pattern}": pattern is not None,
        ", long texts: free text can name people": look.is_free_text(),
        ": the values look like names of people": look.are_names(surely=meaning is not None),
        **_signs_by_name(column, look, meaning),
    }


def _signs_by_name(column: str, look: "_Look", meaning: Meaning | None) -> dict[str, bool]:
    """Return what a column's name says, each with whether the values bear it out.

    A column may be called phone and say whether there is one, or user and say of which kind.
    """
    if meaning is not None and meaning.role is Role.IDENTIFIER:
        names = meaning.what.endswith("name") or not _FOR_NAMES.isdisjoint(words(column))
        few = 5 if names else _ENOUGH
        many = look.distinct >= min(few, max(2, look.known // 2)) and look.kind != "date"
        # The name or number of a hospital comes back; that of every row does not.
        own = look.nearly_unique or is_of_a_person(column)
        return {f", looks like {meaning.what} by its name": many and own}
    if meaning is not None and meaning.role is Role.DROPPED:
        notes = look.kind == "text" and look.distinct >= 0.5 * look.known and look.length >= 15
        return {f", looks like {meaning.what} by its name: it can name people": notes}
    whole = look.kind == "text" or (look.kind == "number" and look.is_whole())
    numbered = look.nearly_unique and look.known >= 5 and whole
    return {
        ", called like a running number: looks like an identifier": counts_up(column) and numbered
    }


def _signs_of_life(column: str, look: "_Look", meaning: Meaning | None) -> dict[str, bool]:
    """Return whether a column holds days of births and deaths, or places of homes."""
    said = frozenset(words(column))
    exact = look.distinct >= 2 and look.years is not None and look.tells_days()
    life, place = not _LIFE_DATES.isdisjoint(said), not _COORDINATES.isdisjoint(said)
    unnamed = meaning is None and exact and look.spans_lifetimes()
    return {
        ", exact days of births or deaths: registers and notices have them": life and exact,
        ", exact days over many years: they look like dates of birth": unnamed,
        ", looks like coordinates, which lead to a home": place and look.are_coordinates(),
    }


def _signs_of_one_each(look: "_Look", *, named: bool) -> dict[str, bool]:
    """Return what values may be that are different in nearly every one of many rows.

    Args:
        look: What the values show.
        named: Whether the name of the column says what it is. Then they must be codes.
    """
    if named or not look.nearly_unique_for_sure:
        codes = look.known >= _MANY and look.alone == look.known and look.are_codes()
        return {": codes, looks like an identifier": codes}
    # Of a hundred amounts of money two are equal; those of a few dozen people may all differ.
    many = look.known >= _MANY
    every = many and look.alone == look.known
    long = look.is_long_number() and (many or look.length >= 7)
    return {
        f", {_NO_CHANCE}: {_LIKE_IDENTIFIER}": look.is_assigned(),
        ": looks like an identifier": look.kind == "text",
        ", long numbers of one length: looks like an identifier": long,
        ", whole numbers: looks like a number given to one person": every and look.is_whole(),
    }


class _Look:
    """What a few values, and how often each occurs, show."""

    def __init__(self, domain: Domain) -> None:
        self.distinct = len(domain.rows)
        self.known = int(domain.rows.sum())
        """Rows with a value."""

        self.alone = int(np.count_nonzero(domain.rows == 1))
        """Rows with a value that no other row has."""

        self._domain = domain
        self._missing = domain.missing
        self._sample = domain.values(_LOOKED_AT)
        self._texts = [text_of(value) for value in self._sample]
        self.kind = _kind(self._sample, self._texts)
        self.nearly_unique = self.known >= 2 and self.alone >= _NEARLY_ALL * self.known
        self.nearly_unique_for_sure = self.nearly_unique and self.known >= _ENOUGH

    def facts(self) -> str:
        """Return in a few words how the values are spread."""
        if self.alone == self.known > 1:
            facts = "different in every row"
        elif self.nearly_unique:
            share = percent(self.alone / self.known)
            facts = f"unique for {share} of rows" if self._missing == 0 else f"{share} unique"
        else:
            facts = f"{self.distinct:,} distinct value{'s' * (self.distinct != 1)}"
        if self._missing:
            facts += f", {percent(self._missing / (self.known + self._missing))} missing"
        return facts

    def pattern(self) -> str | None:
        """Return what most of the texts are, if it is something that names people."""
        if self.kind == "date":
            return None
        for what, form in _PATTERNS.items():
            hits = sum(form.fullmatch(text.strip()) is not None for text in self._texts)
            if hits >= 0.8 * len(self._texts):
                return what
        return None

    def are_weights(self) -> bool:
        """Return whether every row has a number of 0 or more, and not all of them are 0."""
        numbers = [number_of(value) for value in self._domain.values()]
        known = [each for each in numbers if each is not None]
        return not self._missing and len(known) == len(numbers) and min(known) >= 0 < max(known)

    def are_codes(self) -> bool:
        """Return whether the texts are short and have digits among other characters."""
        digits = [any(map(str.isdigit, text)) for text in self._texts]
        return self.kind == "text" and sum(digits) >= 0.8 * len(digits) and self.length < 30

    @cached_property
    def length(self) -> float:
        """The average length of the texts."""
        return fmean(len(text) for text in self._texts)

    def is_free_text(self) -> bool:
        """Return whether the texts are sentences, which are long, and few of which occur twice."""
        if self.kind != "text" or self.distinct < 0.5 * self.known:
            return False
        long = self.length >= 30 and fmean(t.count(" ") for t in self._texts) >= 5
        return self.length >= 100 or long

    def are_names(self, *, surely: bool = False) -> bool:
        """Return whether the texts are names of people, by frequent names or by their form.

        Args:
            surely: Whether nearly all must be, because the column's name says something else.
        """
        if self.kind != "text":
            return False
        # Of a sort of ketchup with a number, the word may be a name too.
        spelt = [() if any(map(str.isdigit, text)) else words(text) for text in self._texts]
        known = [not _PEOPLE.isdisjoint(each) for each in spelt]
        hits = sum(known)
        few = 3 if surely else 2
        if hits >= max(few, (0.8 if surely else 0.5) * len(spelt)):
            return True
        if surely or self.known < _ENOUGH or self.distinct < 0.5 * self.known:
            return False
        formed = sum(_NAME.fullmatch(text.strip()) is not None for text in self._texts)
        # Names of places or illnesses have this form too; they come back, and no Ann is there.
        return formed >= 0.8 * len(spelt) and hits >= 0.1 * len(spelt)

    def is_running_number(self, least: int = 5) -> bool:
        """Return whether the values count the rows: each once, at steady steps.

        Args:
            least: In fewer rows it is no sign of anything.
        """
        if self.alone < self.known or self.known < least:
            return False
        numbers = _whole(self._sample)
        if numbers is None:
            return False
        if self.distinct <= len(numbers):
            gaps = {b - a for a, b in pairwise(numbers)}
            if len(gaps) == 1:
                return True
        return self.known >= _ENOUGH and numbers[-1] - numbers[0] < 1.2 * self.distinct

    def is_assigned(self) -> bool:
        """Return whether whole numbers were given out one by one: by chance some would be equal.

        Of n numbers that are drawn from R, however unevenly, n²/2R pairs or more are equal on
        average. If that is ten and none is, they were not drawn.
        """
        numbers = _whole(self._sample) if self.alone == self.known else None
        if numbers is None or self.known < _ENOUGH:
            return False
        tail = len(numbers) // 20
        spread = numbers[len(numbers) - 1 - tail] - numbers[tail] + 1
        return (0.9 * self.known) ** 2 >= 2 * 10 * spread

    def is_whole(self) -> bool:
        """Return whether the values are whole numbers."""
        return _whole(self._sample) is not None

    def is_long_number(self) -> bool:
        """Return whether the values are whole numbers of many and equally many digits."""
        lengths = set(map(len, self._texts))
        return self.is_whole() and len(lengths) == 1 and max(lengths) >= 5

    def are_coordinates(self) -> bool:
        """Return whether the values are angles with decimals enough to find a street."""
        numbers = [number_of(value) for value in self._sample]
        angles = all(number is not None and abs(number) <= 180 for number in numbers)
        exact = [len(text.partition(".")[2]) >= 3 for text in self._texts]
        return angles and sum(exact) >= 0.5 * len(exact) and self.distinct >= 2

    @cached_property
    def years(self) -> list[int] | None:
        """The years of the values, if they are days; None if they are not."""
        years = [_year(value) for value in self._sample]
        return None if None in years else [year for year in years if year is not None]

    def tells_days(self) -> bool:
        """Return whether dates tell the day: not all are the first of a month."""
        firsts = [_first_of_month(text) for text in self._texts]
        return sum(firsts) < 0.8 * len(firsts)

    def spans_lifetimes(self) -> bool:
        """Return whether the days are spread over more years than visits are."""
        if self.years is None or self.distinct < _ENOUGH:
            return False
        years = sorted(self.years)
        return years[-1 - len(years) // 20] - years[len(years) // 20] > _LIFETIME


_CAPITAL = r"[A-Z\u00c0-\u00de][\w'’.-]*"
_NAME = re.compile(rf"{_CAPITAL}(,? {_CAPITAL}|,? (de|von|van|del|la|di)){{1,4}}")
"""The form of a full name."""


def _kind(values: Sequence[Value], texts: Sequence[str]) -> str:
    if look_like_dates(values):
        return "date"
    if values and all(number_of(value) is not None for value in values):
        return "number"
    if not all(isinstance(value, str | bytes) for value in values):
        return "other"
    # A laboratory writes <0.5 beside its figures, and a bill has separators and a currency.
    figures = sum(_FIGURE.fullmatch(text.strip()) is not None for text in texts)
    return "decimals" if figures >= _NEARLY_ALL * len(texts) > 0 and _has_marks(texts) else "text"


def _has_marks(texts: Sequence[str]) -> bool:
    """Return whether figures have decimals or signs, as those of measurements have."""
    return sum(any(mark in text for mark in ".,<>") for text in texts) >= 0.5 * len(texts)


def _year(value: Value) -> int | None:
    """Return the year of a day, however it is written; None if it is none."""
    found = _read_day(text_of(value))
    return None if found is None else int(found[:4])


def _first_of_month(text: str) -> bool:
    found = _read_day(text)
    return found is not None and found[8:10] in ("", "01")


def _read_day(text: str) -> str | None:
    """Return a date in ISO 8601, day first where that fits; None if it is none."""
    if text.isdigit() and len(text) < _DIGITS_OF_A_DAY:
        return None
    found = read_text(text.strip(), pivot=29)
    return found.day_first or found.month_first or found.year_first


_DIGITS_OF_A_DAY = 8


def _whole(values: Sequence[Value]) -> list[int] | None:
    """Return the values in order if all are whole numbers."""
    numbers = [number_of(value) for value in values]
    if any(number is None or not number.is_integer() for number in numbers):
        return None
    return sorted(int(number) for number in numbers if number is not None)
