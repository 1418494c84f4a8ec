"""Ten years of a clinic that publishes every month: what its ledger holds back, and what it costs.

python -m docs.histories            # about an hour; writes docs/studies/histories.md
python -m docs.histories --page     # only write the page and the plots, from the results
"""
