"""Files of SPSS, Stata, SAS and Excel for tests, made by libraries that Sfumato has no part in."""

import base64
import datetime as dt
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadstat
import xlsxwriter

SPSS_DAY_0 = dt.date(1582, 10, 14)
STATA_DAY_0 = dt.date(1960, 1, 1)

COLUMN_LABELS = {
    "state": "Bundesland – Wohnsitz",
    "age": "Alter in Jahren",
    "income": "Einkommen (€)",
}
LABELS = {
    "state": {1: "Bayern", 2: "Hessen", 3: "Thüringen", 4: "Köln/Bonn", 5: "Atlantis"},
    "sex": {1: "männlich", 2: "weiblich"},
    "age": {99: "99 und älter"},
}
REASONS = {-9: "verweigert", -8: "weiß nicht", -7: "nie gefragt"}


def people(n: int = 120, seed: int = 3) -> pd.DataFrame:
    """Rows with codes, as a statistical office has them; missing codes as numbers."""
    rng = np.random.default_rng(seed)
    income = np.round(rng.lognormal(7, 0.5, n)) + 0.5
    income[:6], income[6:9], income[9:12] = -9, -8, np.nan
    return pd.DataFrame(
        {
            "state": rng.integers(1, 5, n).astype(float),
            "sex": rng.integers(1, 3, n).astype(float),
            "age": rng.integers(20, 80, n).astype(float),
            "income": income,
            "admitted_to_hospital_on_this_day": rng.integers(0, 3000, n).astype(float),
            "seen": rng.integers(0, 10**6, n).astype(float),
            "town": rng.choice(["Köln", "Bonn", "Zürich", ""], n),
            "ill": rng.choice(["flu", "gout", "none", "Röteln"], n),
        }
    )


def write_sav(path: Path, frame: pd.DataFrame | None = None, **options) -> pd.DataFrame:
    frame = people() if frame is None else frame
    stored = frame.copy()
    day, seen = "admitted_to_hospital_on_this_day", "seen"
    start = (dt.date(1990, 1, 1) - SPSS_DAY_0).days
    stored[day] = (stored[day] + start) * 86_400
    stored[seen] = stored[seen] + start * 86_400
    stored["town"] = stored["town"].str.ljust(12)
    labels = {**LABELS, "income": REASONS}
    given = {
        "column_labels": COLUMN_LABELS,
        "variable_value_labels": labels,
        "missing_ranges": {"income": [{"lo": -99, "hi": -1}]},
        "variable_format": {day: "EDATE10", seen: "DATETIME20", "age": "F3.0"},
        "variable_measure": {"state": "nominal", "age": "scale"},
        "file_label": "SECRET STUDY",
        "note": ["by Dr. Secret"],
        **options,
    }
    pyreadstat.write_sav(stored, str(path), **given)
    return frame


def write_dta(path: Path, frame: pd.DataFrame | None = None) -> pd.DataFrame:
    frame = people() if frame is None else frame
    stored = frame.copy()
    day, seen = "admitted_to_hospital_on_this_day", "seen"
    start = (dt.date(1990, 1, 1) - STATA_DAY_0).days
    stored[day] = stored[day] + start
    stored[seen] = (stored[seen] + start * 86_400) * 1000
    letters = {-9.0: "a", -8.0: "b"}
    stored["income"] = np.array(
        [letters.get(each, each) for each in stored["income"]], dtype=object
    )
    for name in ("state", "sex", "age"):
        stored[name] = stored[name].astype(np.int32)
    pyreadstat.write_dta(
        stored,
        str(path),
        column_labels=COLUMN_LABELS,
        variable_value_labels={**LABELS, "income": {"a": "verweigert", "b": "weiß nicht"}},
        missing_user_values={"income": ["a", "b"]},
        variable_format={day: "%td", seen: "%tc"},
        file_label="SECRET STUDY",
    )
    return frame


def write_xlsx(path: Path, rows: list[list[object]], **options) -> None:
    """Write a sheet cell by cell; `more` is called with the book and the sheet."""
    book = xlsxwriter.Workbook(str(path))
    book.set_properties({"author": "Dr. Secret", "title": "SECRET STUDY"})
    sheet = book.add_worksheet(options.get("sheet", "people"))
    day = book.add_format({"num_format": "dd.mm.yyyy"})
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            if isinstance(cell, dt.date):
                sheet.write_datetime(r, c, cell, day)
            elif isinstance(cell, str):
                sheet.write_string(r, c, cell)
            elif cell is not None:
                sheet.write(r, c, cell)
    if "more" in options:
        options["more"](book, sheet)
    book.close()


# Five rows, made by the C library readstat: sex 1, 2 with the format SEXF, born (DATE9), income
# .A and .B, town in UTF-8, seen (DATETIME20). pandas.read_sas reads the same.
_SAS = (
    "c-rlm&ui0Q7{{M<{W+?(qe2gYaqh5#mW0kRL2#93I_y+v!6Aa(N+pGwNZVlr!3{j_w3FWUHz;@zCuKW$oC<=7hh4mQ"
    "@}l$C7SlKH+a}Kzvnd0`_XF*d=bPtw^S*E1<b9I>bXoo|SA3L+uP!ZwA@W?FPaclN)BTW63qDz}LJ|Nyf<sRWN7Il<"
    "fY>9ja`KtHI5wVBvYA3AuM|W#z=L+aEpB#w^<l<loy4r4faH@YX-JYMPUI@uOw*>PQ?itjj?40}l#=C?jEifI3||`_"
    "a!9ke3;KKZ!}0f@yxT<e<Zw6~4u`|xa5x+e=da;G_qo-<#Q@##^}#;Vyop-wV2?AdMfD`gS9>ix>2vBYBJ_Eg3G{(|"
    "p6Xeoi&U>7eJyO+QKT<ool<nsMHhW7w7tIQp`+?hKAt8o21>0KahDg`>9dVjZ!_mt9#^%k??Xl%@z1{8HKn<B{25)-"
    "w!S~H%J1;99dB8e_bsIS*34_G8A~+Y<jTs^TBW4Al+SF~%1eG4b*Vpx!{KoLkj?J~0qY5u_&d;^&~8G+BR}eruacRo"
    "2qBOBUsHgfM}EX5^Bnli|5Kg%?e_RXB!3WkS-zES9HagKwE?q*0tCAKY;2fOew$+PgXT{noh%#t0)&wtL%wM5Z@;gz"
    "PGbA*&_fwgM;QQXxivys1(2itdX@TBYP)REGVa-i3jXdwzRMJpOZ9RS&X(&XwOTHz4S>8dIX11=wCvPvQNJ!uS85H_"
    "j8!UHNxxAB7^k+O-_kDYs;1W(q(AHBvX+~wH^lY^knc81VSGZ_t|M8!SiM7gblpTl&hy85I*8V1LDX*osvq_Z6c<2o"
    "0W|Ie)K2Wv;q5uTzwI#YtMNP6>%Yrq6MMfi)=kKYmHG$J{<zdntc1=R2J7tpagYfy=l&yToEZPv`Pi%H(cQwXGavG!"
    "$ls6rKIDh@tfgVwy*pt$PLymP+ToG?W=#e2E*3@eFSw6u$E5QUxdA}h"
)


def sas_file(path: Path) -> Path:
    path.write_bytes(zlib.decompress(base64.b85decode(_SAS)))
    return path


# The labels of the format SEXF, made by the C library readstat: 1, 2 and 9, which no row has.
_SAS_CATALOGUE = (
    "c-rmUze~eF6u|L!Z4up4iO|guXG4zEqAn7&6(L$M9Xbfb9~A^`2NCL~yOaNlvnVc({t50b`X^|R*fcdQh=aoS1L1M+-"
    "Mw5w)|^P+!^`FVjahuUy`Ge*M}1YAHHw}swyknneNHh&@@gROsX0$fQ>?s-`-"
    "FaI)i#3an&0rlYQxGRW2}Cx59;eyZu(+*<@DK)<Iu#YlOa+_rI#GH?CQ;h;HY!fOXNLAyN)}rb;WhGc67R3Z?V#<l>6i8z"
    "FRx5t@z5?Z|430000000000000000000000Dv)?LAV{o_#YYL$DQiDOaK4?00000007|MnNg#vVYOKseTH8?6@Oppo7~-"
    "7x|)29`=PbDWYr$*Rgjb2<M!8ZLJr%hM5nvgJvirE0RR910Q`0D5Q;dr"
)


def sas_catalogue(path: Path) -> Path:
    path.write_bytes(zlib.decompress(base64.b85decode(_SAS_CATALOGUE)))
    return path


def sas_file_with_a_deleted_row(path: Path) -> Path:
    """Write the same rows, the second of which is marked as deleted, as SAS does.

    The only page says that it has such rows, the header how many, and a bit per row which.
    """
    data = bytearray(sas_file(path).read_bytes())
    page, pointers, headers = 4096, 4096 + 40, 13
    row_size = next(
        page + at
        for at, _ in (struct.unpack_from("<QQ", data, pointers + 24 * i) for i in range(headers))
        if data[page + at : page + at + 4] == b"\xf7\xf7\xf7\xf7"
    )
    width, rows = struct.unpack_from("<QQ", data, row_size + 40)
    struct.pack_into("<Q", data, row_size + 56, 1)
    struct.pack_into("<Q", data, page + 24, 0)
    struct.pack_into("<H", data, page + 32, 0x0280)
    data[pointers + 24 * headers + width * rows] = 0b0100_0000
    path.write_bytes(data)
    return path


# Two rows, made by xlwt 1.3: age, born (a day), town.
_XLS = (
    "c-rk)O=uHA6#i!OAKEl&Q=t_~C|GSRrNx6@+SO9+K~ky*|0rl;gGfUnAs~9tYRyp)JSkoZ_29v(m#V0sHxZ#?4}u^h"
    "dh{fycxbb}_p+&JRA@j8)%lirGxOejJ8ySp-t6qF`A~lPUTXnW7=Qys%LjLbPEqoeD?yOmvbb2zy_77Cbp@Z72GZ@q"
    "qxzQ~9z!1Q0u0=BJ|hXdr!<CB7)hrRku}7i_z+X<LqAD{8>9)KMZ9Vhd0b?Z$UD;VvB;gGxh%4u+UC^}%$p-!JM39}"
    "$Y>W^0DRy3!g(v2J~ZPw&*Jk}RH>~CyD}$Z$#rIEbJk%7G@!$YR3gLm2Hb=n7#iw{Mtcqu@(9yl&)|y{0X~;k_0x#f"
    "udQBz^xszMJ-^X=X%MURR}CjH3G0|Fk{lY)<YbEngUMJn8|hm_Crt}TasaUt39`r2nG|K&^l8raeodyx)Z4q=&mmqy"
    "LU2V$sF$TuM{=Bc;BrV7Optt9y!GjIG(Kt`70sk<1EtMk6Z-}W7nnihfLI*MvP&3SMP8J<Zj^GX$S}D~dB<q8UDz`v"
    "Z7zwmgZkMfSTHwNl($eh_i^8Yw%iA^lghKhg|p$=H|8|jY4aK<K3`MlR^96QHO51;oGUx9yc5~-Q;_i*LECrB-VqzH"
    "#LJ2h5?QM8+fmCk!+uxHR#ogL)T0viISFeA7MRUEB|L}CGk(D{gf}O=7q<<YX9$nq`+(7iIc`J&@dy0S(9qD((9qD("
    "_>ZCF1GV%y?zB${ZaF@b{_8AJD(c@P|19<+O;?r<mAjFmJcBbe&7Tc$sq($lDmmr<g^YvLdj=DTiysp;&tEzQsmkYB"
    "H8J?-mQbzz7i;nJFZcf)UBuUJ"
)


def xls_file(path: Path) -> Path:
    path.write_bytes(zlib.decompress(base64.b85decode(_XLS)))
    return path


_CELL = '<table:table-cell office:value-type="{}"{}><text:p>{}</text:p></table:table-cell>'


def ods_file(path: Path) -> Path:
    """Write the same rows as LibreOffice would, with no more around them than must be."""

    def cell(value: object) -> str:
        if isinstance(value, dt.date):
            return _CELL.format("date", f' office:date-value="{value}"', value)
        if isinstance(value, int):
            return _CELL.format("float", f' office:value="{value}"', value)
        return _CELL.format("string", "", value)

    rows = [
        ["age", "born", "town"],
        [31, dt.date(1937, 1, 10), "Köln"],
        [45, dt.date(2020, 2, 29), "007"],
    ]
    names = "urn:oasis:names:tc:opendocument:xmlns:"
    content = (
        f'<office:document-content xmlns:office="{names}office:1.0" '
        f'xmlns:table="{names}table:1.0" xmlns:text="{names}text:1.0"><office:body>'
        '<office:spreadsheet><table:table table:name="Blatt 1">'
        + "".join(f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in rows)
        + "</table:table></office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    listed = "".join(
        f'<manifest:file-entry manifest:full-path="{name}" manifest:media-type="{media}"/>'
        for name, media in (("/", kind), ("content.xml", "text/xml"))
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", content)
        archive.writestr(
            "META-INF/manifest.xml",
            f'<manifest:manifest xmlns:manifest="{names}manifest:1.0">{listed}</manifest:manifest>',
        )
    return path
