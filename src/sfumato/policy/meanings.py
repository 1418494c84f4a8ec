"""Meanings of columns, by the words, abbreviations and parts of words in their names."""

import re
import unicodedata
from enum import IntEnum, StrEnum
from typing import NamedTuple

from sfumato.schema import Role

# What the names of columns say: words in English, German, French and Spanish.


class ColumnKind(StrEnum):
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


class WordMeaning(NamedTuple):
    """What a word in a column's name stands for."""

    role: Role
    what: str
    kind: ColumnKind = ColumnKind.IDENTIFIER


_FREE_TEXT = WordMeaning(Role.DROPPED, "free text", ColumnKind.FREE_TEXT)
_ID, _QI, _SENSITIVE = Role.IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE
_A_WEIGHT = WordMeaning(Role.WEIGHT, "a survey weight", ColumnKind.WEIGHT)
_A_DATE = WordMeaning(_QI, "a date in a life", ColumnKind.DATE)
_THE_BODY = WordMeaning(_QI, "the body", ColumnKind.BODY)

# First match wins. A blank joins words that mean something only side by side.
_WORDS: tuple[tuple[WordMeaning, str], ...] = (
    (_FREE_TEXT, """
        note, notes, comment, comments, remark, remarks, free text, freetext, narrative,
        message, notiz, notizen, bemerkung, bemerkungen, kommentar, freitext, anmerkung,
        remarque, remarques, commentaire, commentaires, nota, notas, comentario, comentarios,
        observacion, observaciones"""),
    (WordMeaning(_ID, "a person's name"), """
        surname, firstname, lastname, fullname, forename, first name, last name, full name,
        given name, family name, middle name, maiden name, birth name, user name, username,
        nickname, vorname, nachname, familienname, geburtsname, rufname, prenom, prenoms,
        nom de famille, nom complet, nom et prenom, apellido, apellidos, nombre completo,
        nombre y apellidos"""),
    (WordMeaning(_ID, "an e-mail address"), """
        email, e mail, mail, emailadresse, mailadresse, correo, correo electronico, courriel"""),
    (WordMeaning(_ID, "a telephone number"), """
        phone, telephone, tel, mobile, cellphone, fax, telefon, telefonnummer, telefonnr, handy,
        handynummer, mobilnummer, rufnummer, telefono, movil, celular"""),
    (WordMeaning(_ID, "an address"), """
        street, address, addr, house number, strasse, hausnummer, adresse, anschrift, rue,
        direccion, domicilio, calle, ip, ip address, mac address, url, website, homepage"""),
    (WordMeaning(_ID, "a number given to one person"), """
        ssn, social security, nhs, mrn, iban, bic, passport, passport number, driver license,
        drivers license, licence plate, license plate, tax number, taxpayer, nino, dni, nie,
        nif, account number, credit card, card number, insurance number,
        sozialversicherungsnummer, versichertennummer, versicherungsnummer,
        krankenversichertennummer, steuernummer, reisepass, kontonummer, patientennummer,
        fallnummer, kundennummer, personalnummer, matrikelnummer, ausweisnummer, aktenzeichen,
        steuer id, pseudonym, medical record, hospital number, national id, social insurance,
        numero de securite sociale, numero de dossier, numero patient, matricule, identifiant,
        nir, passeport, pasaporte, cuenta, cedula, historia clinica, expediente"""),
    (WordMeaning(_QI, "an age", ColumnKind.AGE), "age, ages, alter, edad, lebensalter"),
    (_A_DATE, """
        birth, birthday, birthdate, dob, born, yob, geburt, geburtsdatum, geburtstag, gebdat,
        geburtsjahr, geboren, naissance, ddn, nacimiento, death, dod, died on, deathdate,
        sterbedatum, sterbetag, todesdatum, todestag, gestorben, verstorben, deces, defuncion,
        fallecimiento, muerte, date,
        datum, fecha, year, month, day, jahr, monat, annee, mois, jour, ano, mes, admission,
        admitted, discharge, discharged, visit, aufnahme, aufnahmedatum, entlassung,
        entlassungsdatum, entree, sortie, ingreso hospital, timestamp"""),
    (WordMeaning(_SENSITIVE, "health", ColumnKind.HEALTH), """
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
    (WordMeaning(_SENSITIVE, "a test result", ColumnKind.MEASUREMENT), """
        test result, result, results, lab, lab value, ergebnis, laborwert, resultat, resultado,
        viral load, genotype, mutation"""),
    (WordMeaning(_SENSITIVE, "medication", ColumnKind.TREATMENT), """
        medication, medications, drug, drugs, medicine, prescription, medikament, medikamente,
        medikation, medicament, medicaments, medicamento, medicacion"""),
    (WordMeaning(_SENSITIVE, "money", ColumnKind.MONEY), """
        salary, income, wage, wages, earnings, pay, debt, wealth, credit score, gehalt, lohn,
        einkommen, verdienst, schulden, vermoegen, vermogen, salaire, revenu, revenus, dette,
        salario, sueldo, ingresos, renta, deuda"""),
    (WordMeaning(_SENSITIVE, "belief or conduct", ColumnKind.BELIEF), """
        religion, religious, faith, konfession, glaube, sexual orientation, orientation,
        political, politics, party, partei, parti, partido, union member, crime, conviction,
        offence, offense, straftat, delito"""),
    (WordMeaning(_QI, "sex or gender", ColumnKind.SEX), """
        sex, gender, geschlecht, sexe, genre, sexo, genero"""),
    (WordMeaning(_QI, "a postcode", ColumnKind.PLACE), """
        zip, zipcode, zip code, postcode, post code, postal, postal code, plz, postleitzahl,
        code postal, codigo postal, cp"""),
    (WordMeaning(_QI, "a place", ColumnKind.PLACE), """
        city, town, village, place, country, county, state, region, district, province,
        location, latitude, longitude, lat, lon, lng, residence, birthplace, stadt, ort,
        wohnort, gemeinde, land, bundesland, kreis, geburtsort, ville, commune, pays,
        departement, lieu, ciudad, pais, municipio, provincia, lugar"""),
    (WordMeaning(_QI, "origin", ColumnKind.ORIGIN), """
        nationality, citizenship, race, ethnicity, ethnic, ethnic group, origin, native,
        language, mother tongue, nationalitat, nationalitaet, staatsangehorigkeit,
        staatsangehoerigkeit, herkunft, muttersprache, sprache, nationalite, origine, langue,
        nacionalidad, etnia, origen, idioma"""),
    (WordMeaning(_QI, "family", ColumnKind.FAMILY), """
        marital, marital status, married, spouse, children, household, relationship, siblings,
        familienstand, zivilstand, kinder, haushalt, etat civil, enfants, situation familiale,
        estado civil, hijos, hogar"""),
    (WordMeaning(_QI, "education or work", ColumnKind.WORK), """
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
    (_THE_BODY, """
        height, weight, bmi, blood group, blood type, eye color, eye colour, hair color, hair
        colour, grosse, gewicht, taille, poids, altura, estatura, peso"""),
)  # fmt: skip

NAMING = WordMeaning(_ID, "a name or number given to one person")
_NAMES_ONE = frozenset({
    "id", "ids", "uid", "uuid", "guid", "pid", "key", "login",
    "name", "names", "nom", "noms", "nombre", "nombres", "kennung", "kennziffer",
})  # fmt: skip
FOR_NAMES = frozenset({"name", "names", "nom", "noms", "nombre", "nombres"})
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
    return meaning is not NAMING or not said - _NAMES_ONE - _PERSONS - _BESIDE


_COUNTS_UP = frozenset({
    "number", "no", "nr", "num", "numero", "nummer", "index", "idx", "record", "row", "rownum",
    "ref", "obs", "rowid", "recno", "caseno", "seqno", "seq", "seqn", "sequence", "serial",
    "case", "caseid", "lfd", "dossier", "folio", "referenz",
})  # fmt: skip
_ENDS = ("nummer", "nr", "kennung", "schluessel", "schlussel", "kennzeichen")
"""Ends of German words for something that is numbered."""

LIFE_DATES = frozenset({
    "birth", "birthday", "birthdate", "dob", "born", "geburt", "geburtsdatum", "geburtstag",
    "gebdat", "geboren", "naissance", "ddn", "nacimiento", "death", "dod", "died", "deathdate",
    "sterbedatum", "sterbetag", "todesdatum", "todestag", "gestorben", "verstorben", "deces",
    "defuncion", "fallecimiento", "muerte",
})  # fmt: skip
COORDINATES = frozenset({
    "latitude", "longitude", "lat", "lon", "long", "lng", "gps", "coordinates", "coordinate",
    "coord", "coords", "geo", "breitengrad", "laengengrad", "langengrad", "koordinaten",
    "coordonnees", "latitud", "longitud", "coordenadas",
})  # fmt: skip

_PHRASES: dict[tuple[str, ...], WordMeaning] = {}
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


def meaning_of(name: str) -> WordMeaning | None:
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
        return NAMING
    return None


def counts_up(name: str) -> bool:
    """Return whether a name is that of a running number or key, if its values are one.

    >>> counts_up("Record No."), counts_up("diagnosis id"), counts_up("age")
    (True, True, False)
    """
    said = words(name)
    known = not (_NAMES_ONE | _COUNTS_UP).isdisjoint(said)
    return known or any(word.endswith(_ENDS) and len(word) > 4 for word in said)


def is_bare_number(name: str) -> bool:
    """Return whether a name says that something is numbered, and not what.

    >>> is_bare_number("Nr."), is_bare_number("house no")
    (True, False)
    """
    said = frozenset(words(name))
    return bool(said) and said <= _COUNTS_UP


def is_numbering(name: str) -> bool:
    """Return whether one word of a name is the abbreviated number of people or records.

    >>> is_numbering("persnum"), is_numbering("HHID"), is_numbering("number of cars")
    (True, True, False)
    """
    return any(_NUMBERED.fullmatch(word) for word in words(name))


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
    if not (numbered or meaning is NAMING) or not FOR_NAMES.isdisjoint(said):
        return Key.NONE
    persons = not _PERSONS.isdisjoint(said) and not _NAMES_ONE.isdisjoint(said)
    if numbered or persons or not _KEYS.isdisjoint(said):
        return Key.SURELY
    # A column called user may tell new ones from others, and id may count anything.
    return Key.NONE if said - _NAMES_ONE - _PERSONS - _BESIDE else Key.MAYBE


# What parts of names say, where whole words say nothing. Only drafts go by it.

_OUTCOME = WordMeaning(_SENSITIVE, "an outcome", ColumnKind.OUTCOME)
_TREATMENT = WordMeaning(_SENSITIVE, "a treatment", ColumnKind.TREATMENT)
_MEASURED = WordMeaning(_SENSITIVE, "a measurement", ColumnKind.MEASUREMENT)
_HEALTH = WordMeaning(_SENSITIVE, "health", ColumnKind.HEALTH)
_MONEY = WordMeaning(_SENSITIVE, "money", ColumnKind.MONEY)
_BELIEF = WordMeaning(_SENSITIVE, "belief or conduct", ColumnKind.BELIEF)
_PLACE = WordMeaning(_QI, "a place", ColumnKind.PLACE)
_WORK = WordMeaning(_QI, "education or work", ColumnKind.WORK)
_FAMILY = WordMeaning(_QI, "family", ColumnKind.FAMILY)
_ORIGIN = WordMeaning(_QI, "origin", ColumnKind.ORIGIN)
_SEX = WordMeaning(_QI, "sex or gender", ColumnKind.SEX)
_AN_AGE = WordMeaning(_QI, "an age", ColumnKind.AGE)
_TECHNICAL = WordMeaning(Role.PLAIN, "how the data was collected", ColumnKind.TECHNICAL)

# A star stands for any letters. The longest part that fits counts, and of equals the first.
_PARTS: tuple[tuple[WordMeaning, str], ...] = (
    (_OUTCOME, """
        death dead died dies deceased decede decedee deces *death* gestorben verstorben tot
        todesfall exitus fallecid* muert* surviv* surv ueberleb* uberleb* survie superviv* vital
        status event* endpoint outcome* censor* cens censur* zensiert fail failure failed time
        tijd zeit temps tiempo futime fu fup followup* tte ttd duration dur dauer duree duracion
        spell* relaps* recur* remission* rezidiv* recaida readmi* wiederaufnahme delta response
        responder respond* success erfolg exito case cases tstart dropout withdrawn withdrew
        progression pfs dfs"""),
    (_TREATMENT, """
        rx trt treat treated treatment* trtmt arm arms placebo* random* rand assigned
        intervention* dose dosis dosage regimen chemo* radioth* radiation* therap* *therapy
        drug* *drug med meds medic* *medic medec* prescr* *presc prescrib* *prescrib* vaccin*
        vax* impf* implant* graft* transplant* surg* *surgery oper operation* eingriff statin*
        insulin* aspirin* antibiot* steroid* *blocker *inhibitor"""),
    (_MEASURED, """
        sbp dbp bp pulse puls pouls pulso heartrate temperature* waist *circumf* chol chol*
        *cholesterol hdl ldl vldl trig trigly* gluc* glyc* hba hgb hb hemo* haemo* hct hkt
        album* alb creat* krea* egfr gfr bili* plate* plt wbc rbc leuko* leuco* neut* lympho*
        sodium natrium zinc potassium kalium calcium copper iron ferrit* ast alt alp ggt gpt
        alk* phos* protime inr crp esr psa tsh vl viral* serum* plasma* urin* urea bun uric spo
        oxygen fev fvc pef ecg ekg ejection* ef lvef score* *score *scr iq test* *test scale*
        *scale karno* ecog apgar mmse beck gcs sofa apache phq gad moca bdi thick* volume
        density *density laborwert messwert mesure medida biomark* marker* gene* allele* snp*
        expression protein* hormon* vitamin* cortisol testost* estrog* lipid* bodyfat kcal
        calor* weightloss wtloss mspike kappa lambda tumorsize"""),
    (_HEALTH, """
        health* hlth* *health *hlth sick* krank* malad* enferm* salud gesund* sante *disease*
        diseas* *ache pain* *pain *pains ulcer* *ulcer *itis *emia *aemia *carcinoma *lymphoma
        melanom* *pathy *algia *plegia asthm* allerg* bronch* *cough* cough* *fever fever tb hf
        hbp htn hypert* hypot* chf chd cad cvd copd ckd esrd cardi* *cardi* *heart heart*
        stroke* infarct* angina* diab* dm obes* cancer* *cancer tumor* tumour* leuk* lymph*
        metast* infect* *infect* *infct hiv* hepat* sti syphil* gonor* chlamyd* herpes*
        tubercul* malaria* pneumon* sepsis septic polio* smok* *smok* smk* *smk cigar* tobac*
        rauch* fum* alcohol* *alcohol alkohol* alcool* drink* *drink* cannabis* marij* cocain*
        heroin* opioid* pregn* *pregn* schwanger* grossesse embaraz* gravid* parity abort*
        miscarr* birthcontrol contrac* menop* menstr* fertil* *fertil* depress* anxi* psych*
        mental* nerv* suicid* insomn* sleep* disab* handic* *limit* limit* adl* iadl* *chron*
        chron* comorb* charlson symptom* sympt* diagn* *diagn* dx icd* histol* biops* patholog*
        nodes node nodal* margin stage stadium stade estadio differentiation obstruct* perfor*
        hosp* *hosp *visit* visit* *visits *vis doctor* docvis physician* mdvis admiss* admi*
        los lengthofstay inpat* outpat* emerg* icu ambul* injur* accident* unfall* trauma*
        fractur* lesion* edema* oedema* ascites nausea* vomit* rash itch* bleed* hemorr*
        haemorr* exerc* exer sport* active activ* diet nutri* condom* sexual* *partners bmi
        obesity insur* *insur* versichert* assur* hmo ppo privins medicaid medicare medigap"""),
    (_MONEY, """
        *inc *income* income* incom* *wage* wage* wages salar* *salar* earn* *earn* pay paid
        *pay payment* money expend* *expen* expens* cost* *cost *costs debt* loan* mortg*
        credit* *credit* bank* asset* wealth* saving* savings rent rente* rental tax taxes
        pension* benefit* welfare* poverty* poor owner* *owner* owned propert* premium* deduct*
        copay* bonus* fee fees charge* spend* spent budget* balance* gehalt* *gehalt lohn* *lohn
        *einkommen einkommen* verdienst* vermoegen* revenu* salaire* sueldo* ingreso* renta
        foodstamp* subsid* lunch* *lunch deny denied default* interest* ui transfer*"""),
    (_BELIEF, """
        relig* church* *church* kirche* iglesia* pray* faith* polit* vote vote* *vote* voting
        turnout elect* wahl* partyid ideolog* liberal* conserv* attitud* opinion* *opinion
        belief* believ* trust* agree* satisf* *satisf* zufrieden* happy happi* likert* affair*
        *affair* homosex* gay lesbian racis* prejud* gun guns crime* *crime* criminal* arrest*
        jail* prison* offen* union strike* protest* knowledge approve* approval* favor* favour*
        support* rate rating rated"""),
    (_AN_AGE, """
        agew ageh agem agef agemom agedad mage fage momage dadage ageyrs ageyr ageyears agemo
        agemos agemonths agegr* agecat* agecl* ageband* agebin* agedec* agerange alters* edad*
        agegroup ageyear ageatd* ageat* agemth* agemon* ageentry ageentr* ageonset* agedx
        agediag* agefirst* agestart* older younger"""),
    (_SEX, """
        female male females males fem woman women man men girl girls boy boys weiblich maennlich
        mannlich femme homme mujer hombre femenino masculino femelle varon frau mann fmale sexe
        isfemale ismale femal"""),
    (_ORIGIN, """
        white black asian hispanic hisp hispan* latin latino latina *white *black *hisp nonwh*
        caucas* african afroam* foreign* *foreign immig* migrant* migrat* ethn* *race race*
        minorit* indig* tribe* caste* citizen* nativ* ausland* lang language* bpl pob birthpl*
        geburtsort* mothertongue usborn foreignborn"""),
    (_FAMILY, """
        marr marri* *marri* maried marst* marit* *marit* unmarried nevermarried single divorc*
        widow* separated cohab* partnered spouse* kid kids* *kids child* *child children*
        nchild* hhsize hhsiz* famsize *fam fam family famil* famsz numfam household* haush* hh
        sibs nsib* sibling* mom* mother* dad* father* parent* twin* birthorder head ledig
        verheir* geschieden verwitwet kinder* anzahlkinder celibat* divorce soltero casado viudo
        hijo* nper npers dependent dependents ndepend*"""),
    (_WORK, """
        educ* *educ edu edu* edlev* ed eduy* yschool *school* school* bildung* ecole* escol*
        *degree degree* major studienfach filiere college* *college* colleg* univers* bachel*
        diplom* literacy liter* graduat* gradu* hsgrad exper* *exper exp expr *experience
        tenure* senior* employ* *employ* unemp* *unemp work worker* working workstat* *worker
        outwork job* *job occ occup* beruf* profes* metier* oficio* indust* ind sector* sektor*
        bluecol* whitecol* *collar* collar manager* *manager beamt* self selfemp* *selfemp
        retire* rentner retraite* jubilad* student lfp laborforce labforce inlf lf veteran* vet
        military army soldier* teacher* parttime fulltime"""),
    (_PLACE, """
        region* reg south* *south north* *north east east* west west* midwest* northeast* urban*
        *urban rural* *rural city* smsa* *smsa* msa metro* cbsa fips fip county* countr*
        village* vill* town* district* distr* provin* municip* *municip* zip* postc* plz*
        address* geogr* center centre zentrum centro clinic* klinik* hospital inst instit* ward
        schid* provider* popul* neighbo* nbhd tract block blk cluster psu strat* stratum strata
        stadt* ort gemeinde* commune* commune coast* quartier barrio residen* resid country*
        territory community precinct* *precinct"""),
    (_A_DATE, """
        yr *yr *year mon *month monat jahr *jahr annee quarter qtr qob mob yob dob* *date date*
        datum* *datum fecha* *dat dt weekday wday"""),
    (_THE_BODY, """
        ht hgt height* *height hght hair* eye* handed* hand lefthand* stature groesse
        bloodgroup* bloodtype* blutgruppe*"""),
    (_TECHNICAL, """
        study studie estudio etude wave welle vague ola version batch round filename dataset
        subsample subcohort cohort split fold imput* imputed *imputed import imported
        questionnaire protocol schema replicate"""),
)  # fmt: skip


_UNIT = re.compile(
    r"(vill|village|sch|school|hosp|hospital|prov|provider|clinic|dist|cens|tract|clus|firm|plant|"
    r"store|branch|ward|site|center|centre|inst|region|area|zone|state|county|country|city|town|"
    r"klinik|schul|ort|kreis|ecole|hopital|escuela|centro)"
    r"(id|num|number|no|nr|code|cod|cd|nummer|numero)[a-z]{0,3}"
)
"""The number of something that people belong to."""

_NUMBERED = re.compile(
    r"(pers|person|per|pat|patient|u?subj|subject|resp|respondent|indiv|ind|case|int|interview|rec|"
    r"record|obs|client|cust|customer|emp|employee|stud|student|mem|member|hh|fam|household|"
    r"family|fall|versicherten|kunden|matrikel|child|kid|pupil|participant|part|mother|mom|father|"
    r"parent|couple|twin|user|study|survey|voter|worker|inmate|borrower|applicant|pt)"
    r"(id|ident|num|number|no|nr|nummer)"
)
"""The number of a person, a household or a record, written as one word."""

_PART_OF_DATE = re.compile(
    r"(y|yr|year|mo|mon|mth|month|m|d|da|day|dt|date)(of)?(dth|death|birth|bth|brth|bir|dob|diag|"
    r"dx|adm|admit|admission|disch|discharge|visit|int|intv|interview|surg|op)"
    r"|(birth|bth|dth|death|diag|dx|adm|disch|visit|int|intv)(y|yr|year|mo|mon|month|day|dt|date)"
)
"""Year, month or day of something, written as one word."""

_EXACT: dict[str, WordMeaning] = {}
_INSIDE: list[tuple[str, bool, bool, WordMeaning]] = []
for _meaning, _list in _PARTS:
    for _part in _list.split():
        _stem, _before, _after = _part.strip("*"), _part[0] == "*", _part[-1] == "*"
        if _before or _after:
            _INSIDE.append((_stem, _before, _after, _meaning))
        else:
            _EXACT.setdefault(_stem, _meaning)
_INSIDE.sort(key=lambda each: -len(each[0]))


def hint_of(name: str) -> WordMeaning | None:
    """Return what abbreviations and parts of words in a name may mean; None if nothing known.

    Less sure than `meaning_of`: enough to draft a policy that is read, and no reason to refuse
    a release.

    >>> [hint_of(name).what for name in ("lwage", "nonwhite", "futime", "alcoholfreq", "yrdth")]
    ['money', 'origin', 'an outcome', 'health', 'a date in a life']
    >>> hint_of("management"), hint_of("V7")
    (None, None)
    """
    found = [(length, meaning) for length, meaning in map(_hint, words(name)) if meaning]
    return max(found, key=lambda each: each[0])[1] if found else None


def _hint(word: str) -> tuple[int, WordMeaning | None]:
    """Return how many letters of a word say what it may mean, and what."""
    if word in _EXACT:
        return len(word) + 1, _EXACT[word]
    if _PART_OF_DATE.fullmatch(word):
        return len(word), _A_DATE
    if _UNIT.fullmatch(word):
        return len(word), _PLACE
    for stem, before, after, meaning in _INSIDE:
        fits = stem in word if before and after else (
            word.endswith(stem) if before else word.startswith(stem)
        )  # fmt: skip
        if fits:
            return len(stem), meaning
    return 0, None
