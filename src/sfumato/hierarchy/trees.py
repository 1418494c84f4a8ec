"""Facts for `KnownTree` and `OrderedCategories`: trees and scales of common knowledge."""

# A group per line, with what stands above it in brackets; members are separated by commas, and the
# ways to write one member by slashes.

US_STATES = """
New England (Northeast): CT/Connecticut, ME/Maine, MA/Massachusetts, NH/New Hampshire, RI/Rhode Island, VT/Vermont
Middle Atlantic (Northeast): NJ/New Jersey, NY/New York, PA/Pennsylvania
East North Central (Midwest): IL/Illinois, IN/Indiana, MI/Michigan, OH/Ohio, WI/Wisconsin
West North Central (Midwest): IA/Iowa, KS/Kansas, MN/Minnesota, MO/Missouri, NE/Nebraska, ND/North Dakota, SD/South Dakota
South Atlantic (South): DE/Delaware, DC/District of Columbia/Washington DC/Washington D C, FL/Florida, GA/Georgia, MD/Maryland, NC/North Carolina, SC/South Carolina, VA/Virginia, WV/West Virginia
East South Central (South): AL/Alabama, KY/Kentucky, MS/Mississippi, TN/Tennessee
West South Central (South): AR/Arkansas, LA/Louisiana, OK/Oklahoma, TX/Texas
Mountain (West): AZ/Arizona, CO/Colorado, ID/Idaho, MT/Montana, NV/Nevada, NM/New Mexico, UT/Utah, WY/Wyoming
Pacific (West): AK/Alaska, CA/California, HI/Hawaii, OR/Oregon, WA/Washington
US territories (US territories): AS/American Samoa, GU/Guam, MP/Northern Mariana Islands, PR/Puerto Rico, VI/Virgin Islands/US Virgin Islands
"""
"""Census divisions and regions of the United States Census Bureau."""

GERMAN_STATES = """
Nordwestdeutschland (Westdeutschland): HB/Bremen, HH/Hamburg, NI/Niedersachsen/Lower Saxony, SH/Schleswig-Holstein
Nordrhein-Westfalen und Mitte (Westdeutschland): HE/Hessen/Hesse, NW/NRW/Nordrhein-Westfalen/North Rhine-Westphalia, RP/Rheinland-Pfalz/Rhineland-Palatinate, SL/Saarland
Süddeutschland (Westdeutschland): BW/Baden-Württemberg/Baden-Wuerttemberg, BY/Bayern/Bavaria
Nordostdeutschland (Ostdeutschland): BB/Brandenburg, BE/Berlin, MV/Mecklenburg-Vorpommern/Mecklenburg-Western Pomerania
Mitteldeutschland (Ostdeutschland): SN/Sachsen/Saxony, ST/Sachsen-Anhalt/Saxony-Anhalt, TH/Thüringen/Thueringen/Thuringia
"""
"""The states of Germany, by where they are."""

COUNTRIES = """
Northern Africa (Africa): DZ/DZA/Algeria/Algerien, EG/EGY/Egypt/Ägypten, LY/LBY/Libya/Libyen, MA/MAR/Morocco/Marokko, SD/SDN/Sudan, TN/TUN/Tunisia/Tunesien
Eastern Africa (Africa): BI/BDI/Burundi, KM/COM/Comoros, DJ/DJI/Djibouti, ER/ERI/Eritrea, ET/ETH/Ethiopia/Äthiopien, KE/KEN/Kenya/Kenia, MG/MDG/Madagascar, MW/MWI/Malawi, MU/MUS/Mauritius, MZ/MOZ/Mozambique/Mosambik, RW/RWA/Rwanda/Ruanda, SC/SYC/Seychelles, SO/SOM/Somalia, SS/SSD/South Sudan, TZ/TZA/Tanzania/United Republic of Tanzania/Tansania, UG/UGA/Uganda, ZM/ZMB/Zambia/Sambia, ZW/ZWE/Zimbabwe/Simbabwe
Middle Africa (Africa): AO/AGO/Angola, CM/CMR/Cameroon/Kamerun, CF/CAF/Central African Republic, TD/TCD/Chad/Tschad, CG/COG/Congo/Republic of the Congo/Congo Rep/Congo Brazzaville, CD/COD/Democratic Republic of the Congo/DR Congo/Congo Dem Rep/Congo Kinshasa/Zaire, GQ/GNQ/Equatorial Guinea, GA/GAB/Gabon/Gabun, ST/STP/Sao Tome and Principe
Southern Africa (Africa): BW/BWA/Botswana, SZ/SWZ/Eswatini/Swaziland, LS/LSO/Lesotho, NA/NAM/Namibia, ZA/ZAF/South Africa/Südafrika
Western Africa (Africa): BJ/BEN/Benin, BF/BFA/Burkina Faso, CV/CPV/Cabo Verde/Cape Verde, CI/CIV/Ivory Coast/Cote dIvoire/Côte dIvoire/Elfenbeinküste, GM/GMB/Gambia, GH/GHA/Ghana, GN/GIN/Guinea, GW/GNB/Guinea-Bissau, LR/LBR/Liberia, ML/MLI/Mali, MR/MRT/Mauritania/Mauretanien, NE/NER/Niger, NG/NGA/Nigeria, SN/SEN/Senegal, SL/SLE/Sierra Leone, TG/TGO/Togo
Northern America (America): CA/CAN/Canada/Kanada, US/USA/United States/United States of America/U S A/U S/Vereinigte Staaten, GL/GRL/Greenland, BM/BMU/Bermuda
Caribbean (America): AG/ATG/Antigua and Barbuda, BS/BHS/Bahamas, BB/BRB/Barbados, CU/CUB/Cuba/Kuba, DM/DMA/Dominica, DO/DOM/Dominican Republic/Dominikanische Republik, GD/GRD/Grenada, HT/HTI/Haiti, JM/JAM/Jamaica/Jamaika, PR/PRI/Puerto Rico, KN/KNA/Saint Kitts and Nevis, LC/LCA/Saint Lucia, VC/VCT/Saint Vincent and the Grenadines, TT/TTO/Trinidad and Tobago/Trinidad Tobago/Trinadad Tobago
Central America (America): BZ/BLZ/Belize, CR/CRI/Costa Rica, SV/SLV/El Salvador, GT/GTM/Guatemala, HN/HND/Honduras, MX/MEX/Mexico/Mexiko, NI/NIC/Nicaragua, PA/PAN/Panama
South America (America): AR/ARG/Argentina/Argentinien, BO/BOL/Bolivia/Bolivien, BR/BRA/Brazil/Brasilien, CL/CHL/Chile, CO/COL/Colombia/Columbia/Kolumbien, EC/ECU/Ecuador, GY/GUY/Guyana, PY/PRY/Paraguay, PE/PER/Peru, SR/SUR/Suriname, UY/URY/Uruguay, VE/VEN/Venezuela
Central Asia (Asia): KZ/KAZ/Kazakhstan/Kasachstan, KG/KGZ/Kyrgyzstan/Kirgisistan, TJ/TJK/Tajikistan, TM/TKM/Turkmenistan, UZ/UZB/Uzbekistan/Usbekistan
Eastern Asia (Asia): CN/CHN/China, HK/HKG/Hong Kong/Hong Kong China/Hong, JP/JPN/Japan, KP/PRK/North Korea/Korea Dem Rep/Nordkorea, KR/KOR/South Korea/Korea/Republic of Korea/Korea Rep/Südkorea, MN/MNG/Mongolia/Mongolei, MO/MAC/Macao/Macau, TW/TWN/Taiwan
South-eastern Asia (Asia): BN/BRN/Brunei, KH/KHM/Cambodia/Kambodscha, ID/IDN/Indonesia/Indonesien, LA/LAO/Laos, MY/MYS/Malaysia, MM/MMR/Myanmar/Burma, PH/PHL/Philippines/Philippinen, SG/SGP/Singapore/Singapur, TH/THA/Thailand, TL/TLS/Timor-Leste/East Timor, VN/VNM/Vietnam/Viet Nam
Southern Asia (Asia): AF/AFG/Afghanistan, BD/BGD/Bangladesh/Bangladesch, BT/BTN/Bhutan, IN/IND/India/Indien, IR/IRN/Iran, MV/MDV/Maldives, NP/NPL/Nepal, PK/PAK/Pakistan, LK/LKA/Sri Lanka
Western Asia (Asia): AM/ARM/Armenia/Armenien, AZ/AZE/Azerbaijan/Aserbaidschan, BH/BHR/Bahrain, CY/CYP/Cyprus/Zypern, GE/GEO/Georgia/Georgien, IQ/IRQ/Iraq/Irak, IL/ISR/Israel, JO/JOR/Jordan/Jordanien, KW/KWT/Kuwait, LB/LBN/Lebanon/Libanon, OM/OMN/Oman, PS/PSE/Palestine/State of Palestine/West Bank and Gaza, QA/QAT/Qatar/Katar, SA/SAU/Saudi Arabia/Saudi-Arabien, SY/SYR/Syria/Syrien, TR/TUR/Turkey/Türkiye/Türkei, AE/ARE/United Arab Emirates/Vereinigte Arabische Emirate, YE/YEM/Yemen/Jemen
Eastern Europe (Europe): BY/BLR/Belarus/Weißrussland, BG/BGR/Bulgaria/Bulgarien, CZ/CZE/Czechia/Czech Republic/Tschechien, HU/HUN/Hungary/Ungarn, PL/POL/Poland/Polen, MD/MDA/Moldova/Moldawien, RO/ROU/Romania/Rumänien, RU/RUS/Russia/Russian Federation/Russland, SK/SVK/Slovakia/Slovak Republic/Slowakei, UA/UKR/Ukraine
Northern Europe (Europe): DK/DNK/Denmark/Dänemark, EE/EST/Estonia/Estland, FI/FIN/Finland/Finnland, IS/ISL/Iceland/Island, IE/IRL/Ireland/Irland, LV/LVA/Latvia/Lettland, LT/LTU/Lithuania/Litauen, NO/NOR/Norway/Norwegen, SE/SWE/Sweden/Schweden, GB/GBR/UK/United Kingdom/Great Britain/Großbritannien/Vereinigtes Königreich, England, Scotland, Wales, Northern Ireland
Southern Europe (Europe): AL/ALB/Albania/Albanien, AD/AND/Andorra, BA/BIH/Bosnia and Herzegovina/Bosnien und Herzegowina, HR/HRV/Croatia/Kroatien, GR/GRC/EL/Greece/Griechenland, IT/ITA/Italy/Italien, XK/XKX/Kosovo, MT/MLT/Malta, ME/MNE/Montenegro, MK/MKD/North Macedonia/Macedonia/Nordmazedonien, PT/PRT/Portugal, SM/SMR/San Marino, RS/SRB/Serbia/Serbien, SI/SVN/Slovenia/Slowenien, ES/ESP/Spain/Spanien, Yugoslavia
Western Europe (Europe): AT/AUT/Austria/Österreich, BE/BEL/Belgium/Belgien, FR/FRA/France/Frankreich, DE/DEU/GER/Germany/Deutschland, LI/LIE/Liechtenstein, LU/LUX/Luxembourg/Luxemburg, MC/MCO/Monaco, NL/NLD/Netherlands/Niederlande/Holland/Holand Netherlands, CH/CHE/Switzerland/Schweiz
Australia and New Zealand (Oceania): AU/AUS/Australia/Australien, NZ/NZL/New Zealand/Neuseeland
Pacific islands (Oceania): FJ/FJI/Fiji, KI/KIR/Kiribati, MH/MHL/Marshall Islands, FM/FSM/Micronesia, NR/NRU/Nauru, PW/PLW/Palau, PG/PNG/Papua New Guinea, WS/WSM/Samoa, SB/SLB/Solomon Islands, TO/TON/Tonga, TV/TUV/Tuvalu, VU/VUT/Vanuatu
"""
"""The regions of the United Nations (M49), with codes of ISO 3166 and names."""

MONTHS = """
January to March: Jan/January/Januar/Jän/Jänner, Feb/February/Februar, Mar/March/Mär/März/Mrz
April to June: Apr/April, May/Mai, Jun/June/Juni
July to September: Jul/July/Juli, Aug/August, Sep/Sept/September
October to December: Oct/October/Okt/Oktober, Nov/November, Dec/December/Dez/Dezember
"""

WEEKDAYS = """
Monday to Friday: Mon/Monday/Mo/Montag, Tue/Tues/Tuesday/Di/Dienstag, Wed/Wednesday/Mi/Mittwoch, Thu/Thur/Thurs/Thursday/Do/Donnerstag, Fri/Friday/Fr/Freitag
weekend: Sat/Saturday/Sa/Samstag/Sonnabend, Sun/Sunday/So/Sonntag
"""

MARITAL = """
living with a partner: married/verheiratet/now married/currently married/married spouse present/married civ spouse/married AF spouse/married living together, cohabiting/living together/living with partner/living with a partner/living as married/member of an unmarried couple/unmarried couple/zusammenlebend/partnered/partner, civil union/civil partnership/domestic partnership/registered partnership/in a registered partnership/eingetragene lebenspartnerschaft/verpartnert/common law/remarried
been married (not living with a partner): divorced/geschieden, widowed/widow/widower/verwitwet, separated/getrennt/getrennt lebend/legally separated, married spouse absent/married living apart, formerly married, divorced or separated/separated or divorced/divorced separated/separated divorced
never married (not living with a partner): never married/never been married, single/ledig/unmarried/not married
"""

ICD_10 = (
    ("A00", "B99", "infectious and parasitic diseases"),
    ("C00", "D49", "neoplasms"),
    ("D50", "D89", "blood and immune system"),
    ("E00", "E90", "endocrine, nutritional and metabolic diseases"),
    ("F00", "F99", "mental and behavioural disorders"),
    ("G00", "G99", "nervous system"),
    ("H00", "H59", "eye"),
    ("H60", "H95", "ear"),
    ("I00", "I99", "circulatory system"),
    ("J00", "J99", "respiratory system"),
    ("K00", "K95", "digestive system"),
    ("L00", "L99", "skin"),
    ("M00", "M99", "musculoskeletal system"),
    ("N00", "N99", "genitourinary system"),
    ("O00", "O99", "pregnancy and childbirth"),
    ("P00", "P96", "perinatal period"),
    ("Q00", "Q99", "congenital malformations"),
    ("R00", "R99", "symptoms and findings"),
    ("S00", "T98", "injury and poisoning"),
    ("U00", "U99", "special purposes"),
    ("V00", "Y99", "external causes"),
    ("Z00", "Z99", "contact with health services"),
)
"""The chapters of the International Classification of Diseases, tenth revision."""

SCALES = """
never/nie/niemals | hardly ever/almost never/very rarely/fast nie/sehr selten | rarely/seldom/selten
| sometimes/occasionally/now and then/manchmal/gelegentlich/ab und zu | regularly/regelmäßig
| often/frequently/oft/häufig | very often/very frequently/usually/mostly/most of the time/meistens/sehr oft
| almost always/nearly always/fast immer | always/all the time/immer

never/nie/not at all/not in the past year | less than once a year/less than yearly/seltener als einmal im jahr
| once a year/yearly/annually/about once a year/once or twice a year/einmal im jahr/jährlich
| several times a year/a few times a year/less than monthly/less than once a month/mehrmals im jahr
| once a month/monthly/about once a month/einmal im monat/monatlich
| 2 3 times a month/two or three times a month/several times a month/a few times a month/mehrmals im monat
| less than weekly/less than once a week/seltener als einmal pro woche
| nearly every week/almost every week/almost weekly/fast jede woche | once a week/every week/weekly/wöchentlich/einmal pro woche
| more than once a week/several times a week/a few times a week/2 3 times a week/mehrmals pro woche
| almost daily/nearly every day/almost every day/most days/fast täglich | daily/every day/once a day/täglich
| several times a day/more than once a day/mehrmals täglich

strongly disagree/disagree strongly/completely disagree/totally disagree/stimme gar nicht zu/stimme überhaupt nicht zu/trifft gar nicht zu
| mostly disagree | disagree/stimme nicht zu/trifft nicht zu
| somewhat disagree/disagree somewhat/slightly disagree/tend to disagree/rather disagree/stimme eher nicht zu/trifft eher nicht zu
| neither agree nor disagree/neither/neutral/undecided/not sure/teils teils/weder noch/unentschieden
| somewhat agree/agree somewhat/slightly agree/tend to agree/rather agree/stimme eher zu/trifft eher zu
| agree/stimme zu/trifft zu | mostly agree
| strongly agree/agree strongly/completely agree/totally agree/stimme voll zu/stimme voll und ganz zu/stimme völlig zu/trifft voll zu/trifft voll und ganz zu

very poor/very bad/terrible/awful/sehr schlecht | poor/bad/schlecht | not so good/weniger gut
| fair/average/ok/okay/so so/acceptable/satisfactory/mittelmäßig/mittel/zufriedenstellend
| good/gut | very good/sehr gut | excellent/outstanding/ausgezeichnet/hervorragend

very dissatisfied/very unsatisfied/completely dissatisfied/not at all satisfied/sehr unzufrieden
| dissatisfied/unsatisfied/not very satisfied/unzufrieden | somewhat dissatisfied/a little dissatisfied/eher unzufrieden
| neither satisfied nor dissatisfied/neutral/neither/teils teils
| somewhat satisfied/fairly satisfied/more or less satisfied/eher zufrieden | satisfied/moderately satisfied/zufrieden
| very satisfied/sehr zufrieden | completely satisfied/extremely satisfied

very unhappy | unhappy/not too happy/not very happy | neutral | pretty happy/happy/rather happy/quite happy | very happy

none/no/absent/normal/healthy/keine/kein/nicht vorhanden | minimal/trace/very mild/questionable/minimal
| slight/mild/light/leicht/gering | mild to moderate | moderate/medium/mittel/mäßig/mittelschwer
| moderately severe/moderate to severe | severe/marked/heavy/serious/schwer/stark | very severe/extreme/profound/critical/sehr schwer/extrem
| fatal/death/tödlich

none/zero/keine/kein | very low/lowest/sehr niedrig/sehr gering | low/lower/niedrig/gering | below average/lower middle/medium low/medium low
| medium/moderate/middle/mid/average/normal/intermediate/mittel/mittlere | above average/upper middle/medium high
| high/higher/upper/elevated/hoch | very high/highest/sehr hoch | extremely high/extreme

far below average | below average/unterdurchschnittlich | average/durchschnittlich | above average/überdurchschnittlich | far above average

xxs | xs/extra small/x small/very small/tiny/sehr klein | s/small/klein | m/medium/mid size/mittel | l/large/big/groß
| xl/extra large/x large/very large/sehr groß | xxl/huge

not at all/gar nicht/überhaupt nicht | hardly/not very/not very much/kaum/wenig | a little/slightly/a bit/etwas/ein wenig
| somewhat/moderately/to some extent/mittelmäßig/teilweise | fairly/quite/rather/quite a bit/quite a lot/ziemlich
| very/a lot/very much/a great deal/to a great extent/sehr/stark | extremely/completely/totally/äußerst/völlig

very unlikely/extremely unlikely/sehr unwahrscheinlich | unlikely/not likely/unwahrscheinlich | somewhat unlikely/eher unwahrscheinlich
| neutral/neither likely nor unlikely/possible/möglich | somewhat likely/eher wahrscheinlich | likely/wahrscheinlich | very likely/extremely likely/sehr wahrscheinlich

not at all important/not important/unimportant/unwichtig/gar nicht wichtig | not very important/slightly important/weniger wichtig/eher unwichtig
| somewhat important/moderately important/fairly important/eher wichtig | important/wichtig | very important/sehr wichtig | extremely important/äußerst wichtig

very difficult/sehr schwierig | difficult/hard/schwierig | somewhat difficult | neutral/medium/mittel | somewhat easy | easy/einfach/leicht | very easy/sehr einfach

very liberal/extremely liberal | liberal | slightly liberal/somewhat liberal | moderate/moderate middle of the road | slightly conservative/somewhat conservative
| conservative | very conservative/extremely conservative

no/nein | maybe/perhaps/possibly/vielleicht | yes/ja

never smoker/never/never smoked | former smoker/former/ex smoker/past | occasional smoker/occasional/light smoker | current smoker/current/smoker/daily smoker

newborn/infant/baby | toddler | child/kind | teenager/adolescent/teen/jugendlicher | young adult/young | adult/erwachsener | middle aged/middle age | elderly/senior/old/older adult

lower class/underclass | working class/arbeiterschicht | lower middle class | middle class/mittelschicht | upper middle class | upper class/oberschicht

first/1st | second/2nd | third/3rd | fourth/4th | fifth/5th | sixth/6th | seventh/7th | eighth/8th | ninth/9th | tenth/10th

i | ii | iii | iv | v | vi | vii

none/no schooling/no formal education/no education/illiterate/ohne abschluss/kein abschluss/kein schulabschluss | preschool/kindergarten
| 1st 4th/less than primary/some primary | 5th 6th/primary/primary school/primary education/elementary/elementary school/grundschule/grade school
| 7th 8th/lower secondary/middle school/junior high school/hauptschule/hauptschulabschluss/volksschule
| 9th | 10th/realschule/realschulabschluss/mittlere reife | 11th | 12th
| less than high school/some high school/lt high school/did not graduate high school/no high school diploma/below high school/not hs graduate
| high school/hs grad/hs/high school graduate/high school grad/high school diploma/secondary/secondary school/secondary education/ged/upper secondary/abitur/hochschulreife/fachhochschulreife/fachabitur
| vocational/trade school/apprenticeship/ausbildung/lehre/berufsausbildung/technical school | some college/some university/attended college or technical school
| assoc voc | assoc acdm/associate/associates/associate degree/associates degree/junior college
| college/college graduate/college degree/bachelor/bachelors/bachelor degree/bachelors degree/undergraduate/undergraduate degree/university/university degree/tertiary/graduated from college or technical school/fachhochschule/universität/hochschule/hochschulabschluss
| some graduate school/postgraduate/graduate/graduate degree/advanced degree/postgraduate degree/higher
| master/masters/master degree/masters degree/diplom/magister | prof school/professional/professional degree
| doctorate/phd/doctoral/doctoral degree/doctor/promotion/promoviert
"""
"""Scales of words, the least first: steps are separated by bars, the ways to say one by slashes."""
