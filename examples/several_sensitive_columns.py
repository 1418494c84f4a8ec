"""Three sensitive columns, each with the promise that fits it.

Diagnoses have a hierarchy, so that two kinds of cancer count as near. Salaries are numbers,
so that a class of similar ones counts as telling. Insurance has two values, and no class
may make one of them certain.
"""

import sfumato as sf

DIAGNOSES = {
    "Circulatory": ["hypertension", "coronary heart disease", "heart failure", "stroke"],
    "Respiratory": ["asthma", "COPD", "pneumonia", "influenza"],
    "Cancer": ["breast cancer", "prostate cancer", "lung cancer", "colorectal cancer"],
    "Mental": ["depression", "anxiety disorder", "alcohol dependence", "schizophrenia"],
    "Metabolic": ["type 2 diabetes", "obesity", "thyroid disorder"],
    "Musculoskeletal": ["back pain", "knee osteoarthritis", "hip fracture"],
    "Infectious": ["HIV infection", "hepatitis B", "tuberculosis"],
    "Digestive": ["appendicitis", "gastric ulcer", "gallstones"],
    "Pregnancy": ["childbirth"],
}


def main() -> None:
    """Protect diagnosis, salary and insurance of 5 000 invented patients."""
    people = sf.samples.synthetic(5000, seed=3)
    policy = sf.Policy(
        columns={
            "age": {
                "role": "quasi-identifier",
                "hierarchy": sf.hierarchy.Intervals(widths=[5, 10, 20, 40]),
            },
            "sex": "quasi-identifier",
            "education": {"role": "quasi-identifier", "hierarchy": sf.hierarchy.Automatic()},
            "diagnosis": {"role": "sensitive", "hierarchy": sf.hierarchy.Taxonomy(DIAGNOSES)},
            "salary": "sensitive",
            "insurance": "sensitive",
        },
        other="dropped",
        models=[
            sf.models.KAnonymity(10),
            sf.models.TCloseness("diagnosis", t=0.5, distance="hierarchical"),
            sf.models.TCloseness("salary", t=0.3, distance="ordered"),
            sf.models.DistinctLDiversity("insurance", l=2),
        ],
        suppression=0.1,
    )
    release = sf.anonymize(people, policy)
    print(release)
    print()
    print("What each promise costs, by leaving it out:")
    for model in policy.models:
        others = [other for other in policy.models if other is not model]
        cheaper = sf.Policy(
            columns=policy.columns, other="dropped", models=others, suppression=policy.suppression
        )
        saved = release.loss - sf.anonymize(people, cheaper).loss
        print(f"  {saved:.3f}  {model}")


if __name__ == "__main__":
    main()
