"""What each printed table shows.

The figures come from the literature on anonymity, where these tables are the standard
small examples. Column names are unified (`zipcode` everywhere), numbers are written
without separators, and obvious misprints are corrected; the values are otherwise as
printed.
"""

CATALOGUE: dict[str, str] = {
    "census": (
        "The ten people of `census-raw`, 5-anonymous. Who knows that a woman of the first group "
        "works for the state still learns her marital status and salary for certain."
    ),
    "census-raw": "Ten people with three sensitive columns: employer, marital status and salary.",
    "hospital": "Four patients with names. Without the names they look anonymous, and are not.",
    "driving-record": (
        "A public list with names. Joined with `hospital` it tells what Rajesh suffers from."
    ),
    "ward": "Four patients with four conditions, 4-anonymous once only 240** and age remain.",
    "homogeneity": (
        "Twelve patients. Grouped by decade of age and 240**, the four in their thirties all have "
        "the same condition: 4-anonymous, and known all the same."
    ),
    "similarity": (
        "Nine patients with salary and condition. Groups with three different conditions may "
        "still share what matters: all stomach diseases, all low salaries."
    ),
    "health": (
        "Twelve patients from three continents; conditions fall into four categories of secrecy. "
        "Those in their thirties have HIV or cancer, both of the most secret category."
    ),
    "health-mixed": (
        "Eleven patients. A group may have three distinct conditions and enough total weight, and "
        "three of its four rows may still be of the most secret category."
    ),
    "incognito": (
        "Ten rows, a lattice of 18 nodes: small enough to follow a full-domain search by hand."
    ),
    "top-down": (
        "Four rows with one quasi-identifier: local recoding keeps 73456 for two of three rows."
    ),
    "patients": (
        "Nine patients, 3-anonymous by 476** or 479** and age. All in their twenties have heart "
        "disease, so their class betrays them."
    ),
    "bucketization": (
        "Nine patients in three buckets of three; quasi-identifiers stay exact, diseases are "
        "counted per bucket."
    ),
}
"""One description per table, in the order of `sfumato.samples.names`."""
