// Interactive figures. Without scripts and in print the static drawing stays; otherwise Vega
// redraws it when it becomes visible. Nothing is evaluated or fetched.
"use strict";
(() => {
  const names = { low: "lower bound", high: "upper bound", line: "name" };
  const inner = /^(row|order|strength|offset|bin|opacity|place)$|_sort_index$|_(start|end)$|^_/;
  const refuse = () => Promise.reject(new Error("a figure loads nothing"));
  const box = Object.assign(document.createElement("div"), { className: "tooltip", hidden: true });
  box.setAttribute("role", "status");
  document.body.append(box);

  const write = (value) => (typeof value === "number" ? String(Number(value.toPrecision(4))) : String(value));
  const explain = (_, event, item, value) => {
    box.hidden = value === null || typeof value !== "object";
    if (box.hidden) return;
    const lines = Object.entries(value)
      .filter(([name, entry]) => !inner.test(name) && entry !== null && entry !== "" && typeof entry !== "object")
      .map(([name, entry]) => `${names[name] ?? name.replaceAll("_", " ")}: ${write(entry).split("\u241f")[0]}`);
    box.hidden = lines.length === 0;
    box.textContent = lines.join("\n");
    const space = { x: innerWidth - box.offsetWidth - 8, y: innerHeight - box.offsetHeight - 8 };
    box.style.left = `${Math.max(8, Math.min(event.clientX + 14, space.x))}px`;
    box.style.top = `${Math.max(8, Math.min(event.clientY + 14, space.y))}px`;
  };

  // On narrow screens a figure is redrawn in the available width: panels stand below each other,
  // names get less room, and titles, names and legends more lines. Only a heat map of many columns
  // is wider, with short names so that its squares are in sight.
  const narrow = 700;
  const wrap = (text, letters) => [].concat(text ?? []).flatMap((line) => {
    const lines = [""];
    for (const word of String(line).split(" ")) {
      if (lines.at(-1) && lines.at(-1).length + word.length >= letters) lines.push("");
      lines.push(`${lines.pop()} ${word}`.trim());
    }
    return lines;
  });
  // A name that is too long has two lines, the second from a dot or a bracket.
  const breakLong = (room) => {
    const isLong = `length(datum.label) * 6 > ${room}`;
    return {
      text: { signal: `${isLong} ? split(replace(datum.label, regexp(" · | (?=\\\\()"), "\\n"), "\\n") : datum.label` },
      fontSize: { signal: `${isLong} ? 10 : 12` },
      dy: { signal: `${isLong} ? -5 : 0` },
      lineHeight: { value: 11 },
    };
  };
  const fitWidth = (specification, room) => {
    const axes = specification.axes ?? [];
    const panel = (specification.signals ?? []).find(({ name }) => name === "child_width");
    const isMap = axes.some((axis) => axis.orient === "top");
    const names = Math.round(room * (isMap ? 0.35 : 0.5));
    if (panel) {
      specification.layout.columns = 1;
      panel.value = Math.min(panel.value, room - 70);
    } else if (specification.autosize?.type === "fit-x" && typeof specification.width === "number") {
      const squares = isMap ? specification.data.flatMap(({ values }) => values ?? []) : [];
      const side = Math.max(44, ...squares.map(({ text }) => 6.5 * (text ?? "").length));
      const columns = new Set(squares.map((square) => square.column)).size;
      specification.width = Math.max(300, room, names + side * columns);
    }
    for (const axis of axes) {
      if (axis.orient === "left" && axis.labels !== false) {
        axis.labelLimit = names;
        axis.encode = { labels: { update: breakLong(names) }, ...axis.encode };
      } else if (axis.orient === "top") axis.labelAngle = -60;
      else if (axis.title) axis.title = wrap(axis.title, Math.floor((room - names) / 6));
    }
    for (const legend of specification.legends ?? []) {
      Object.assign(legend, { columns: 1, labelLimit: room - 60 });
      const { text } = breakLong(room - names - 40);
      const labels = legend.encode?.labels;
      legend.encode = { ...legend.encode, labels: { ...labels, update: { ...labels?.update, text } } };
    }
    const title = specification.title;
    if (title) {
      title.frame = "bounds";
      title.text = wrap(title.text, Math.floor(room / 8.6));
      title.subtitle = wrap(title.subtitle, Math.floor(room / 6.4));
    }
  };

  // Vega is unpacked for the first figure that is seen; the policy allows this text alone.
  const unpack = async () => {
    const bytes = Uint8Array.from(atob(JSON.parse(document.getElementById("vega").textContent)), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
  };
  let unpacked = null;

  const draw = async (figure) => {
    unpacked ??= unpack();
    await unpacked;
    const specification = JSON.parse(figure.querySelector("script").textContent);
    const box = figure.querySelector(".scroll");
    const room = box.clientWidth;
    if (room < narrow) fitWidth(specification, room);
    const place = document.createElement("div");
    place.className = "interactive";
    const still = figure.querySelector("svg");
    const runtime = vega.parse(specification, null, { ast: true });
    const view = new vega.View(runtime, {
      expr: omibenchInterpreter,
      renderer: "svg",
      hover: true,
      tooltip: explain,
      loader: { load: refuse, sanitize: refuse, http: refuse, file: refuse },
      logLevel: vega.Error,
    });
    place.hidden = true;
    still.after(place);
    await view.initialize(place).runAsync();
    const drawing = place.querySelector("svg");
    for (const name of ["role", "aria-label"]) drawing.setAttribute(name, still.getAttribute(name));
    drawing.setAttribute("viewBox", drawing.getAttribute("viewBox") ?? `0 0 ${drawing.getAttribute("width")} ${drawing.getAttribute("height")}`);
    place.hidden = false;
    still.classList.add("still");
    figure.dataset.state = "interactive";
  };

  // The bar marks the part that is read: the one of its last link, until the page is scrolled.
  const bar = document.querySelector("nav.contents");
  const links = new Map([...bar.children].map((link) => [link.hash.slice(1), link]));
  let isFollowed = false;
  const mark = (part) => {
    for (const link of links.values()) link.removeAttribute("aria-current");
    const link = links.get(part.id);
    link.setAttribute("aria-current", "true");
    bar.scrollLeft = link.offsetLeft - bar.offsetLeft - 40;
  };
  const reading = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting && !isFollowed) mark(target);
  }, { rootMargin: "-64px 0px -85% 0px" });
  document.querySelectorAll("section.part").forEach((part) => reading.observe(part));
  for (const name of ["wheel", "touchmove", "keydown"]) addEventListener(name, () => { isFollowed = false; }, { passive: true });

  // A link into a folded part opens it, and printing shows all parts.
  const open = (node) => {
    for (let fold = node?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  };
  const decode = (text) => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text; // a percent sign that encodes nothing
    }
  };
  const follow = () => {
    const target = document.getElementById(decode(location.hash.slice(1)));
    if (!target) return;
    isFollowed = true;
    open(target);
    const part = target.closest("section.part");
    if (part) mark(part);
    target.scrollIntoView();
  };
  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => document.querySelectorAll("details.fold").forEach((fold) => { fold.open = true; }));
  follow();

  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      watch.unobserve(entry.target);
      draw(entry.target).catch(() => { entry.target.dataset.state = "still"; });
    }
  }, { rootMargin: "200px" });
  document.querySelectorAll("figure[data-figure]").forEach((figure) => watch.observe(figure));
})();
