"""What the names of columns say: words in English, German, French and Spanish."""

import re
import unicodedata
from typing import NamedTuple

from sfumato.schema import Role


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
    """Say what a column's name stands for, or None if it says nothing known.

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
    """Tell whether a name is that of a running number or key, if its values are one.

    >>> counts_up("Record No."), counts_up("diagnosis id"), counts_up("age")
    (True, True, False)
    """
    said = words(name)
    return not (_NAMES_ONE | _COUNTS_UP).isdisjoint(said)
