"""Who needs whom first: the order in which values travel at one instant, and the order of Gauss-Seidel.

A link needs another one first if the output that it reads depends directly on the input that the other one sets. Links
that need each other are an algebraic loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bough.coupling.assembly import Assembly, Link


@dataclass(frozen=True)
class Stage:
    """Links whose values travel together.

    Attributes:
        links: Indices.
        loop: Whether they need each other: an algebraic loop.
    """

    links: tuple[int, ...]
    loop: bool


def stages(assembly: Assembly, at_start: bool) -> list[Stage]:
    """Links in the order in which their values are known.

    Args:
        assembly: The system.
        at_start: Whether dependencies while initializing count, or those afterwards.
    """
    needs = _needs(assembly, at_start)
    found: list[Stage] = []
    level: dict[int, int] = {}
    plain: dict[int, list[int]] = {}
    rest: list[tuple[int, Stage]] = []
    for group in components(len(assembly.links), lambda i: needs[i]):
        own = 1 + max((level[j] for i in group for j in needs[i] if j not in group), default=-1)
        level.update((i, own) for i in group)
        if len(group) == 1 and group[0] not in needs[group[0]]:
            plain.setdefault(own, []).append(group[0])
        else:
            rest.append((own, Stage(tuple(sorted(group)), True)))
    for own in sorted({*plain, *(at for at, _ in rest)}):
        if own in plain:
            found.append(Stage(tuple(sorted(plain[own])), False))
        found += [stage for at, stage in rest if at == own]
    return found


def _needs(assembly: Assembly, at_start: bool) -> list[list[int]]:
    """For each link the links that have to be set before its source can be read."""
    into: dict[str, list[int]] = {}
    for i, link in enumerate(assembly.links):
        into.setdefault(link.target[0], []).append(i)
    interfaces = {c.name: c.interface for c in assembly.components}
    out = []
    for link in assembly.links:
        name, output = link.source
        interface = interfaces[name]
        direct = (interface.feedthrough_at_start if at_start else interface.feedthrough).get(output, frozenset())
        out.append([j for j in into.get(name, []) if assembly.links[j].target[1] in direct])
    return out


def components(count: int, needs: Callable[[int], Sequence[int]]) -> list[list[int]]:
    """Strongly connected components of a graph, those that are needed first (Tarjan's algorithm, without recursion)."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    out: list[list[int]] = []
    for root in range(count):
        if root in index:
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        path = [(root, iter(needs(root)))]
        while path:
            node, following = path[-1]
            child = next(following, None)
            if child is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    out.append(stack[at:])
                    del stack[at:]
            elif child not in index:
                index[child] = low[child] = len(index)
                stack.append(child)
                path.append((child, iter(needs(child))))
            elif child in stack:
                low[node] = min(low[node], index[child])
    return out


def sequence(assembly: Assembly) -> list[str]:
    """An order of components for Gauss-Seidel: sources first.

    Where they form a ring, those come first whose outputs follow their inputs at once, as a controller's do: what they
    are told at the beginning of a step makes what they tell for all of it. One that came after the mechanism would
    take its sample with angles that are a step younger. Then those that others have told something already; else the
    order is that of the list.
    """
    names, links = [c.name for c in assembly.components], assembly.links
    needs = {name: {link.source[0] for link in links if link.target[0] == name} - {name} for name in names}
    direct = {links[i].source[0] for i, first in enumerate(_needs(assembly, at_start=False)) if first}
    left, out = list(names), list[str]()
    while left:
        free = [name for name in left if not needs[name] & set(left)]
        at_once = [name for name in left if name in direct]
        heads = [name for name in at_once if not needs[name] & set(at_once)]
        fed = [name for name in left if needs[name] & set(out)]
        out.append((free or heads or at_once or fed or left)[0])
        left.remove(out[-1])
    return out


def names_of(links: Sequence[Link]) -> str:
    """The variables of an algebraic loop, for a message."""
    return ", ".join(str(link) for link in links)
