"""Eight quasi-identifiers make tens of thousands of candidates: search within a budget.

Whatever the budget, the release keeps its promises. More budget may lose less, and with
enough of it the result is proven to be the best there is.
"""

import sfumato as sf


def main() -> None:
    """Anonymise 10 000 invented patients with growing budgets."""
    people = sf.samples.synthetic(10_000, seed=5)
    policy = sf.Policy.load(sf.samples.policy_path("synthetic-wide"))
    print("checks     loss  proven optimal  checks hold")
    for checks in (10, 100, 1000):
        limited = sf.Policy(
            columns=policy.columns,
            models=policy.models,
            suppression=policy.suppression,
            search=sf.search.BestFirst(checks=checks),
        )
        release = sf.anonymize(people, limited)
        search = release.manifest.private.search  # not published: it tells how it was made
        used = search.checks
        optimal, holds = (
            "yes" if yes else "no" for yes in (release.optimal, release.verdict.holds)
        )
        print(f"{used:6}  {release.loss:.5f}  {optimal:>14}  {holds:>11}")
    print(f"There are {search.nodes} candidates.")


if __name__ == "__main__":
    main()
