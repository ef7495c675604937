// The reader's own answer to a problem, before key and solution are shown.

/** The fields that ask for it: the choices of the problem, or a text. */
export function listAnswerFields(content) {
  const labels = Array.isArray(content.choices)
    ? content.choices.map((choice) => String(choice?.label ?? ""))
    : [];
  const options = labels.map((label) => ({ value: label, title: label, key: nameKey(label) }));
  const answer = labels.length
    ? { type: "choices", options, help: "Each letter is a key; mark several if several are right." }
    : { type: "text", options: [], help: "The final answer: a value with its unit, or a formula." };
  return [
    {
      ...answer,
      name: "own_answer",
      title: "Your own answer",
      required: false,
      isMain: true,
    },
    {
      name: "cannot_answer",
      title: "I cannot answer it",
      type: "flag",
      options: [],
      key: "0",
      help: "The official answer and the solution appear next. Your answer is kept with your decision.",
    },
  ];
}

/** The answer as text, empty for none; null while nothing is answered. */
export function readOwnAnswer(values) {
  const text = [values.own_answer ?? []].flat().join(", ").trim();
  if (text) return text;
  return values.cannot_answer ? "" : null;
}

/** A letter as its own key, unless the page needs it. */
function nameKey(label) {
  const key = label.toLowerCase();
  return key.length === 1 && !"jk0".includes(key) ? key : "";
}
