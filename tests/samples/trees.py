"""Reads the taxonomies of policy files without the code that Sfumato reads them with."""


def paths_in(tree, above=()):
    """List every leaf of a taxonomy with what stands above it, the nearest first."""
    if isinstance(tree, list):
        return [(leaf, above) for leaf in tree]
    return [
        entry for label, below in tree.items() for entry in paths_in(below, (str(label), *above))
    ]
