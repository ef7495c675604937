# ruff: noqa: E501 (formulas and preambles stand on lines of their own)
"""Sentences of exam papers with places for formulas; each `{}` is one."""

from __future__ import annotations

from typing import Final

IN_LINE: Final = (
    "Let {} be given, and suppose that {} holds for every value of the parameter.",
    "A small block starts from rest; its motion is described by {} until it reaches the wall.",
    "Show that the condition {} is equivalent to {} in this case.",
    "The students measured {} and concluded that {} cannot be neglected.",
    "What follows from {} when the temperature is kept constant?",
    "In the experiment the quantity {} was recorded twice a day for a week.",
    "Assume that {} and determine whether the statement is always true.",
    "The gas expands slowly, so that {} at the end of the process.",
    "Two players choose numbers in turn; the first wins if {} after ten moves.",
    "Consider a star whose spectrum gives {} as well as {} within the errors.",
    "The tank is filled with a solution for which {} was found by titration.",
    "Find all values for which {} is an integer.",
    "Here {} denotes the result of the first step, and {} that of the second.",
    "Given {}, {} and {}, decide which of the following is correct.",
    "The lens forms an image at a distance given by {} from its centre.",
)
BEFORE_DISPLAY: Final = (
    "The energy of the system satisfies the relation",
    "Prove that for all positive values of the variables",
    "According to the model, the equilibrium is described by",
    "The sequence is defined by the rule",
    "From the law of conservation we obtain",
    "Use the following expression in your solution:",
)
AFTER_DISPLAY: Final = (
    "where the symbols have their usual meaning.",
    "Explain every step of your answer.",
    "and state the units of the result.",
    "Which of the answers below is the best estimate?",
)
QUESTIONS: Final = (
    "Which of the following is equal to this quantity?",
    "Choose the correct expression.",
    "What is the value that the observer on the ground will measure?",
    "Select the answer that agrees with the data.",
)
PLAIN: Final = (
    "A train leaves the station at 9:30 and arrives at 11:05, after a stop of 15 minutes. The ticket costs $5 in the morning and $7 in the evening.",
    "In 1969 the crew of the mission brought 21.5 kg of samples back to the laboratory; about 3 % of them were lost by 1975.",
    "A cylinder holds 2.5 L of water at 20 degrees. How many glasses of 250 mL can a student fill from it?",
    "Which of the following planets has the longest day? Give a reason for your choice, in no more than two sentences.",
    "Anna, Ben and I walked 10 km in 2 h. Point A lies north of point B, and a road joins both of them.",
    "The mixture contains sodium chloride, ethanol and 2-methylpropane. Name a method to separate the components.",
    "Use a pencil for drawings only. Answers without a justification will not be counted. Write on one side of the sheet.",
    "The colour of the flame was yellow (see the table on page 4). A sample of 12 g burned for 40 s.",
    "A shop sells 3 kinds of sweets in bags of 50, 100 and 150 g. Tom buys 7 bags and pays 12.60 euros.",
    "Vitamin C, the B-12 complex and an X-ray of the hand are mentioned in the report of 24 May 2019 by Dr. K. Lee.",
)  # fmt: skip
