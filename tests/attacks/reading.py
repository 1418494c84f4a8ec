"""Labels whose meaning a test writes down by hand."""

import numpy as np

from sfumato.attacks import matcher
from sfumato.decouplings.base import LinkedTables
from sfumato.hierarchy.labels import Labels
from sfumato.text import text_or_none


class Written(Labels):
    """Per column the raw texts of each label; one that is not named stands for itself."""

    def __init__(self, covers):
        super().__init__()
        object.__setattr__(self, "covers", covers)

    def read(self, raw, shown):
        at = {text_or_none(value): code for code, value in enumerate(raw.values)}
        covers = self.covers.get(raw.name, {})
        texts = [covers.get(text, [text]) for text in map(text_or_none, shown.values)]
        codes = [[at[text] for text in each if text in at] for each in texts]
        return [np.array(each, dtype=np.int64) for each in codes]


def matched(people, tables, group=None, covers=None):
    labels = None if covers is None else Written(covers)
    return matcher(people, LinkedTables(tuple(tables), group), labels)


def turned(became):
    """What each label stands for, given what each raw text became."""
    found = {}
    for raw, label in became.items():
        found.setdefault(text_or_none(label), []).append(raw)
    return found
