"""The tour: a few words on every page, for people who are here for the first time."""

from typing import NamedTuple


class Stop(NamedTuple):
    """What is said on one page."""

    text: str
    """What there is to see, and why."""

    task: str
    """Something to try."""


STOPS = {
    "data": Stop(
        "These are a thousand invented patients. The app has read them and drafted a policy: what "
        "each column is, how values may become more general, and what is promised. Everything you "
        "do from here on changes that policy, and nothing else.",
        "Look at the first rows. Whom would you recognise by birth date, sex and postcode?",
    ),
    "roles": Stop(
        "What others may know of a person is a quasi-identifier: it is made more general until "
        "several people look alike. What must not become known is sensitive. Names are never "
        "published.",
        "Make marital_status plain and watch the figures above. Then undo it with Ctrl+Z.",
    ),
    "hierarchies": Stop(
        "Values become more general along a hierarchy: 37 becomes 35 to 39, then 30 to 39, then *.",
        "Drag a value from one group to another, or move a border of an interval.",
    ),
    "promises": Stop(
        "A promise says what no reader can learn from the release. The stronger it is, the more "
        "has to be generalised.",
        "Move k from 5 to 20. The loss above changes while you move it.",
    ),
    "explore": Stop(
        "Each point is another policy for the same table: the lower, the safer; the further left, "
        "the more useful.",
        "Start it, and choose a point that is better in both than yours.",
    ),
    "look": Stop(
        "This is what readers will get, beside what you have. The original is shown to you alone.",
        "Find a row that has become much more general. Which column made it rare?",
    ),
    "verdict": Stop(
        "May it be published? Every promise is counted again, and every attack is tried that "
        "applies. Each reason says who could learn what, and how to mend it.",
        "Ask for the answer, and let the app do what is advised.",
    ),
    "decouple": Stop(
        "Where one sensitive column reveals another, you can publish them separately: all values "
        "stay, but which belong together can only be guessed.",
        "Part diagnosis and salary, and see what is left to guess.",
    ),
    "publish": Stop(
        "A release is a folder with data, codebook, report and evidence. It appears whole and "
        "verified, or not at all.",
        "Publish it. The command on the right makes the same release.",
    ),
}
"""The words of each step."""
