"""Molecules as graphs, read from SMILES without RDKit: bonds, hydrogens, the same or not."""

from __future__ import annotations

import re

import networkx as nx

_TOKEN = re.compile(r"\[(?P<inner>\w+?)(?P<held>H?)\]|Cl|Br|[BCNOPSFI]|[cnos]|[-=#:()]|\d|%\d\d")
_ORDER = {"-": 1.0, "=": 2.0, "#": 3.0, ":": 1.5}
_VALENCE = {"C": 4, "N": 3, "O": 2, "S": 2, "F": 1, "Cl": 1, "Br": 1}


def read_molecule(smiles: str) -> nx.Graph:
    """A molecule without charges or stereochemistry: element and hydrogens of atoms, orders of
    bonds, alternating ones of aromatic rings written out."""
    graph = nx.Graph()
    open_rings: dict[str, tuple[int, float | None]] = {}
    branches: list[int] = []
    last: int | None = None
    order: float | None = None
    end = 0
    for match in _TOKEN.finditer(smiles):
        assert match.start() == end, smiles
        end, token = match.end(), match[0]
        if token in _ORDER:
            order = _ORDER[token]
        elif token == "(":
            branches.append(last if last is not None else -1)
        elif token == ")":
            last = branches.pop()
        elif token[0].isdigit() or token[0] == "%":
            if token in open_rings:
                other, before = open_rings.pop(token)
                _join(graph, other, last, order or before)
            else:
                assert last is not None
                open_rings[token] = last, order
            order = None
        else:
            symbol = match["inner"] or token
            atom = graph.number_of_nodes()
            element = symbol[0].upper() + symbol[1:]
            is_aromatic = symbol[0].islower()
            graph.add_node(atom, element=element, aromatic=is_aromatic, held=bool(match["held"]))
            if last is not None:
                _join(graph, last, atom, order)
            last, order = atom, None
    assert end == len(smiles), smiles
    assert not open_rings
    _alternate(graph)
    for atom, about in graph.nodes(data=True):
        orders = sum(data["order"] for _, _, data in graph.edges(atom, data=True))
        about["hydrogens"] = round(_VALENCE[about["element"]] - orders)
        assert about["hydrogens"] >= 0, smiles
    return graph


def _join(graph: nx.Graph, a: int | None, b: int | None, order: float | None) -> None:
    both = graph.nodes[a]["aromatic"] and graph.nodes[b]["aromatic"]
    graph.add_edge(a, b, order=order or (1.5 if both else 1.0))


def _alternate(graph: nx.Graph) -> None:
    """Give each aromatic atom with a free valence one double bond: a perfect matching."""
    rings = nx.Graph([(a, b) for a, b, order in graph.edges(data="order") if order == 1.5])
    needy = [
        atom
        for atom in rings
        if graph.nodes[atom]["element"] in "CN" and not graph.nodes[atom]["held"]
        and not any(graph.edges[atom, other]["order"] == 2 for other in graph[atom])
    ]  # fmt: skip
    pairs = {frozenset(pair) for pair in nx.max_weight_matching(rings.subgraph(needy))}
    assert 2 * len(pairs) == len(needy)
    for a, b in rings.edges:
        graph.edges[a, b]["order"] = 2.0 if frozenset((a, b)) in pairs else 1.0
        graph.edges[a, b]["aromatic"] = True


def are_same(a: nx.Graph, b: nx.Graph) -> bool:
    """Whether two graphs are one molecule; aromatic bonds count as one kind."""
    return nx.is_isomorphic(
        a,
        b,
        lambda x, y: (x["element"], x["hydrogens"]) == (y["element"], y["hydrogens"]),
        lambda x, y: _kind(x) == _kind(y),
    )


def _kind(bond: dict[str, float]) -> float:
    return 1.5 if bond.get("aromatic") else bond["order"]


def count(graph: nx.Graph, what: str) -> int:
    """What a problem counts, by its words."""
    elements = nx.get_node_attributes(graph, "element")
    hydrogens = sum(nx.get_node_attributes(graph, "hydrogens").values())
    bonds = [({elements[a], elements[b]}, order) for a, b, order in graph.edges(data="order")]
    return {
        "carbon–carbon single bonds": sum(b == ({"C"}, 1) for b in bonds),
        "carbon–carbon double bonds": sum(b == ({"C"}, 2) for b in bonds),
        "carbon–oxygen bonds (single and double)": sum(b[0] == {"C", "O"} for b in bonds),
        "bonds between atoms other than hydrogen": len(bonds),
        "carbon atoms": sum(element == "C" for element in elements.values()),
        "hydrogen atoms (also those that are not drawn)": hydrogens,
        "atoms other than carbon and hydrogen": sum(e != "C" for e in elements.values()),
    }[what]


def formula(graph: nx.Graph) -> tuple[object, ...]:
    elements = sorted(nx.get_node_attributes(graph, "element").values())
    return (*elements, sum(nx.get_node_attributes(graph, "hydrogens").values()))


def react(first: nx.Graph, second: nx.Graph, rule: str) -> list[nx.Graph]:
    """Every product of two molecules by the words of a reaction: one atom leaves the first, and
    the second is joined in its place."""
    leaves = {"ester": _acid_oxygens, "amide": _acid_oxygens, "imine": _aldehyde_oxygens}
    joins = {"ester": "O", "ether": "O", "amide": "N", "imine": "N"}
    kind = rule.rsplit(maxsplit=1)[-1]
    products = []
    for atom in leaves.get(kind, _bromines)(first):
        for place in _list_donors(second, joins[kind]):
            (carbon,) = first[atom]
            both = nx.disjoint_union(first, second)
            moved = place + first.number_of_nodes()
            order = 2.0 if kind == "imine" else 1.0
            both.remove_node(atom)
            both.add_edge(carbon, moved, order=order)
            both.nodes[moved]["hydrogens"] -= int(order)
            products.append(both)
    return products


def _acid_oxygens(graph: nx.Graph) -> list[int]:
    return [
        atom
        for atom in _list(graph, "O", hydrogens=1)
        for carbon in graph[atom]
        if any(graph.nodes[o]["element"] == "O" and graph.edges[carbon, o]["order"] == 2
               for o in graph[carbon])
    ]  # fmt: skip


def _aldehyde_oxygens(graph: nx.Graph) -> list[int]:
    return [
        atom
        for atom in _list(graph, "O", hydrogens=0)
        for carbon in graph[atom]
        if graph.edges[atom, carbon]["order"] == 2 and graph.nodes[carbon]["hydrogens"] == 1
        and all(graph.nodes[n]["element"] == "C" for n in graph[carbon] if n != atom)
    ]  # fmt: skip


def _bromines(graph: nx.Graph) -> list[int]:
    return [atom for atom in _list(graph, "Br", hydrogens=0) if _is_saturated(graph, *graph[atom])]


def _list_donors(graph: nx.Graph, element: str) -> list[int]:
    hydrogens = 2 if element == "N" else 1
    found = _list(graph, element, hydrogens=hydrogens)
    return [atom for atom in found if _is_saturated(graph, *graph[atom])]


def _list(graph: nx.Graph, element: str, *, hydrogens: int) -> list[int]:
    return [
        atom
        for atom, about in graph.nodes(data=True)
        if (about["element"], about["hydrogens"]) == (element, hydrogens)
    ]


def _is_saturated(graph: nx.Graph, atom: int) -> bool:
    orders = {data["order"] for _, _, data in graph.edges(atom, data=True)}
    return graph.nodes[atom]["element"] == "C" and orders == {1.0}
