"""Taxonomies: a tree of names, written as nested lists."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import field
from typing import Any, ClassVar, Literal, NamedTuple, Self

import yaml

from sfumato.dataclasses import dataclass
from sfumato.errors import HierarchyError, ParameterError, require_text
from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder
from sfumato.hierarchy.csv_file import read_text
from sfumato.hierarchy.unlisted import Unlisted, place_unlisted, require_unlisted
from sfumato.text import STAR, text_of
from sfumato.typing import Value

_DEEPEST = 100


class _Twig(NamedTuple):
    """A name in the tree, where it stands, and what is below it (nothing: a raw value)."""

    label: str
    place: str
    below: list["_Twig"]


@dataclass(frozen=True)
class Taxonomy(HierarchyBuilder):
    """A tree: groups with names, and raw values as its leaves.

    A group is a key with a list or with further groups below it. The top is `*`, or
    the one key that stands above all others if there is exactly one.

    Branches may differ in length. A raw value that hangs higher than the deepest one
    keeps its own name at the lower levels: below, France stays France while China
    becomes East, then they are Europe and Asia. Groups are thus always level with
    groups equally far from the top.

    Args:
        tree: Nested mappings and lists.
        file: Instead, a YAML file with the tree, relative to the policy's folder. There
            everything is read as text: `NO` is Norway, `007` keeps its zeros.
        new: What becomes of a value that the tree does not have: `refuse` stops, `other` puts
            them all into one group.

    Example:
        >>> world = {"Europe": ["France"], "Asia": {"East": ["China"], "South": ["Nepal"]}}
        >>> for level in Taxonomy(world).build("country", ["China"]).labels: print(level)
        ('France', 'China', 'Nepal')
        ('France', 'East', 'South')
        ('Europe', 'Asia')
        ('*',)
    """

    name: ClassVar[str] = "taxonomy"
    title: ClassVar[str] = "Groups by hand"
    in_words: ClassVar[str] = "A tree of groups that you name and fill."
    begins_with: ClassVar[Literal["values", "groups", "file"]] = "groups"
    names_files: ClassVar[tuple[str, ...]] = ("file",)

    tree: Any = field(default=None, hash=False)
    file: str | None = None
    new: Unlisted = "refuse"

    def __post_init__(self) -> None:
        require_unlisted(self.new)
        if (self.tree is None) == (self.file is None):
            given = "neither" if self.tree is None else "both"
            raise ParameterError("taxonomy", given, "given by either tree or file")
        if self.file is not None:
            require_text("file", self.file)
        else:
            _from_plain(self.tree)
            # The caller may go on changing the tree.
            object.__setattr__(self, "tree", deepcopy(self.tree))

    @property
    def fixed_height(self) -> int:
        return self.build(self.name, ()).height

    @property
    def states_values(self) -> bool:
        return self.new == "refuse"

    @property
    def takes_unlisted(self) -> bool:
        return self.new == "other"

    def build_stated(self, column: str) -> Hierarchy:
        return self.build(column, ())

    def build(
        self,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
    ) -> Hierarchy:
        if self.file is None:
            origin, twigs = f"the taxonomy of {column!r}", _from_plain(self.tree)
        else:
            origin, twigs = self.file, _from_file(self.file)
        if not (len(twigs) == 1 and twigs[0].below):
            twigs = [_Twig(STAR, "the top", twigs)]
        branches = list(_branches(twigs[0], ()))
        height = max(map(len, branches)) - 1
        branches = [branch[:1] * (height + 1 - len(branch)) + branch for branch in branches]
        _refuse_namesakes(branches, origin)
        made = Hierarchy.from_paths(
            [branch[0].label for branch in branches],
            [[twig.label for twig in branch[1:]] for branch in branches],
            origin=origin,
            places=[branch[0].place for branch in branches],
        )
        return place_unlisted(made, column, values) if self.takes_unlisted else made

    @classmethod
    def example(cls) -> Self:
        return cls(
            {
                "Europe": ["France", "Denmark"],
                "Asia": {"East": ["China", "Japan"], "South": ["Nepal"]},
            }
        )

    @classmethod
    def example_values(cls) -> list[Value]:
        return ["France", "Japan", "Nepal"]


def _branches(twig: _Twig, above: tuple[_Twig, ...]) -> Iterator[tuple[_Twig, ...]]:
    """Return for each raw value the way from it to the top."""
    here = (twig, *above)
    if not twig.below:
        yield here
    for lower in twig.below:
        yield from _branches(lower, here)


def _refuse_namesakes(branches: Sequence[tuple[_Twig, ...]], origin: str) -> None:
    """Two groups with one name would silently become one group."""
    for level in range(1, len(branches[0])):
        owners: dict[str, _Twig] = {}
        for branch in branches:
            twig = branch[level]
            owner = owners.setdefault(twig.label, twig)
            if owner is not twig:
                raise HierarchyError(
                    f"{origin}, {twig.place}: {twig.label!r} is already the name of something else "
                    f"at level {level} ({owner.place}). Give them different names."
                )


def _from_plain(tree: object, path: tuple[str, ...] = ()) -> list[_Twig]:
    """Read nested mappings and lists, as Python or a policy gives them."""
    if len(path) > _DEEPEST:
        raise ParameterError("tree", f"{path[0]} > …", f"at most {_DEEPEST} levels deep")
    items: list[tuple[object, object]]
    if isinstance(tree, Mapping):
        items = list(tree.items())
    else:
        entries = tree if isinstance(tree, list | tuple) else [tree]
        items = [(entry, None) for entry in entries]
    if not items:
        raise ParameterError("tree", tree, "filled", why=f"nothing is below {_format_path(path)}")
    twigs: list[_Twig] = []
    for key, below in items:
        if isinstance(key, Mapping):
            twigs += _from_plain(key, path)
            continue
        if isinstance(key, bool):
            why = "YAML reads NO, yes and on as truth values; write them in quotes"
            raise ParameterError("tree", key, f"text below {_format_path(path)}", why=why)
        if isinstance(key, list | tuple) or key is None:
            raise ParameterError("tree", key, f"a name or a group below {_format_path(path)}")
        here = (*path, text_of(key))
        lower = [] if below is None else _from_plain(below, here)
        twigs.append(_Twig(here[-1], _format_path(here), lower))
    return twigs


def _format_path(path: tuple[str, ...]) -> str:
    return " > ".join(path) if path else "the top"


def _from_file(file: str) -> list[_Twig]:
    text = read_text(file)
    try:
        # The base loader knows no truth values, dates or octal numbers: all is text.
        node = yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "not readable"
        raise HierarchyError(f"{file}{where}: this is not YAML: {problem}") from None
    if node is None:
        raise HierarchyError(f"{file} is empty. Write groups as keys and their values as lists.")
    return _from_node(node, file)


def _from_node(node: yaml.Node, file: str, depth: int = 0) -> list[_Twig]:
    """Read what the YAML parser saw, which still knows its lines."""
    where = f"line {node.start_mark.line + 1}"
    if depth > _DEEPEST:
        raise HierarchyError(f"{file}, {where}: more than {_DEEPEST} levels deep")
    twigs: list[_Twig] = []
    if isinstance(node, yaml.MappingNode):
        for key, below in node.value:
            here = f"line {key.start_mark.line + 1}"
            if not _says_something(key):
                raise HierarchyError(f"{file}, {here}: the name of a group must be plain text")
            is_leaf = isinstance(below, yaml.ScalarNode) and not _says_something(below)
            lower = [] if is_leaf else _from_node(below, file, depth + 1)
            twigs.append(_Twig(key.value, here, lower))
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            if isinstance(item, yaml.SequenceNode):
                raise HierarchyError(f"{file}, {where}: a list in a list has no name; give it one")
            twigs += _from_node(item, file, depth + 1)
    elif _says_something(node):
        twigs = [_Twig(node.value, where, [])]
    if not twigs:
        raise HierarchyError(
            f"{file}, {where}: nothing is here. Name a value, or a group with values below it."
        )
    return twigs


def _says_something(node: yaml.Node) -> bool:
    # In quotes (a style) even an empty text is meant.
    return isinstance(node, yaml.ScalarNode) and bool(node.value or node.style)
