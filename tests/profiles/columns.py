"""Columns with one of the 18 kinds of identifiers, in thirty spellings each, and others without.

The lists were written from what tables of hospitals, insurers and surveys are called, before there
was anything that recognises them.
"""

import random
import string
import uuid
from collections.abc import Callable
from pathlib import Path

from sfumato.lists import read_lists

ROWS = 60

LISTS = read_lists(Path(__file__).with_name("columns.txt"))
FIRST, LAST, STREETS, CITIES = (
    LISTS[each].split() for each in ("first", "last", "streets", "cities")
)


def digits(rng: random.Random, n: int) -> str:
    return str(rng.randint(1, 9)) + "".join(rng.choice(string.digits) for _ in range(n - 1))


def letters(rng: random.Random, n: int) -> str:
    return "".join(rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(n))


def full_name(rng):
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def last_first(rng):
    return f"{rng.choice(LAST)}, {rng.choice(FIRST)} {rng.choice('ABCDEF')}."


def first_name(rng):
    return rng.choice(FIRST)


def last_name(rng):
    return rng.choice(LAST)


def upper_name(rng):
    return full_name(rng).upper()


def titled(rng):
    return f"{rng.choice(['Mr.', 'Mrs.', 'Dr.'])} {full_name(rng)}"


def company(rng):
    kind = rng.choice(["Inc", "LLC", "Corp", "& Sons"])
    return f"{rng.choice(LAST)} {rng.choice(['Logistics', 'Foods', 'Steel', 'Systems'])} {kind}"


def street(rng):
    return f"{rng.randint(1, 9999)} {rng.choice(STREETS)} {rng.choice(['St', 'Ave', 'Rd'])}"


def city(rng):
    return rng.choice(CITIES)


def county(rng):
    return f"{rng.choice(STREETS)} County"


def zip5(rng):
    return f"{rng.randint(10001, 99950):05d}"


def zip9(rng):
    return f"{zip5(rng)}-{rng.randint(1000, 9999)}"


def zip4(rng):
    return f"{zip5(rng)[:4]}*"


def restricted(rng):
    return rng.choice(["036**", "100**", "941**", "606**", "770**"])


def latitude(rng):
    return round(rng.uniform(25, 49), 5)


def longitude(rng):
    return round(rng.uniform(-124, -67), 5)


def point(rng):
    return f"{latitude(rng)}, {longitude(rng)}"


def tract(rng):
    return digits(rng, 11)


def county_code(rng):
    return f"{rng.randint(1, 56):02d}{rng.randrange(1, 300, 2):03d}"


def iso_day(rng):
    return f"{rng.randint(1990, 2023)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def us_day(rng):
    return f"{rng.randint(1, 12):02d}/{rng.randint(13, 28):02d}/{rng.randint(1990, 2023)}"


def month(rng):
    return f"{rng.randint(1990, 2023)}-{rng.randint(1, 12):02d}"


def quarter(rng):
    return f"{rng.randint(2000, 2023)} Q{rng.randint(1, 4)}"


def stamp(rng):
    return f"{iso_day(rng)} {rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}:00"


def named_day(rng):
    return (
        f"{rng.randint(1, 28)} {rng.choice(['Jan', 'Feb', 'May', 'Oct'])} {rng.randint(1990, 2023)}"
    )


def day_number(rng):
    return int(iso_day(rng).replace("-", ""))


def month_of_year(rng):
    return rng.randint(1, 12)


def weekday(rng):
    return rng.choice(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])


def old_age(rng):
    return rng.choice([91, 93, 96, 101]) if rng.random() < 0.1 else rng.randint(18, 89)


def old_range(rng):
    return rng.choice(["20 to 39", "40 to 59", "60 to 79", "80 to 89", "90 to 94", "95 to 99"])


def old_year(rng):
    return rng.choice([1921, 1925, 1929]) if rng.random() < 0.1 else rng.randint(1945, 2001)


def phone(rng):
    return f"({digits(rng, 3)}) {digits(rng, 3)}-{digits(rng, 4)}"


def phone_dashes(rng):
    return f"{digits(rng, 3)}-{digits(rng, 3)}-{digits(rng, 4)}"


def phone_dots(rng):
    return f"{digits(rng, 3)}.{digits(rng, 3)}.{digits(rng, 4)}"


def phone_plus(rng):
    return f"+1 {digits(rng, 3)} {digits(rng, 3)} {digits(rng, 4)}"


def phone_number(rng):
    return int(digits(rng, 10))


def mail(rng):
    host = rng.choice(["x.org", "mail.com"])
    return f"{rng.choice(FIRST)}.{rng.choice(LAST)}{rng.randint(1, 99)}@{host}".lower()


def mail_with_name(rng):
    return f"{full_name(rng)} <{mail(rng)}>"


def ssn(rng):
    return f"{digits(rng, 3)}-{digits(rng, 2)}-{digits(rng, 4)}"


def ssn_plain(rng):
    return digits(rng, 9)


def ssn_number(rng):
    return int(digits(rng, 9))


def last_four(rng):
    return digits(rng, 4)


def coded(prefix: str, n: int) -> Callable[[random.Random], str]:
    return lambda rng: f"{prefix}{digits(rng, n)}"


def number(n: int) -> Callable[[random.Random], int]:
    return lambda rng: int(digits(rng, n))


def mbi(rng):
    a, n = (lambda: letters(rng, 1)), (lambda: rng.choice(string.digits[1:]))
    return f"{n()}{a()}{n()}{n()}-{a()}{n()}{n()}-{a()}{a()}{n()}{n()}"


def iban(rng):
    return f"DE{digits(rng, 2)} {' '.join(digits(rng, 4) for _ in range(4))} {digits(rng, 2)}"


def card(rng):
    return " ".join(digits(rng, 4) for _ in range(4))


def licence(rng):
    return f"{letters(rng, 1)}{digits(rng, 7)}"


def vin(rng):
    return "".join(rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ0123456789") for _ in range(17))


def plate(rng):
    return f"{letters(rng, 3)} {digits(rng, 4)}"


def serial(rng):
    return f"SN{letters(rng, 2)}{digits(rng, 6)}"


def imei(rng):
    return digits(rng, 15)


def mac(rng):
    return ":".join(f"{rng.randrange(256):02x}" for _ in range(6))


def udi(rng):
    return f"(01){digits(rng, 14)}(21){letters(rng, 2)}{digits(rng, 5)}"


def url(rng):
    return f"https://{rng.choice(LAST).lower()}.example.com/{rng.randint(1, 999)}"


def bare_url(rng):
    return f"www.{rng.choice(LAST).lower()}{rng.randint(1, 99)}.com"


def handle(rng):
    return f"@{rng.choice(FIRST).lower()}_{rng.randint(1, 999)}"


def ip(rng):
    return ".".join(str(rng.randint(1, 254)) for _ in range(4))


def ip6(rng):
    if rng.random() < 0.5:
        return f"2001:db8::{rng.randrange(1, 65536):x}"
    return ":".join(f"{rng.randrange(65536):x}" for _ in range(8))


def ip_port(rng):
    return f"{ip(rng)}:{rng.randint(1024, 9999)}"


def print_file(rng):
    return f"prints/{digits(rng, 5)}.wsq"


def template(rng):
    return "".join(rng.choice(string.hexdigits) for _ in range(64)).lower()


def voice_file(rng):
    return f"rec_{digits(rng, 6)}.wav"


def vector(rng):
    return " ".join(f"{rng.uniform(-1, 1):.4f}" for _ in range(12))


def photo_file(rng):
    return f"img/{digits(rng, 5)}.jpg"


def photo_png(rng):
    return f"IMG_{digits(rng, 4)}.PNG"


def photo_data(rng):
    return "data:image/png;base64," + "".join(rng.choice(string.ascii_letters) for _ in range(40))


def dicom(rng):
    return f"scan{digits(rng, 6)}.dcm"


def guid(rng):
    return str(uuid.UUID(int=rng.getrandbits(128)))


def digest(rng):
    return f"{rng.getrandbits(160):040x}"


def short_code(rng):
    return f"{letters(rng, 2)}{digits(rng, 6)}"


NAMES = {letter: LISTS[letter].split() for letter in "ABCDEFGHIJKLMNOPQR"}
"""Thirty names of columns or more for each kind."""

VALUES: dict[str, list[Callable[[random.Random], object]]] = {
    "A": [full_name, last_first, first_name, last_name, upper_name, titled],
    "B": [zip5, zip9],
    "C": [iso_day, us_day, month, stamp, named_day, day_number],
    "D": [phone, phone_dashes, phone_dots, phone_plus, phone_number],
    "E": [phone, phone_dashes, phone_dots, phone_plus, phone_number],
    "F": [mail, mail_with_name],
    "G": [ssn, ssn_plain, ssn_number],
    "H": [number(7), coded("MR", 6), coded("H-", 7), number(8), coded("0", 7)],
    "I": [mbi, coded("XWH", 9), number(9), coded("M", 8), number(10)],
    "J": [iban, card, number(10), coded("ACC-", 7), number(12)],
    "K": [licence, number(8), coded("C", 6), coded("RN-", 6), number(10)],
    "L": [vin, plate, coded("KA-", 5), coded("7", 6)],
    "M": [serial, imei, mac, udi, coded("D-", 7)],
    "N": [url, bare_url],
    "O": [ip, ip6, ip_port],
    "P": [print_file, template, voice_file, vector],
    "Q": [photo_file, photo_png, photo_data],
    "R": [guid, digest, short_code, number(8)],
}
"""How the values of each kind are written, unless the name asks for others."""

ONLY: dict[str, Callable[[random.Random], object]] = {
    "employer": company, "employer_name": company, "first_name": first_name,
    "firstName": first_name, "Vorname": first_name, "LastName": last_name, "last_name": last_name,
    "surname": last_name, "SURNAME": last_name, "maiden_name": last_name, "Nachname": last_name,
    "x17": full_name, "col_3": last_first,
    "address": street, "street_address": street, "home_address": street, "Addr1": street,
    "street": street, "city": city, "City_of_residence": city, "town": city, "county": county,
    "COUNTY_NAME": county, "zip4digits": zip4, "latitude": latitude, "Lat": latitude,
    "lon": longitude, "geo_point": point, "census_tract": tract, "fips_county": county_code,
    "precinct": county_code, "neighborhood": city, "hometown": city, "birth_city": city,
    "Ort": city, "ZIP": restricted, "x21": zip9,
    "birth_month": month, "admit_month": month_of_year, "quarter_of_visit": quarter,
    "day_of_week_admitted": weekday, "age": old_age, "Age": old_age, "age_years": old_age,
    "AGE_AT_ADMISSION": old_age, "patient_age": old_age, "age_group": old_range,
    "birth_year": old_year, "yob": old_year, "encounter_timestamp": stamp, "timestamp": stamp,
    "x9": iso_day, "x4": phone, "col_8": phone_dashes, "x5": mail, "col_2": mail,
    "login": mail, "contact": mail, "last4ssn": last_four, "ssn_last4": last_four,
    "ssn_last_four": last_four, "x12": ssn, "col_5": ssn, "mbi": mbi, "iban": iban, "IBAN": iban,
    "vin": vin, "VIN": vin, "auto_vin": vin, "car_vin": vin, "vin_number": vin, "x31": vin,
    "imei": imei, "IMEI": imei, "phone_imei": imei, "udi": udi, "UDI": udi, "mac": mac, "MAC": mac,
    "mac_address": mac, "twitter": handle, "instagram": handle, "ipv4": ip, "ipv6": ip6,
    "IPv6": ip6, "x14": photo_file, "photo_url": photo_file, "x11": guid,
    "fingerprint": print_file, "face_embedding": vector, "voice_embedding": vector,
}  # fmt: skip
"""Names that say how values are written, or too little for others."""

HARMLESS: dict[str, Callable[[random.Random], object]] = {
    "sex": lambda rng: rng.choice(["F", "M"]),
    "race": lambda rng: rng.choice(["White", "Black", "Asian", "Other"]),
    "marital_status": lambda rng: rng.choice(["Married", "Single", "Widowed"]),
    "state": lambda rng: rng.choice(["CA", "NY", "TX", "OH", "WA"]),
    "State_of_residence": lambda rng: rng.choice(["California", "New York", "Texas", "Ohio"]),
    "country": lambda rng: rng.choice(["United States", "Mexico", "Canada"]),
    "birth_country": lambda rng: rng.choice(["United States", "India", "Cuba"]),
    "census_region": lambda rng: rng.choice(["Northeast", "Midwest", "South", "West"]),
    "zip3": lambda rng: rng.choice(["100", "941", "606", "770", "000"]),
    "ZIP_prefix": lambda rng: rng.choice(["100**", "941**", "606**", "000**"]),
    "zip": lambda rng: rng.choice(["*", "9****", "1****"]),
    "urban_rural": lambda rng: rng.choice(["urban", "rural"]),
    "city_size": lambda rng: rng.choice(["large", "medium", "small"]),
    "distance_to_hospital_miles": lambda rng: round(rng.uniform(0, 80), 1),
    "age": lambda rng: rng.choice([*range(18, 90)]),
    "Age": lambda rng: rng.choice([*map(str, range(18, 90)), "90+"]),
    "age_band": lambda rng: rng.choice(["0-17", "18-44", "45-64", "65-89", "90+"]),
    "AgeGroup": lambda rng: rng.choice(["under 18", "18 to 64", "65 or more"]),
    "age_range": lambda rng: rng.choice(["18 to 39", "40 to 89", "90 or more"]),
    "year": lambda rng: rng.randint(2005, 2020),
    "admission_year": lambda rng: rng.randint(2005, 2020),
    "birth_year": lambda rng: rng.randint(1950, 2005),
    "birth_decade": lambda rng: rng.choice(["1950s", "1960s", "1970s", "1980s"]),
    "year_of_visit": lambda rng: str(rng.randint(2015, 2020)),
    "length_of_stay_days": lambda rng: rng.randint(0, 30),
    "follow_up_months": lambda rng: rng.randint(0, 60),
    "days_to_readmission": lambda rng: rng.randint(1, 400),
    "has_phone": lambda rng: rng.choice(["yes", "no"]),
    "phone_calls": lambda rng: rng.randint(0, 12),
    "phone_contact_preferred": lambda rng: rng.choice(["Y", "N"]),
    "fax_consent": lambda rng: rng.choice(["yes", "no"]),
    "email_opt_in": lambda rng: rng.choice([True, False]),
    "emails_sent": lambda rng: rng.randint(0, 20),
    "ssn_verified": lambda rng: rng.choice(["Y", "N"]),
    "record_type": lambda rng: rng.choice(["inpatient", "outpatient"]),
    "records_reviewed": lambda rng: rng.randint(1, 9),
    "plan_type": lambda rng: rng.choice(["HMO", "PPO", "EPO"]),
    "insurance": lambda rng: rng.choice(["Medicare", "Medicaid", "Private", "None"]),
    "policy_status": lambda rng: rng.choice(["active", "lapsed"]),
    "member_months": lambda rng: rng.randint(1, 12),
    "account_type": lambda rng: rng.choice(["savings", "checking"]),
    "account_balance": lambda rng: round(rng.uniform(0, 90000), 2),
    "card_type": lambda rng: rng.choice(["Visa", "Mastercard", "Amex"]),
    "glucose_mg_dl": lambda rng: rng.randint(60, 400),
    "lat_flexion": lambda rng: rng.randint(10, 40),
    "license_class": lambda rng: rng.choice(["A", "B", "C"]),
    "licensed": lambda rng: rng.choice(["yes", "no"]),
    "certificate_level": lambda rng: rng.choice(["none", "basic", "advanced"]),
    "vehicle_type": lambda rng: rng.choice(["car", "truck", "bicycle"]),
    "vehicle_year": lambda rng: rng.randint(1998, 2022),
    "vehicles_in_household": lambda rng: rng.randint(0, 4),
    "device_type": lambda rng: rng.choice(["pump", "pen", "none"]),
    "device_brand": lambda rng: rng.choice(["Acme", "Medco", "Zeta"]),
    "number_of_devices": lambda rng: rng.randint(0, 5),
    "internet_access": lambda rng: rng.choice(["yes", "no"]),
    "website_visits": lambda rng: rng.randint(0, 40),
    "ip_version": lambda rng: rng.choice(["4", "6"]),
    "photo_taken": lambda rng: rng.choice(["yes", "no"]),
    "image_quality": lambda rng: rng.choice(["good", "fair", "poor"]),
    "fingerprint_match": lambda rng: rng.choice(["yes", "no"]),
    "iris_color": lambda rng: rng.choice(["brown", "blue", "green"]),
    "diagnosis": lambda rng: rng.choice(["asthma", "diabetes", "hypertension", "none"]),
    "icd10": lambda rng: rng.choice(["E11.9", "I10", "J45.909", "Z00.00"]),
    "cpt_code": lambda rng: rng.choice(["99213", "99214", "93000", "80053"]),
    "ndc": lambda rng: rng.choice(["0002-8215-01", "0088-2219-05", "50580-506-02"]),
    "drug_name": lambda rng: rng.choice(["metformin", "lisinopril", "atorvastatin"]),
    "drg": lambda rng: rng.choice([470, 871, 291, 392]),
    "systolic_bp": lambda rng: rng.randint(95, 180),
    "glucose": lambda rng: round(rng.uniform(60, 250), 1),
    "bmi": lambda rng: round(rng.uniform(17, 45), 1),
    "weight_kg": lambda rng: round(rng.uniform(45, 130), 1),
    "heart_rate": lambda rng: rng.randint(50, 120),
    "income": lambda rng: rng.randint(12, 180) * 1000,
    "charges": lambda rng: round(rng.uniform(100, 90000), 2),
    "education": lambda rng: rng.choice(["High school", "Bachelor", "Master"]),
    "occupation": lambda rng: rng.choice(["Sales", "Clerical", "Management"]),
    "smoker": lambda rng: rng.choice(["yes", "no", "former"]),
    "outcome": lambda rng: rng.choice(["recovered", "died", "transferred"]),
    "discharge_status": lambda rng: rng.choice(["home", "SNF", "expired"]),
    "hospital_type": lambda rng: rng.choice(["teaching", "community"]),
    "bed_count": lambda rng: rng.choice([120, 300, 650]),
    "score": lambda rng: rng.randint(0, 27),
    "treatment_arm": lambda rng: rng.choice(["A", "B", "placebo"]),
    "dose_mg": lambda rng: rng.choice([5, 10, 20, 40]),
    "language": lambda rng: rng.choice(["English", "Spanish", "Chinese"]),
    "religion": lambda rng: rng.choice(["none", "Catholic", "Muslim"]),
    "blood_type": lambda rng: rng.choice(["A+", "O-", "B+"]),
    "num_visits": lambda rng: rng.randint(0, 15),
    "survival_days": lambda rng: rng.randint(1, 2000),
    "software_version": lambda rng: rng.choice(["1.2", "1.3", "2.0"]),
    "wait_minutes": lambda rng: rng.randint(1, 240),
}  # fmt: skip
"""Columns without identifiers, many of them called nearly like one that has some."""


def identifying(clause: str, position: int, seed: int = 0) -> tuple[str, list[object]]:
    """Return a column of a kind in one of its thirty spellings."""
    name = NAMES[clause][position]
    rng = random.Random(f"{clause}/{position}/{seed}")
    ways = VALUES[clause]
    way = ONLY.get(name) if name in ONLY else ways[(position + seed) % len(ways)]
    values = [way(rng) for _ in range(ROWS)]
    if seed % 3 == 2:
        # As in the tables that people have: not all cells are filled.
        values = [value if rng.random() < 0.8 else None for value in values]
    return name, values


def harmless(name: str, seed: int = 0) -> list[object]:
    """Return a column that holds no identifier."""
    rng = random.Random(f"{name}/{seed}")
    return [HARMLESS[name](rng) for _ in range(ROWS)]
