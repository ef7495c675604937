// The leaderboard: sort, search, filter, choose columns and scorer, copy. Without this script
// the table shows everything in the study's order.
"use strict";
(() => {
  const table = document.getElementById("leaderboard");
  const source = document.getElementById("leaderboard-data");
  if (!table || !source) return;
  const data = JSON.parse(source.textContent);
  const heads = [...table.tHead.rows[0].cells];
  const bodies = [...table.tBodies];
  const rows = [...table.querySelectorAll("tr.cell")];
  const home = rows.map((row) => row.parentElement);
  const find = (title) => heads.findIndex((head) => head.textContent.trim().startsWith(title));
  const places = { model: find("Model"), setting: find("Setting"), bar: find("ACC"), total: find("Total") };
  const firstSubject = places.total + 1 + (find("Strict") > 0 ? 1 : 0);
  const original = rows.map((row) => [...row.cells].map((cell) => cell.cloneNode(true)));
  const state = { sort: null, down: true, search: "", group: "", setting: "", weights: "", size: "", rules: data.main, hide: "" };
  const sorted = document.createElement("tbody");
  sorted.hidden = true;
  table.append(sorted);

  const make = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const nameOf = (row) => row.cells[places.model].querySelector(".name").firstChild.textContent.trim();
  const settingOf = (row) => lines(row.cells[places.setting])[0];
  const lines = (cell) => {
    const copy = cell.cloneNode(true);
    copy.querySelectorAll(".sim").forEach((mark) => mark.remove());
    copy.querySelectorAll("br").forEach((end) => end.replaceWith("\n"));
    return copy.textContent.split("\n").map((line) => line.trim()).filter(Boolean);
  };
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    if (column === places.model) return nameOf(row).toLowerCase();
    if (column === places.setting) return settingOf(row).toLowerCase();
    // Values in attributes, such as a rank, belong to the main scorer.
    const stated = state.rules === data.main ? cell.dataset.value : undefined;
    const text = column === places.bar ? lines(row.cells[places.total])[0] : stated ?? lines(cell)[0];
    const number = parseFloat(text);
    return Number.isNaN(number) ? null : number;
  };

  const shows = (row) => {
    const words = `${nameOf(row)} ${row.dataset.group} ${settingOf(row)}`.toLowerCase();
    const size = parseFloat(row.dataset.size) || 0;
    const [low, high] = (state.size || "0-Infinity").split("-").map(Number);
    return state.search.toLowerCase().split(/\s+/).every((word) => words.includes(word))
      && (!state.group || row.dataset.group === state.group)
      && (!state.setting || settingOf(row) === state.setting)
      && (!state.weights || row.dataset.weights === state.weights)
      && (!state.size || (size > low && size <= high));
  };

  let wasSorted = false;
  const arrange = () => {
    const isSorted = state.sort !== null;
    table.classList.toggle("sorted", isSorted);
    bodies.forEach((body) => { body.hidden = isSorted && body.querySelector("tr.cell") !== null; });
    sorted.hidden = !isSorted;
    if (isSorted) {
      const order = rows.map((row, place) => [row, valueOf(row, state.sort), place]);
      const direction = state.down ? -1 : 1;
      order.sort(([, a, i], [, b, j]) => {
        if (a === null || b === null) return (a === null) - (b === null) || i - j;
        return (a < b ? -direction : a > b ? direction : 0) || i - j;
      });
      sorted.append(...order.map(([row]) => row));
    } else if (wasSorted) {
      rows.forEach((row, place) => home[place].append(row));
    }
    wasSorted = isSorted;
    let count = 0;
    let model = null;
    const visible = isSorted ? [...sorted.rows] : rows;
    visible.forEach((row) => {
      row.hidden = !shows(row);
      if (row.hidden) return;
      count += 1;
      const name = nameOf(row);
      row.classList.toggle("again", !isSorted && name === model);
      row.classList.toggle("model-first", isSorted || name !== model);
      model = name;
    });
    bodies.forEach((body) => {
      const cells = [...body.querySelectorAll("tr.cell")];
      if (cells.length) body.querySelector("tr.group").hidden = cells.every((row) => row.hidden);
    });
    heads.forEach((head, column) => {
      head.setAttribute("aria-sort", column !== state.sort ? "none" : state.down ? "descending" : "ascending");
    });
    fitBox();
    counter.textContent = `${count} of ${rows.length} rows`;
    keepState();
  };

  let shownRules = data.main;
  // The box ends below the last row that fits, but never below the name of a group.
  const box = table.closest(".scroll");
  const fitBox = () => {
    box.style.removeProperty("--board-height");
    const top = table.getBoundingClientRect().top;
    const room = box.clientHeight;
    if (table.offsetHeight <= room) return;
    let low = 0;
    const shown = [...table.rows].filter((row) => row.offsetHeight);
    let high = shown.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (shown[middle].getBoundingClientRect().bottom - top <= room) low = middle;
      else high = middle - 1;
    }
    while (low > 0 && shown[low].classList.contains("group")) low -= 1;
    const height = shown[low].getBoundingClientRect().bottom - top;
    if (height > room / 2) box.style.setProperty("--board-height", `${Math.ceil(height) + box.offsetHeight - room}px`);
  };
  let fitting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(fitting);
    fitting = requestAnimationFrame(fitBox);
  });

  const showRules = () => {
    if (shownRules === state.rules) return;
    shownRules = state.rules;
    const values = data.values[state.rules];
    rows.forEach((row, place) => {
      const isMain = state.rules === data.main;
      [...row.cells].forEach((cell, column) => {
        if (column <= places.setting) return;
        cell.replaceChildren(...original[place][column].cloneNode(true).childNodes);
        if (!isMain) cell.querySelectorAll(".sub, a, br").forEach((node) => node.tagName === "A" ? node.replaceWith(node.textContent) : node.remove());
      });
      if (isMain) return;
      const [total, ...parts] = values[place];
      setNumber(row.cells[places.total], total);
      const bar = row.cells[places.bar].firstElementChild;
      bar.hidden = !total;
      if (total) ["acc", "lo", "hi"].forEach((name, i) => bar.style.setProperty(`--${name}`, total[i]));
      for (let column = places.total + 1; column < row.cells.length; column += 1) {
        const part = column - firstSubject;
        if (part >= 0 && part < data.subjects.length) setNumber(row.cells[column], parts[part]);
        else row.cells[column].textContent = "–";
      }
      const rank = find("Rank");
      if (rank > 0) row.cells[rank].textContent = "–";
    });
    note.textContent = state.rules === data.main ? "" : `Shown by ${data.rules[state.rules]}; rank, failures and bounds belong to ${data.rules[data.main]}.`;
  };
  const setNumber = (cell, bounds) => {
    cell.replaceChildren(bounds ? bounds[0].toFixed(1) : "–");
    if (bounds) cell.append(make("br"), make("span", { className: "sub", textContent: `[${bounds[1].toFixed(1)}, ${bounds[2].toFixed(1)}]` }));
  };

  const visibleColumns = () => heads.map((_, column) => column).filter((column) => column !== places.bar && !table.classList.contains(`hide-${column}`));
  const visibleRows = () => [...table.querySelectorAll("tr.cell")].filter((row) => !row.hidden && !row.parentElement.hidden);
  const cellTexts = (row) => visibleColumns().map((column) => {
    if (column === places.model) return nameOf(row);
    if (column === places.setting) return settingOf(row);
    return lines(row.cells[column]).filter((line) => column === places.total ? !line.startsWith("printed") : true).slice(0, column === places.total ? 2 : 1).join(" ");
  });
  // The literal word appears only in reports with simulated numbers, so that a search finds them.
  const MARK_OF_MADE_UP = "simulated".toUpperCase();
  const headTexts = () => visibleColumns().map((column) => lines(heads[column])[0] + (heads[column].querySelector(".sim") ? ` (${MARK_OF_MADE_UP})` : ""));
  const isSimulated = (row) => data.simulated[state.rules][rows.indexOf(row)];
  const writeCsv = () => [[...headTexts(), "Scored by", "Simulated"],
    ...visibleRows().map((row) => [...cellTexts(row), data.rules[state.rules], String(isSimulated(row))])]
    .map((line) => line.map((text) => {
      const safe = /^[=+\-@\t]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
      return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    }).join(",")).join("\n") + "\n";
  const special = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "–": "--" };
  const escapeLatex = (text) => text.replace(/[\\~^–]|[&%$#_{}]/g, (character) => special[character] ?? `\\${character}`);
  const writeLatex = () => {
    const columns = visibleColumns();
    const written = visibleRows();
    const body = written.map((row) => {
      const [name, ...others] = cellTexts(row);
      return `${[isSimulated(row) ? `${name} (${MARK_OF_MADE_UP})` : name, ...others].map(escapeLatex).join(" & ")} \\\\`;
    });
    const layout = columns.map((column) => (column <= places.setting ? "l" : "r")).join("");
    const count = written.filter(isSimulated).length;
    const mark = count ? [`% ${MARK_OF_MADE_UP}: ${count} of ${written.length} rows say nothing about a real model.`] : [];
    return [...mark, `% Scored by ${data.rules[state.rules]}.`, `\\begin{tabular}{${layout}}`, "\\toprule", `${headTexts().map(escapeLatex).join(" & ")} \\\\`, "\\midrule", ...body, "\\bottomrule", "\\end{tabular}", ""].join("\n");
  };
  const copy = async (text, button) => {
    const title = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      // A page from disk may have no clipboard: show the text for manual copying.
      clip.value = text;
      clip.hidden = false;
      clip.select();
      button.textContent = "Select and copy";
    }
    setTimeout(() => { button.textContent = title; }, 1500);
  };

  const options = (title, field, values) => {
    const select = make("select", { id: `board-${field}` }, make("option", { value: "", textContent: `All` }),
      ...values.map(([value, text]) => make("option", { value, textContent: text })));
    select.addEventListener("change", () => { state[field] = select.value; arrange(); });
    return values.length < 2 ? null : make("label", {}, `${title} `, select);
  };
  const unique = (values) => [...new Set(values)].filter(Boolean).map((value) => [value, value]);
  const sizes = rows.map((row) => parseFloat(row.dataset.size) || 0).filter(Boolean);
  const ranges = [["0-4", "up to 4 B"], ["4-10", "4 to 10 B"], ["10-40", "10 to 40 B"], ["40-Infinity", "over 40 B"]]
    .filter(([range]) => { const [low, high] = range.split("-").map(Number); return sizes.some((size) => size > low && size <= high); });
  const search = make("input", { type: "search", id: "board-search", placeholder: "model, group, setting" });
  search.addEventListener("input", () => { state.search = search.value; arrange(); });
  const rules = make("select", { id: "board-rules" }, ...Object.entries(data.rules).map(([value, textContent]) => make("option", { value, textContent, selected: value === data.main })));
  rules.addEventListener("change", () => { state.rules = rules.value; showRules(); arrange(); });
  const chooser = make("details", { className: "columns" }, make("summary", { textContent: "Columns" }),
    ...heads.map((head, column) => {
      if (column === places.model) return "";
      const box = make("input", { type: "checkbox", checked: true });
      box.dataset.column = column;
      box.addEventListener("change", () => {
        state.hide = [...chooser.querySelectorAll("input:not(:checked)")].map((input) => input.dataset.column).join(",");
        hideColumns();
        keepState();
      });
      return make("label", {}, box, ` ${lines(head)[0]}`);
    }));
  const whole = [...table.rows].filter((row) => row.cells.length === heads.length);
  const hideColumns = () => {
    const hidden = new Set(state.hide.split(",").filter(Boolean).map(Number));
    if (!hidden.size && !table.matches("[class*=hide-]")) return;
    chooser.querySelectorAll("input").forEach((box) => { box.checked = !hidden.has(Number(box.dataset.column)); });
    heads.forEach((_, column) => {
      table.classList.toggle(`hide-${column}`, hidden.has(column));
      for (const row of whole) row.cells[column].hidden = hidden.has(column);
    });
  };
  const csv = make("button", { type: "button", textContent: "Copy CSV" });
  csv.addEventListener("click", () => copy(writeCsv(), csv));
  const latex = make("button", { type: "button", textContent: "Copy LaTeX" });
  latex.addEventListener("click", () => copy(writeLatex(), latex));
  const reset = make("button", { type: "button", textContent: "Reset" });
  reset.addEventListener("click", () => {
    Object.assign(state, { sort: null, down: true, search: "", group: "", setting: "", weights: "", size: "", rules: data.main, hide: "" });
    showState();
  });
  const counter = make("span", { className: "muted small" });
  counter.setAttribute("role", "status");
  const note = make("p", { className: "small board-note" });
  const clip = make("textarea", { hidden: true, rows: 6, readOnly: true });
  clip.setAttribute("aria-label", "Text to copy");
  const selects = {
    group: options("Group", "group", unique(rows.map((row) => row.dataset.group))),
    setting: options("Setting", "setting", unique(rows.map(settingOf))),
    weights: options("Weights", "weights", unique(rows.map((row) => row.dataset.weights))),
    size: options("Size", "size", ranges),
  };
  const bar = make("div", { className: "tools" }, make("label", {}, "Search ", search),
    ...Object.values(selects).filter(Boolean),
    ...(Object.keys(data.rules).length > 1 ? [make("label", {}, "Scored by ", rules)] : []),
    chooser, csv, latex, reset, counter);
  table.closest(".scroll").before(bar, note, clip);

  heads.forEach((head, column) => {
    const button = make("button", { type: "button", className: "sort" });
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = !(column <= places.setting || head.dataset.sort === "low");
      if (state.sort !== column) Object.assign(state, { sort: column, down: first });
      else if (state.down === first) state.down = !first;
      else state.sort = null;
      arrange();
    });
  });

  const keepState = () => {
    const kept = new URLSearchParams();
    for (const [name, value] of Object.entries(state)) {
      if (name === "down" ? state.sort !== null : value !== null && value !== "" && !(name === "rules" && value === data.main)) kept.set(name, value);
    }
    const hash = kept.size ? `#board?${kept}` : "";
    if (hash !== location.hash && (hash || location.hash.startsWith("#board?"))) {
      history.replaceState(null, "", hash || location.pathname + location.search);
    }
  };
  const showState = () => {
    search.value = state.search;
    rules.value = state.rules;
    for (const [field, label] of Object.entries(selects)) if (label) label.querySelector("select").value = state[field];
    hideColumns();
    showRules();
    arrange();
  };
  if (location.hash.startsWith("#board?")) {
    const kept = new URLSearchParams(location.hash.slice(7));
    for (const name of ["search", "group", "setting", "weights", "size"]) state[name] = kept.get(name) ?? "";
    if (Object.hasOwn(data.rules, kept.get("rules") ?? "")) state.rules = kept.get("rules");
    state.hide = (kept.get("hide") ?? "").split(",").map(Number)
      .filter((column) => column > places.model && column < heads.length).join(",");
    const column = parseInt(kept.get("sort"), 10);
    if (column >= 0 && column < heads.length) Object.assign(state, { sort: column, down: kept.get("down") !== "false" });
  }
  showState();
})();
