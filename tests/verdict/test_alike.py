"""People whose values are written differently and come to the same are exposed all the same."""

import random

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.attacks.common_parts import terms_of
from sfumato.errors import InputError

HOSPITAL = ["flu", "gout", "asthma", "eczema", "angina", "mumps"]


def table_of(usual, odd, size=10, classes=60, seed=3):
    """Return a table in which one class has the odd values, and the others draw from the usual."""
    rng = random.Random(seed)
    ill = [odd[i % len(odd)] for i in range(size)]
    ill += [usual(rng) for _ in range(size * (classes - 1))]
    zone = [f"z{i // size}" for i in range(size * classes)]
    return pa.table({"zone": zone, "ill": ill})


def verdict(table):
    return sf.verify(table, quasi_identifiers=["zone"], sensitive=["ill"])


SPELLINGS = {
    "accents": ["ménière", "menière", "Meniere"],
    "dashes": ["HIV-1", "HIV\u20101", "HIV 1"],
    "other alphabets": ["HIV", "\u041dIV", "H\u0399V"],
    "quotes and brackets": ["(HIV)", "'HIV'", "HIV", "H.I.V."],
    "underscores": ["lung_cancer", "Lung Cancer", "lung-cancer"],
    "thousands": ["1,000", "1000", "1 000", "1.000"],
    "decimal commas": ["5,5 mg", "5.5mg", "5.50 mg"],
    "orders of a day": ["2020-01-02", "02.01.2020", "2020/1/2"],
}


@pytest.mark.parametrize("forms", SPELLINGS.values(), ids=SPELLINGS)
def test_one_value_in_several_spellings_is_one_value(forms):
    table = table_of(lambda rng: rng.choice(HOSPITAL), forms)
    found = verdict(table)
    assert (found.answer, found.at_risk >= 10) == ("no", True)


@pytest.mark.parametrize(
    "values", [["A+", "A-"], ["<5", ">5"], ["C", "C#"], ["1-2", "12"]], ids=str
)
def test_signs_that_make_another_value_count(values):
    table = table_of(lambda rng: rng.choice(HOSPITAL), values)
    assert verdict(table).at_risk == 0


QUALIFIED = {
    "alone, in brackets, in words": ["HIV", "HIV (B20)", "HIV pos."],
    "never alone": ["HIV (confirmed)", "HIV: positive", "HIV [B20]"],
    "before and after": ["acute HIV", "HIV", "chronic HIV infection"],
    "of several words": ["lung cancer", "Lung-Cancer, stage 2", "recurrent lung cancer"],
    "stages": ["HIV Stadium A", "HIV Stadium B", "HIV Stadium C"],
    "Roman stages": ["cancer stage I", "cancer stage II", "cancer stage IVb"],
    "years": ["HIV seit 2012", "HIV seit 2015", "HIV depuis 1999"],
    "underscores and numbers": ["hiv_stage1", "hiv_stage2", "hiv_stage3"],
    "kinds": ["HIV-1", "HIV-2", "HIV-Infektion"],
    "doubt": ["Verdacht auf HIV", "HIV, gesichert", "Z. n. HIV"],
    "severity": ["depresión leve", "depresión moderada", "depresión grave"],
    "keys": ["dx=HIV day=12", "dx=HIV day=3", "dx=hiv day=31"],
    "signs": ["HIV", "HIV+", "HIV-positiv"],
    "numbers that run on": ["hiv1234", "hiv5678", "HIV9001", "173hiv", "96hiv"],
    "sides": ["Brustkrebs links", "Brustkrebs rechts", "Brustkrebs bds."],
}


@pytest.mark.parametrize("forms", QUALIFIED.values(), ids=QUALIFIED)
def test_one_illness_with_qualifiers_is_one_illness(forms):
    table = table_of(lambda rng: rng.choice(HOSPITAL), forms)
    found = verdict(table)
    assert (found.answer, found.at_risk) == ("no", 10)


@pytest.mark.parametrize(
    "values",
    [
        ["type A", "type B"],
        ["left arm", "right arm"],
        ["1", "1 a", "1 b"],
        ["Hives", "HIV"],
        ["married", "never married"],
        ["HIV", "kein HIV"],
        ["stage 1", "stage 2"],
        ["type 1 gout", "type 1 mumps"],
    ],
    ids=str,
)
def test_values_that_only_share_a_word_are_different(values):
    table = table_of(lambda rng: rng.choice(HOSPITAL), values)
    assert verdict(table).at_risk == 0


def test_terms_that_all_classes_mix_are_harmless():
    ills = ["cancer", "cancer of the lung", "cancer (skin)", *HOSPITAL]
    table = pa.table({"zone": [f"z{i // 45}" for i in range(450)], "ill": ills * 50})
    assert verdict(table).at_risk == 0


@pytest.mark.parametrize(
    "odd", [["y", "1", "true", "ja"], ["pos.", "positiv", "Positive", "+"]], ids=str
)
def test_yes_is_yes_in_any_language(odd):
    usual = ["n", "0", "false", "nein", "neg.", "negativ", *odd]
    table = table_of(lambda rng: rng.choice(usual), odd)
    assert (verdict(table).answer, verdict(table).at_risk >= 10) == ("no", True)
    mixed = table_of(lambda rng: rng.choice(usual), ["n", "0", "nein", *odd[:3]], size=40)
    assert verdict(mixed).at_risk == 0


LANGUAGES = {
    "marital status": (["widowed", "verwitwet", "veuf"], ["single", "ledig", "marié", "divorced"]),
    "months": (["May", "Mai", "mayo", "maggio"], ["June", "Juli", "août", "sept.", "december"]),
    "sex": (["female", "w", "femme", "Frau"], ["male", "m", "homme", "Mann", "f", "weiblich"]),
    "severity": (["severe", "schwer", "grave"], ["mild", "leicht", "none", "moderate", "mäßig"]),
}


@pytest.mark.parametrize("words", LANGUAGES.values(), ids=LANGUAGES)
def test_one_word_in_several_languages_is_one_value(words):
    odd, usual = words
    found = verdict(table_of(lambda rng: rng.choice(usual), odd))
    assert (found.answer, found.at_risk >= 10) == ("no", True)
    every = ([*odd, *usual] * 100)[:600]
    assert (
        verdict(pa.table({"zone": [f"z{i // 60}" for i in range(600)], "ill": every})).at_risk == 0
    )


MEASURES = {
    "masses": lambda kg: (f"{kg} kg", f"{kg * 1000} g", f"{kg * 2.20462:.1f} lb")[kg % 3],
    "lengths": lambda cm: (f"{cm} cm", f"{cm / 100:.2f} m", f"{cm / 2.54:.2f} in")[cm % 3],
    "parts": lambda m: (f"{m // 60}h {m % 60}m", f"PT{m // 60}H{m % 60}M", f"{m} min")[m % 3],
    "one without": lambda pay: (f"{pay}", f"{pay} EUR", f"€ {pay}")[pay % 3],
    "shares": lambda mg: (f"{mg} mg/dl", f"{mg / 100:.2f} g/l")[mg % 2],
    "degrees": lambda c: (f"{c} °C", f"{c * 9 / 5 + 32:.1f} °F")[c % 2],
}


@pytest.mark.parametrize("write", MEASURES.values(), ids=MEASURES)
def test_measures_close_together_are_told_in_whatever_unit(write):
    close = [write(181 + i % 4) for i in range(12)]
    table = table_of(lambda rng: write(rng.randrange(20, 250)), close)
    assert verdict(table).answer == "no"
    spread = table_of(
        lambda rng: write(rng.randrange(20, 250)), [write(24 + 22 * i) for i in range(10)]
    )
    assert verdict(spread).at_risk == 0


PAIRS = {
    "blood pressures": lambda a, b: f"{a}/{b}",
    "with a unit": lambda a, b: f"{a} / {b} mmHg",
    "in brackets": lambda a, b: f"({a}, {b})",
    "the second": lambda a, b: f"{b}/{a}",
    "in words": lambda a, b: f"{a} zu {b} mmHg",
}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("write", PAIRS.values(), ids=PAIRS)
def test_one_of_two_numbers_in_a_cell_is_told(write):
    def usual(rng):
        return write(rng.randrange(100, 200), rng.randrange(60, 100))

    rng = random.Random(1)
    odd = [write(181 + i % 3, rng.randrange(60, 100)) for i in range(10)]
    assert len({*odd}) > 5
    found = verdict(table_of(usual, odd))
    assert (found.answer, found.at_risk >= 10) == ("no", True)
    assert verdict(table_of(usual, [usual(rng) for _ in range(10)])).at_risk == 0


def test_people_of_a_whole_cell_and_of_its_numbers_are_counted_once():
    # All have 180 first, which the class has by its whole values, too.
    cells = ["180/90"] * 10
    table = table_of(lambda rng: f"{rng.randrange(100, 170)}/{rng.randrange(60, 100)}", cells)
    assert verdict(table).at_risk == 10


def test_whom_a_column_names_is_counted():
    rng = random.Random(0)
    where = [f"{48 + rng.random():.5f}, {11 + rng.random():.5f}" for _ in range(200)]
    table = pa.table({"zone": ["z1", "z2"] * 100, "where": where})
    found = sf.verify(table, quasi_identifiers=["zone"], sensitive=["where"])
    assert (found.answer, found.at_risk) == ("no", 200)
    assert found.to_dict()["people_at_risk"] == 200
    assert "200 of 200 people are at risk" in found.headline


def test_a_struct_is_refused_in_words():
    table = pa.table({"zone": [{"a": 1}, {"a": 2}], "ill": ["flu", "gout"]})
    with pytest.raises(InputError, match="'zone' holds struct<a: int64>, which has no single"):
        verdict(table)


TIMES = (
    lambda hour, minute: f"{hour}:{minute:02d}",
    lambda hour, minute: f"{hour}.{minute:02d} Uhr",
    lambda hour, minute: f"{hour}h{minute:02d}",
)
NUMBERS = {
    "euros": lambda n: f"{n} €",
    "thousands apart": lambda n: f"{n:,}",
    "as in German": lambda n: f"{n:,}".replace(",", ".") + ",00",
    "times": lambda n: f"{n // 7 % 1440 // 60:02d}:{n // 7 % 60:02d}",
    "one of them unknown": lambda n: str(n) if n % 50 else "unknown",
    "bands": lambda n: f"{n} to {n + 50 * (n % 7 + 1)} €",
    "thousands in three ways": lambda n: (f"{n} k", f"{n}k", f"{n} Tsd.")[n % 3],
    "thousands of a currency": lambda n: (f"{n} T€", f"{n} TEUR", f"{n} mille €")[n % 3],
    "times in three ways": lambda n: TIMES[n % 3](*divmod(n // 7 % 1440, 60)),
}


@pytest.mark.parametrize("write", NUMBERS.values(), ids=NUMBERS)
def test_amounts_close_together_are_told_however_they_are_written(write):
    close = [write(5001 + i) for i in range(7)]
    table = table_of(lambda rng: write(rng.randrange(1000, 9000)), close)
    assert verdict(table).answer == "no"
    even = [write(1000 + 777 * i) for i in range(10)]
    spread = table_of(lambda rng: write(rng.randrange(1000, 9000)), even)
    assert verdict(spread).at_risk == 0


def test_bands_that_are_mixed_in_every_class_are_harmless():
    bands = ["under 10k", *(f"{low}k to {low + 10}k" for low in range(10, 80, 10)), "80k and more"]
    table = pa.table({"zone": [f"z{i // 36}" for i in range(360)], "ill": bands * 40})
    assert verdict(table).answer == "yes"


def test_who_has_some_where_most_have_nothing_is_found():
    pays = [100 * i * i for i in range(1, 11)]
    table = table_of(lambda rng: rng.choice([0] * 15 + pays), pays)
    assert verdict(table).answer == "no"


def test_who_owes_where_others_own_is_found():
    debts = [-(7**i) for i in range(1, 11)]
    table = table_of(lambda rng: rng.choice([*debts, *(-2 * d for d in debts)]), debts)
    assert verdict(table).answer == "no"


def test_codes_of_one_branch_are_of_a_kind():
    usual = [f"{letter}{n}.{d}" for letter in "AEIJK" for n in (10, 45) for d in range(3)]
    for odd in (["F20.0", "F20.1", "F20.4"], ["F20.0", "F31", "F41.2"]):
        table = table_of(lambda rng: rng.choice(usual), odd)
        found = verdict(table)
        assert (found.answer, found.at_risk >= 10) == ("no", True)


def test_a_list_in_one_class_only_is_one_of_items():
    odd = ["hiv; flu", "gout; hiv", "hiv/asthma"]
    assert verdict(table_of(lambda rng: rng.choice(HOSPITAL), odd)).answer == "no"


def test_columns_that_tell_nothing_leave_nothing_untried():
    ill = [HOSPITAL[i % 4] for i in range(800)]
    zone = [f"z{i // 200}" for i in range(800)]
    constant = {f"c{i}": ["x"] * 800 for i in range(60)}
    table = pa.table({"zone": zone, "ill": ill, "state": [z * 2 for z in zone], **constant})
    known = {name: {"role": "plain", "because": "it is"} for name in ("state", *constant)}
    policy = {
        "columns": {"zone": "quasi-identifier", "ill": "sensitive", **known},
        "models": [{"model": "k-anonymity", "k": 20}],
    }
    assert sf.verify(table, policy).answer == "yes"


def test_a_long_text_takes_no_longer_than_it_is_long():
    # Tried at every place it could end, one of this length took hours.
    long = "a" * 300_000
    assert terms_of([long, f"{long}(", "HIV (B20)", "HIV"]) == [set(), set(), {"hiv …"}, {"hiv …"}]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("sign", ["a", "1", "1.", "a 1-", "(a", "a:", "x,"])
def test_a_table_with_a_long_cell_is_judged(sign):
    ill = [sign * (200_000 // len(sign)), *["flu", "gout", "hiv"] * 7]
    table = pa.table({"age": [str(20 + at % 2) for at in range(len(ill))], "ill": ill})
    # Patterns that were tried at every place of it took minutes.
    assert sf.verify(table, quasi_identifiers=["age"], sensitive=["ill"]).attacks
