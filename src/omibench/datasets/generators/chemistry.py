"""Organic molecules from fragments: bonds and atoms to count, structures, outcomes of reactions.

EMMA, B.1, has the kinds of questions: counts, structure recognition and reactions, with SMILES or
pictures as choices. Molecules are joined at random from rings and groups, so that most are in no
collection. Needs RDKit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from random import Random
from typing import Any, Final, NamedTuple

from omibench.datasets.generators.make import list_marks
from omibench.datasets.generators.registry import Draft, Drawing, generator

CORES: Final = (
    "c1ccccc1", "c1ccncc1", "c1ccoc1", "c1ccsc1", "C1CCCCC1", "C1CCCC1", "C1CCOCC1", "C1CCOC1",
    "CCCC", "CCCCC", "CC(C)CC",
)  # fmt: skip
"""Molecules to which groups are joined; their drawings with alternating bonds are all alike."""
QUIET: Final = ("C", "CC", "C(C)C", "OC", "F", "Cl", "C#N", "C(F)(F)F", "C(=O)C", "C=C")
"""Groups that take part in none of `REACTIONS`; the first atom is joined."""
GROUPS: Final = (*QUIET, "O", "N", "C=O", "C(=O)O", "C(=O)OC", "C(=O)N")
COUNTED: Final[Mapping[str, tuple[str, str]]] = {
    "carbon–carbon single bonds": ("[#6]-[#6]", "bonds"),
    "carbon–carbon double bonds": ("[#6]=[#6]", "bonds"),
    "carbon–oxygen bonds (single and double)": ("[#6]~[#8]", "bonds"),
    "bonds between atoms other than hydrogen": ("[!#1]~[!#1]", "bonds"),
    "carbon atoms": ("[#6]", "atoms"),
    "hydrogen atoms (also those that are not drawn)": ("[#1]", "atoms"),
    "atoms other than carbon and hydrogen": ("[!#6;!#1]", "atoms"),
}
"""What is counted -> its pattern (SMARTS), and its template."""
_ATTEMPTS: Final = 20
_ODD: Final = "*=*=*"
"""Bonds by which a wrong choice would be known at once, as by an unusual valence."""
SIDE: Final = 300
"""Pixels of a picture's side."""


class Reaction(NamedTuple):
    """A reaction of two molecules.

    Attributes:
        rule: What happens, in words.
        groups: The groups that react, one of each molecule, as fragments.
        smarts: The reaction of the two groups.
    """

    rule: str
    groups: tuple[str, str]
    smarts: str


REACTIONS: Final = (
    Reaction(
        "a carboxylic acid and an alcohol lose water and form an ester",
        ("C(=O)O", "CO"),
        "[C:1](=[O:2])[OX2H1].[OX2H1:3][CX4:4]>>[C:1](=[O:2])[O:3][C:4]",
    ),
    Reaction(
        "a carboxylic acid and a primary amine lose water and form an amide",
        ("C(=O)O", "CN"),
        "[C:1](=[O:2])[OX2H1].[NX3H2:3][CX4:4]>>[C:1](=[O:2])[N:3][C:4]",
    ),
    Reaction(
        "an aldehyde and a primary amine lose water and form an imine",
        ("C=O", "CN"),
        "[CX3H1:1](=O)[#6:2].[NX3H2:3][CX4:4]>>[#6:2][C:1]=[N:3][C:4]",
    ),
    Reaction(
        "an alkyl bromide and an alcohol lose hydrogen bromide and form an ether",
        ("CBr", "CO"),
        "[CX4:1]Br.[OX2H1:2][CX4:3]>>[C:1][O:2][C:3]",
    ),
)


@generator(
    "chemistry",
    version=1,
    templates=("bonds", "atoms", "structure", "reaction", "reaction_pictures"),
    subject="chemistry",
    extra="chemistry",
)
def make(template: str, random: Random, difficulty: int) -> Draft:
    """Make a problem about 2 to 6 molecules, one in each picture."""
    count, groups = difficulty + 1, 1 + difficulty // 2
    if template in ("bonds", "atoms"):
        return _make_count(template, random, count, groups)
    if template == "structure":
        return _make_structure(random, count, groups)
    return _make_reaction(random, count, groups, with_pictures=template != "reaction")


def _make_count(template: str, random: Random, count: int, groups: int) -> Draft:
    while True:
        molecules = [join_groups(random, random.choices(GROUPS, k=groups)) for _ in range(count)]
        what = random.choice([name for name, (_, kind) in COUNTED.items() if kind == template])
        numbers = [count_pattern(molecule, COUNTED[what][0]) for molecule in molecules]
        if sum(map(bool, numbers)) > 1:
            break
    drawn = "Count aromatic rings as drawn, with alternating bonds. " * (template == "bonds")
    return Draft(
        question=(
            f"Each of the {count} pictures shows a molecule. {drawn}How many {what} do all of them "
            f"have together?\n{list_marks(count)}"
        ),
        pictures=draw_each(molecules),
        answer=str(sum(numbers)),
        solution=f"In the order of the pictures: {' + '.join(map(str, numbers))} = {sum(numbers)}.",
    )


def _make_structure(random: Random, count: int, groups: int) -> Draft:
    """The choices differ in two molecules: each is the one shown, or nearly so."""
    first, second = sorted(random.sample(range(count), 2))
    while True:
        molecules = [
            join_groups(random, random.choices(GROUPS, k=groups + 1)) for _ in range(count)
        ]
        options = [[molecule] for molecule in molecules]
        for place in (first, second):
            options[place].append(change_molecule(molecules[place], random))
        right, *wrong = ["; ".join(choice) for choice in product(*options)]
        if len({right, *wrong}) == len(wrong) + 1:
            break
    return Draft(
        question=(
            f"Each of the {count} pictures shows a molecule. Which list gives them as SMILES, in "
            f"the order of the pictures?\n{list_marks(count)}"
        ),
        pictures=draw_each(molecules),
        answer=right,
        wrong=wrong,
        solution=(
            f"Pictures {first + 1} and {second + 1} decide: they show {molecules[first]} and "
            f"{molecules[second]}."
        ),
    )


def _make_reaction(random: Random, count: int, groups: int, *, with_pictures: bool) -> Draft:
    """The choices are the products of each molecule that reacts, and of one that nearly is it."""
    while True:
        reaction = random.choice(REACTIONS)
        pairs = [_draw_reactants(random, reaction, group, groups) for group in reaction.groups]
        found = [react(reaction, choice) for choice in product(*pairs)]
        products = list(dict.fromkeys(filter(None, found)))
        if len(products) == len(found):
            break
    reactants = [pair[0] for pair in pairs]
    others = [join_groups(random, random.choices(QUIET, k=groups)) for _ in range(count - 2)]
    molecules = random.sample([*reactants, *others], count)
    choices: Sequence[str | Drawing] = draw_each(products) if with_pictures else products
    return Draft(
        question=(
            f"Each of the {count} pictures shows a molecule. Two of them react with each other: "
            f"{reaction.rule}. {'Which picture shows' if with_pictures else 'What is'} the product"
            f"{'' if with_pictures else ', as SMILES'}?\n{list_marks(count)}"
        ),
        pictures=draw_each(molecules),
        answer=choices[0],
        wrong=choices[1:],
        solution=(
            f"Here {reaction.rule}. These are {reactants[0]} (picture "
            f"{molecules.index(reactants[0]) + 1}) and {reactants[1]} (picture "
            f"{molecules.index(reactants[1]) + 1}). The product is {products[0]}."
        ),
    )


def _draw_reactants(random: Random, reaction: Reaction, group: str, groups: int) -> list[str]:
    molecule = join_groups(random, [group, *random.choices(QUIET, k=groups)])
    return [molecule, change_molecule(molecule, random, keep=group)]


# Molecules, as canonical SMILES.


@cache
def _chem() -> Any:
    from rdkit import Chem, RDLogger

    RDLogger.DisableLog("rdApp.*")  # tried changes that break a valence are expected
    return Chem


@cache
def _read(fragment: str) -> Any:
    return _chem().MolFromSmiles(fragment)


@cache
def _parse(pattern: str) -> Any:
    return _chem().MolFromSmarts(pattern)


def join_groups(random: Random, groups: Sequence[str]) -> str:
    """Return a random core with these groups, each joined to a random carbon."""
    chem = _chem()
    molecule = chem.RWMol(_read(random.choice(CORES)))
    free = [
        atom.GetIdx()
        for atom in molecule.GetAtoms()
        if atom.GetSymbol() == "C" and atom.GetTotalNumHs()
    ]
    for group, place in zip(groups, random.sample(free, len(groups)), strict=True):
        size = molecule.GetNumAtoms()
        molecule.InsertMol(_read(group))
        molecule.AddBond(place, size, chem.BondType.SINGLE)
    chem.SanitizeMol(molecule)
    return str(chem.MolToSmiles(molecule))


def change_molecule(smiles: str, random: Random, *, keep: str | None = None) -> str:
    """Return a molecule that is easily taken for another: an isomer, or one with a bond changed.

    Args:
        smiles: The molecule.
        random: Source of random choices.
        keep: A group that stays, so that the molecule still reacts; then it is an isomer.

    Returns:
        The other molecule, or the same one if no other was found.
    """
    chem = _chem()
    molecule = chem.MolFromSmiles(smiles)
    changes: list[Callable[[Any, Random], None]] = [_move_group]
    if keep is None:
        changes.append(_change_bond)
    for _ in range(_ATTEMPTS):
        changed = chem.RWMol(molecule)
        chem.Kekulize(changed, clearAromaticFlags=True)
        random.choice(changes)(changed, random)
        if chem.SanitizeMol(changed, catchErrors=True):
            continue
        text = str(chem.MolToSmiles(changed))
        is_odd = "[" in text or changed.HasSubstructMatch(_parse(_ODD))
        still_reacts = keep is None or changed.HasSubstructMatch(_read(keep))
        if text != smiles and not is_odd and still_reacts:
            return text
    return smiles


def _move_group(molecule: Any, random: Random) -> None:
    """Join what is behind a single bond of no ring to another carbon."""
    bonds = [b for b in molecule.GetBonds() if not b.IsInRing() and b.GetBondTypeAsDouble() == 1]
    bond = random.choice(bonds)
    ends = [bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()]
    random.shuffle(ends)
    molecule.RemoveBond(*ends)
    near = next(part for part in _chem().GetMolFrags(molecule) if ends[0] in part)
    carbons = [i for i in near if i != ends[0] and molecule.GetAtomWithIdx(i).GetAtomicNum() == 6]
    place = random.choice(carbons or ends[:1])
    molecule.AddBond(place, ends[1], _chem().BondType.SINGLE)


def _change_bond(molecule: Any, random: Random) -> None:
    """Make a single bond of no aromatic ring double, or a double bond single."""
    types = _chem().BondType
    bond = random.choice(list(molecule.GetBonds()))
    single = bond.GetBondType() == types.SINGLE
    bond.SetBondType(types.DOUBLE if single else types.SINGLE)


def count_pattern(smiles: str, pattern: str) -> int:
    """Return how often a pattern occurs in a molecule drawn with alternating bonds."""
    chem = _chem()
    molecule = chem.AddHs(chem.MolFromSmiles(smiles))
    chem.Kekulize(molecule, clearAromaticFlags=True)
    return len(molecule.GetSubstructMatches(_parse(pattern), maxMatches=10_000))


@cache
def _open_reaction(smarts: str) -> Any:
    from rdkit.Chem import AllChem

    return AllChem.ReactionFromSmarts(smarts)


def react(reaction: Reaction, reactants: Sequence[str]) -> str | None:
    """Return the product of a reaction; None if there is none, or several."""
    chem = _chem()
    molecules = tuple(chem.MolFromSmiles(smiles) for smiles in reactants)
    products = set()
    for (found,) in _open_reaction(reaction.smarts).RunReactants(molecules):
        if chem.SanitizeMol(found, catchErrors=True):
            return None
        products.add(str(chem.MolToSmiles(found)))
    return products.pop() if len(products) == 1 else None


def draw_each(molecules: Sequence[str]) -> list[Drawing]:
    """Return a picture of each molecule."""
    return [Drawing(draw_molecule, (molecule,)) for molecule in molecules]


def draw_molecule(smiles: str) -> bytes:
    """Draw the structure of a molecule; return a PNG without metadata, which would name it."""
    from rdkit.Chem.Draw import rdMolDraw2D

    drawer = rdMolDraw2D.MolDraw2DCairo(SIDE, SIDE)
    options = drawer.drawOptions()
    options.useBWAtomPalette()
    options.includeMetadata = False
    rdMolDraw2D.PrepareAndDrawMolecule(drawer, _chem().MolFromSmiles(smiles))
    drawer.FinishDrawing()
    return bytes(drawer.GetDrawingText())
