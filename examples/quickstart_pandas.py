"""A DataFrame in, a DataFrame out: look at the risk, anonymise, see what it cost."""

import pandas as pd

import sfumato as sf


def main() -> None:
    """Anonymise 3 000 invented patients."""
    columns = ["name", "age", "sex", "postcode", "diagnosis"]
    patients: pd.DataFrame = sf.samples.synthetic(3000, seed=7).select(columns).to_pandas()

    before = sf.inspect(
        patients, quasi_identifiers=["age", "sex", "postcode"], sensitive=["diagnosis"]
    )
    print(f"{before.risk.unique:.0%} of the patients are alone with their age, sex and postcode.")

    policy = sf.Policy(
        columns={
            "name": "identifier",
            "age": {
                "role": "quasi-identifier",
                "hierarchy": sf.hierarchy.Intervals(widths=[5, 10, 20, 40], upper=90),
            },
            "sex": "quasi-identifier",
            "postcode": {"role": "quasi-identifier", "hierarchy": sf.hierarchy.Masking()},
            "diagnosis": "sensitive",
        },
        models=[sf.models.KAnonymity(5), sf.models.DistinctLDiversity("diagnosis", l=3)],
        suppression=0.05,
    )
    release = sf.anonymize(patients, policy)
    print(release)

    published: pd.DataFrame = release.table
    print(published.head(3).to_string(index=False))
    sizes = published.groupby(["age", "sex", "postcode"], dropna=False).size()
    print(f"Now everybody shares their row with {sizes.min() - 1} others or more.")


if __name__ == "__main__":
    main()
