// The leaderboard: sort, group, search, filter, choose columns and scorer, copy. Without this
// script the table shows every row by rank, then by accuracy.
"use strict";
(() => {
  const table = document.getElementById("leaderboard");
  const source = document.getElementById("leaderboard-data");
  if (!table || !source) return;
  const data = JSON.parse(source.textContent);
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const find = (title) => heads.findIndex((head) => head.textContent.trim().startsWith(title));
  const places = { model: find("Model"), setting: find("Setting"), rank: find("Rank"), bar: find("ACC"), total: find("Total") };
  const firstSubject = places.total + 1 + (find("Strict") > 0 ? 1 : 0);
  // More rows would make a page that nobody scrolls through; the rest is one click away.
  const most = matchMedia("(max-width: 760px)").matches ? 25 : 100;
  const hasRanks = places.rank > 0;
  const start = { sort: hasRanks ? places.rank : places.total, down: !hasRanks, search: "", group: "", setting: "", weights: "", size: "", rules: data.main, hide: "" };
  const state = { ...start };
  let isWhole = false;

  const make = (tag, properties = {}, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  };
  const listLines = (cell) => [...cell.childNodes].filter((node) => node.className !== "sim")
    .map((node) => node.textContent.trim()).filter(Boolean);
  const cells = rows.map((row, index) => {
    const model = row.cells[places.model].querySelector(".name").textContent;
    const setting = listLines(row.cells[places.setting])[0];
    const { group, weights, size, place } = row.dataset;
    return { row, index, model, setting, group, weights, size: parseFloat(size) || 0, place: Number(place),
      words: `${model} ${group} ${setting}`.toLowerCase() };
  });

  // Numbers of the main scorer are read once from the table; others are in the data.
  const numbers = new Map();
  const readColumn = (column) => {
    if (!numbers.has(column)) {
      numbers.set(column, rows.map((row) => {
        const number = parseFloat(row.cells[column].dataset.value ?? row.cells[column].textContent);
        return Number.isNaN(number) ? null : number;
      }));
    }
    return numbers.get(column);
  };
  const listValues = (column) => {
    const isTotal = column === places.total || column === places.bar;
    if (state.sort === "group") return cells.map((cell) => -cell.place);
    if (column === places.model || column === places.setting) {
      const field = column === places.model ? "model" : "setting";
      return cells.map((cell) => cell[field].toLowerCase());
    }
    if (state.rules === data.main) return isTotal ? readColumn(places.total) : readColumn(column);
    // Ranks are those of the main scorer; others are shown by their accuracy.
    if (column === places.rank) return rows.map((_, place) => -(data.values[state.rules][place][0]?.[0] ?? -1));
    const part = isTotal ? 0 : column - firstSubject + 1;
    const isScored = isTotal || (part > 0 && part <= data.subjects.length);
    return rows.map((_, place) => (isScored ? data.values[state.rules][place][part]?.[0] ?? null : null));
  };
  const sortRows = () => {
    const values = listValues(state.sort);
    const isUnranked = state.sort === places.rank && state.rules !== data.main;
    const direction = state.down && !isUnranked ? -1 : 1;
    return cells.map((cell, place) => [cell, values[cell.index], place]).sort(([, a, i], [, b, j]) => {
      if (a === null || b === null) return (a === null) - (b === null) || i - j;
      return (a < b ? -direction : a > b ? direction : 0) || i - j;
    }).map(([cell]) => cell);
  };
  const matches = (cell) => {
    const [low, high] = (state.size || "0-Infinity").split("-").map(Number);
    return state.search.toLowerCase().split(/\s+/).every((word) => cell.words.includes(word))
      && ["group", "setting", "weights"].every((field) => !state[field] || cell[field] === state[field])
      && (!state.size || (cell.size > low && cell.size <= high));
  };

  let order = cells;
  let matched = cells;
  let orderKey = `${start.sort} ${start.down} ${data.main}`;
  const arrange = () => {
    const isGrouped = state.sort === "group";
    const key = `${state.sort} ${state.down} ${state.rules}`;
    if (key !== orderKey) {
      orderKey = key;
      order = sortRows();
      table.querySelectorAll("tbody.group").forEach((part) => part.remove());
      if (isGrouped) {
        const groups = new Map();
        for (const cell of order) groups.set(cell.group, [...(groups.get(cell.group) ?? []), cell.row]);
        for (const [group, members] of groups) {
          const head = make("th", { colSpan: heads.length, scope: "rowgroup", textContent: group });
          body.before(make("tbody", { className: "group" }, make("tr", { className: "group" }, head), ...members));
        }
      } else {
        body.append(...order.map((cell) => cell.row));
      }
    }
    matched = order.filter(matches);
    const shown = new Set(isWhole ? matched : matched.slice(0, most));
    let model = null;
    for (const cell of order) {
      cell.row.hidden = !shown.has(cell);
      if (cell.row.hidden) continue;
      cell.row.classList.toggle("again", isGrouped && cell.model === model);
      model = cell.model;
    }
    for (const part of table.querySelectorAll("tbody.group")) part.hidden = ![...part.rows].some((row, place) => place && !row.hidden);
    heads.forEach((head, column) => {
      head.setAttribute("aria-sort", column !== state.sort ? "none" : state.down ? "descending" : "ascending");
    });
    sorter.value = state.sort;
    more.hidden = shown.size === matched.length;
    more.textContent = `Show all ${matched.length} rows`;
    counter.textContent = `${matched.length} of ${rows.length} rows`;
    keepState();
  };
  const sortBy = (column) => {
    const first = !(column <= places.setting || heads[column]?.dataset.sort === "low");
    Object.assign(state, state.sort === column ? { down: !state.down } : { sort: column, down: column === "group" || first });
    arrange();
  };

  let shownRules = data.main;
  let kept = null;
  const showRules = () => {
    if (shownRules === state.rules) return;
    shownRules = state.rules;
    const isMain = state.rules === data.main;
    kept ??= rows.map((row) => [...row.cells].map((cell) => [...cell.childNodes]));
    rows.forEach((row, place) => {
      [...row.cells].forEach((cell, column) => {
        if (column <= places.setting) return;
        if (isMain) {
          cell.replaceChildren(...kept[place][column]);
          return;
        }
        const isTotal = column === places.total || column === places.bar;
        const bounds = data.values[state.rules][place][isTotal ? 0 : Math.max(0, column - firstSubject + 1) || -1];
        if (!bounds) cell.replaceChildren("–");
        else if (column === places.bar) {
          const bar = make("span", { className: "bar" }, make("i"), make("b"));
          ["acc", "lo", "hi"].forEach((name, i) => bar.style.setProperty(`--${name}`, bounds[i]));
          cell.replaceChildren(bar);
        } else {
          const interval = `[${bounds[1].toFixed(1)}, ${bounds[2].toFixed(1)}]`;
          cell.replaceChildren(bounds[0].toFixed(1), make("span", { className: "sub", textContent: interval }));
        }
      });
    });
    note.textContent = isMain ? "" : `Shown by ${data.rules[state.rules]}; rank, failures and bounds belong to ${data.rules[data.main]}.`;
  };

  const visibleColumns = () => heads.map((_, column) => column).filter((column) => column !== places.bar && !heads[column].hidden);
  const cellTexts = (cell) => visibleColumns().map((column) => {
    if (column === places.model) return cell.model;
    if (column === places.setting) return cell.setting;
    const texts = listLines(cell.row.cells[column]);
    if (column !== places.total) return texts[0] ?? "";
    return texts.filter((line) => !line.startsWith("printed")).slice(0, 2).join(" ");
  });
  // The literal word appears only in reports with simulated numbers, so that a search finds them.
  const MARK_OF_MADE_UP = "simulated".toUpperCase();
  const headTexts = () => visibleColumns().map((column) => titles[column] + (heads[column].querySelector(".sim") ? ` (${MARK_OF_MADE_UP})` : ""));
  const isSimulated = (cell) => data.simulated[state.rules][cell.index];
  const writeCsv = () => [[...headTexts(), "Scored by", "Simulated"],
    ...matched.map((cell) => [...cellTexts(cell), data.rules[state.rules], String(isSimulated(cell))])]
    .map((line) => line.map((text) => {
      const safe = /^[=+\-@\t]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
      return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
    }).join(",")).join("\n") + "\n";
  const special = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "–": "--" };
  const escapeLatex = (text) => text.replace(/[\\~^–]|[&%$#_{}]/g, (character) => special[character] ?? `\\${character}`);
  const writeLatex = () => {
    const lines = matched.map((cell) => {
      const [name, ...others] = cellTexts(cell);
      return `${[isSimulated(cell) ? `${name} (${MARK_OF_MADE_UP})` : name, ...others].map(escapeLatex).join(" & ")} \\\\`;
    });
    const layout = visibleColumns().map((column) => (column <= places.setting ? "l" : "r")).join("");
    const count = matched.filter(isSimulated).length;
    const mark = count ? [`% ${MARK_OF_MADE_UP}: ${count} of ${matched.length} rows say nothing about a real model.`] : [];
    return [...mark, `% Scored by ${data.rules[state.rules]}.`, `\\begin{tabular}{${layout}}`, "\\toprule", `${headTexts().map(escapeLatex).join(" & ")} \\\\`, "\\midrule", ...lines, "\\bottomrule", "\\end{tabular}", ""].join("\n");
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

  const press = (textContent, act, properties = {}) => {
    const button = make("button", { type: "button", textContent, ...properties });
    button.addEventListener("click", () => act(button));
    return button;
  };
  const choose = (field, values, act) => {
    const select = make("select", { id: `board-${field}` }, ...values.map(([value, textContent]) => make("option", { value, textContent })));
    select.addEventListener("change", () => act(select.value));
    return select;
  };
  const filterBy = (field, values) => (values.length < 2 ? null
    : choose(field, [["", "All"], ...values], (value) => { state[field] = value; arrange(); }));
  const unique = (field) => [...new Set(cells.map((cell) => cell[field]))].filter(Boolean).map((value) => [value, value]);
  const ranges = [["0-4", "up to 4 B"], ["4-10", "4 to 10 B"], ["10-40", "10 to 40 B"], ["40-Infinity", "over 40 B"]]
    .filter(([range]) => { const [low, high] = range.split("-").map(Number); return cells.some(({ size }) => size > low && size <= high); });
  const titles = heads.map((head) => listLines(head)[0]);
  const search = make("input", { type: "search", id: "board-search", placeholder: "model, group, setting" });
  search.addEventListener("input", () => { state.search = search.value; arrange(); });
  const rules = choose("rules", Object.entries(data.rules), (value) => { state.rules = value; showRules(); arrange(); });
  const selects = {
    group: filterBy("group", unique("group")),
    setting: filterBy("setting", unique("setting")),
    weights: filterBy("weights", unique("weights")),
    size: filterBy("size", ranges),
  };
  const orders = titles.map((title, column) => [column, title]).filter(([column]) => column !== places.bar);
  const sorter = choose("sort", selects.group ? [["group", "Group"], ...orders] : orders,
    (value) => sortBy(value === "group" ? value : Number(value)));

  const boxes = heads.map((_, column) => make("input", { type: "checkbox", checked: true, disabled: column === places.model }));
  const chooser = make("details", { className: "columns" }, make("summary", { textContent: "Columns" }),
    make("div", {}, ...boxes.map((box, column) => (box.disabled ? "" : make("label", {}, box, ` ${titles[column]}`)))));
  chooser.addEventListener("change", () => {
    state.hide = boxes.flatMap((box, column) => (box.checked ? [] : [column])).join(",");
    hideColumns();
    keepState();
  });
  chooser.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !chooser.open) return;
    chooser.open = false;
    chooser.firstChild.focus();
  });
  document.addEventListener("click", (event) => { if (!chooser.contains(event.target)) chooser.open = false; });
  let hiding = "";
  const hideColumns = () => {
    if (hiding === state.hide) return;
    hiding = state.hide;
    const hidden = new Set(hiding.split(",").filter(Boolean).map(Number));
    boxes.forEach((box, column) => { box.checked = !hidden.has(column); });
    for (const row of table.rows) {
      if (row.cells.length === heads.length) heads.forEach((_, column) => { row.cells[column].hidden = hidden.has(column); });
    }
    fitBox();
  };

  const counter = make("span", { className: "muted small" });
  counter.setAttribute("role", "status");
  const note = make("p", { className: "small board-note" });
  const clip = make("textarea", { hidden: true, rows: 6, readOnly: true });
  clip.setAttribute("aria-label", "Text to copy");
  const named = { Group: selects.group, Setting: selects.setting, Weights: selects.weights, Size: selects.size,
    "Scored by": Object.keys(data.rules).length > 1 ? rules : null, "Sort by": sorter };
  const more = press("", () => { isWhole = true; arrange(); }, { className: "more" });
  const box = table.closest(".scroll");
  box.before(make("div", { className: "tools" }, make("label", {}, "Search ", search),
    ...Object.entries(named).filter(([, select]) => select).map(([title, select]) => make("label", {}, `${title} `, select)),
    chooser, press("Copy CSV", (button) => copy(writeCsv(), button)), press("Copy LaTeX", (button) => copy(writeLatex(), button)),
    press("Reset", () => { Object.assign(state, start); isWhole = false; showState(); }), counter), note, clip);
  box.after(more);
  heads.forEach((head, column) => {
    const button = press("", () => sortBy(column), { className: "sort" });
    button.append(...head.childNodes);
    head.append(button);
  });
  // A table that fits needs no box that scrolls sideways, so its head can stay in sight.
  const fitBox = () => {
    box.classList.remove("fits");
    box.classList.toggle("fits", table.offsetWidth <= box.clientWidth);
  };
  let fitting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(fitting);
    fitting = requestAnimationFrame(fitBox);
  });

  const keepState = () => {
    const entries = Object.entries(state).filter(([name, value]) => value !== start[name]);
    const hash = entries.length ? `#board?${new URLSearchParams(entries)}` : "";
    if (hash !== location.hash && (hash || location.hash.startsWith("#board?"))) {
      history.replaceState(null, "", hash || location.pathname + location.search);
    }
  };
  const showState = () => {
    search.value = state.search;
    rules.value = state.rules;
    for (const [field, select] of Object.entries(selects)) if (select) select.value = state[field];
    hideColumns();
    showRules();
    arrange();
  };
  if (location.hash.startsWith("#board?")) {
    const given = new URLSearchParams(location.hash.slice(7));
    for (const name of ["search", "group", "setting", "weights", "size"]) state[name] = given.get(name) ?? "";
    if (Object.hasOwn(data.rules, given.get("rules") ?? "")) state.rules = given.get("rules");
    state.hide = (given.get("hide") ?? "").split(",").map(Number)
      .filter((column) => column > places.model && column < heads.length).join(",");
    const column = given.get("sort") === "group" ? "group" : parseInt(given.get("sort"), 10);
    if (column === "group" || (column >= 0 && column < heads.length)) state.sort = column;
    if (given.has("down")) state.down = given.get("down") !== "false";
  }
  showState();
  table.classList.add("ready");
  requestAnimationFrame(fitBox);
})();
