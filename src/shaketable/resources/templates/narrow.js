// A chart for a place narrower than it was made for: panels and pictures one below the other, boxes that lie, long names
// in lines. It reads the forms of `report/charts`, whose panels, rows and names are fields of the data.
const LETTER = 6.8; // pixels, of a letter of 12
const LINE = 14; // pixels, of a line of them
const NAMES = 0.36; // of a place, for the names beside a panel

// `room`: pixels of the place; `width`: of each panel.
function narrowed(spec, room, width) {
  const own = structuredClone(spec);
  own.config = { ...own.config, lineBreak: "\n", padding: 4 };
  narrow(own, { room, width, rows: [], datasets: own.datasets ?? {} });
  return own;
}

function narrow(part, outer, outside = null) {
  const titles = outside ?? new Set();
  const place = { ...outer, titles, rows: part.data?.values ?? outer.datasets[part.data?.name] ?? outer.rows };
  if (part.hconcat && !part.hconcat.some(isMargin)) {
    part.vconcat = part.hconcat;
    delete part.hconcat;
  }
  if (part.facet) stack(part, place);
  if (part.width && !isMargin(part)) part.width = place.width;
  const views = part.layer ?? [part];
  if (views.some((view) => view.encoding?.x?.type === "nominal")) part.height = { step: 40, for: "position" };
  for (const view of views.filter((view) => view.encoding)) fit(view, part, place);
  if (part.spec) narrow(part.spec, place, titles);
  for (const one of [part.hconcat, part.vconcat].flat().filter(Boolean)) narrow(one, place);
  if (part.title?.text) titles.add(part.title.text);
  const text = inLines([...titles].join(" · "), place.room);
  // What is measured stands once above all panels: a turned line has no room beside them.
  const look = { anchor: "start", color: "currentColor", fontSize: 12, fontWeight: "normal" };
  if (text && !outside) part.title = { text, limit: place.room, ...look };
}

function isMargin(part) {
  return part.width <= 100 && part.encoding?.y?.axis === null; // a density at the edge of a picture, which stays there
}

function stack(part, place) {
  const { row, column } = part.facet;
  const by = (part.facet.field ? [part.facet] : [row, column]).filter((one) => one && one.header !== null);
  const facet = { ...by.at(-1) };
  if (by.length > 1) {
    const joined = `datum.${row.field} + ' · ' + datum.${column.field}`;
    part.transform = [...(part.transform ?? []), { calculate: joined, as: "place" }];
    facet.field = "place";
    facet.sort = row.sort.flatMap((above) => column.sort.map((beside) => `${above} · ${beside}`));
  }
  // A panel without a mark keeps the others in their columns, and here there is one column.
  if (part.data?.values) part.data.values = place.rows.filter((row) => "guide" in row || isDrawn(row));
  const label = inLinesExpression("datum.label", place.width / 1.2); // its letters are bold
  const header = { labelOrient: "top", labelAnchor: "start", labelLimit: place.room, labelFontSize: 12 };
  facet.header = { ...header, title: null, labelExpr: label };
  Object.assign(part, { facet, columns: 1, spacing: 18 });
  part.resolve = { ...part.resolve, axis: { ...part.resolve?.axis, x: "independent" } };
}

function isDrawn(row) {
  return (row.value ?? row.at_least ?? null) !== null;
}

function fit(view, part, place) {
  const { encoding, mark } = view;
  if (encoding.x?.type === "nominal") turn(view);
  // A finger that moves the page moves no chart.
  if (view.params) view.params = view.params.filter((param) => param.name !== "zoom");
  delete mark.clip;
  const measured = encoding.y?.type === "nominal" && encoding.x?.type !== "ordinal" ? "x" : "y";
  for (const [name, channel] of Object.entries(encoding)) {
    if (name === measured && channel.title) place.titles.add(channel.title);
    if (name === measured) channel.title = null;
    if (channel.title) channel.title = inLines(channel.title, place.width);
    if (channel.legend) fitLegend(channel, place);
    if (name === "x" && channel.type === "ordinal") channel.axis = { ...channel.axis, labelOverlap: true };
    if (name === "text" && encoding.x?.type === "ordinal") fitNumbers(channel, encoding.x.field, place);
    if (name === "y" && channel.type === "nominal" && channel.axis !== null) nameLines(channel, part, place);
  }
}

// Boxes lie, so that their names stand beside them.
function turn({ encoding, mark }) {
  const { x, y, xOffset } = encoding;
  Object.assign(encoding, { x: y, y: { ...x, axis: { ticks: false } } });
  if (xOffset) encoding.yOffset = xOffset;
  delete encoding.xOffset;
  if (mark.type === "boxplot") mark.size = 24;
}

function nameLines(channel, part, place) {
  const room = NAMES * place.room;
  const names = [...new Set(place.rows.map((row) => String(row[channel.field] ?? "")))];
  const height = LINE * Math.max(...names.map((name) => inLines(name, room).split("\n").length), 1) + 4;
  const beside = (part.layer ?? [part]).map((view) => view.encoding?.yOffset).find((one) => one?.type === "nominal");
  const n = beside ? new Set(place.rows.map((row) => row[beside.field])).size : 1; // marks of a name share its step
  if (part.height?.step) part.height = { ...part.height, step: Math.max(part.height.step, height / n) };
  const label = inLinesExpression("datum.label", room);
  const labelOffset = { expr: `-${LINE / 2} * (length(split(${label}, '\\n')) - 1)` };
  channel.axis = { ...channel.axis, labelLimit: room + LETTER, labelExpr: label, labelOffset };
}

// Numbers in cells, without what all of them have where there is no room for it.
function fitNumbers(channel, field, place) {
  const n = new Set(place.rows.map((row) => row[field])).size;
  if (place.width / n > 5 * LETTER) return;
  const isShare = channel.format?.endsWith("%");
  const text = isShare ? "format(100 * datum.value, '.0f')" : "replace(format(datum.value, '.2f'), regexp('^0'), '')";
  for (const name of Object.keys(channel)) delete channel[name];
  channel.value = { expr: text };
}

function fitLegend(channel, place) {
  const legend = (channel.legend = { ...channel.legend, titleLimit: place.room, labelLimit: place.room });
  if (legend.orient) Object.assign(legend, { orient: "top", direction: "horizontal", gradientLength: 200 });
  if (!legend.columns) return;
  const longest = Math.max(...channel.scale.domain.map((name) => name.length));
  legend.columns = Math.max(1, Math.min(legend.columns, Math.floor(place.width / (longest * LETTER + 48))));
  legend.labelExpr = inLinesExpression("datum.label", place.width - 48);
}

// Words in as many lines as they need; a word that is longer than a line is broken.
function letters(width) {
  return Math.max(6, Math.floor(width / LETTER));
}
function inLines(text, width) {
  const n = letters(width);
  return text.replace(new RegExp(`(.{1,${n}})(?: +|$)|(.{${n}})`, "g"), "$1$2\n").trim();
}
function inLinesExpression(label, width) {
  const n = letters(width);
  return `trim(replace(${label}, regexp('(.{1,${n}})(?: +|$)|(.{${n}})', 'g'), '$1$2\\n'))`;
}
