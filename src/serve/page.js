// Asks for figures and the last duplicates again and again, and shows them.

/** Milliseconds between two questions, and how many rates are shown. */
const EVERY = 2000;
const RATES = 60;

/** The lines of /metrics: name, labels, value. */
function parsed(text) {
  const rows = [];
  for (const line of text.split("\n")) {
    const match = /^twinsplit_([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (match === null) continue;
    const labels = {};
    for (const [, name, value] of (match[2] ?? "").matchAll(/([a-z]+)="((?:[^"\\]|\\.)*)"/g)) {
      labels[name] = value.replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c));
    }
    rows.push({ name: match[1], labels, value: Number(match[3]) });
  }
  return rows;
}

const sum = (rows, name) => rows.filter((row) => row.name === name).reduce((all, row) => all + row.value, 0);

/** How many of a histogram took no longer than each bound, over all of its labels. */
function buckets(rows, name) {
  const upto = new Map();
  for (const row of rows) {
    if (row.name !== `${name}_bucket`) continue;
    const bound = row.labels.le === "+Inf" ? Infinity : Number(row.labels.le);
    upto.set(bound, (upto.get(bound) ?? 0) + row.value);
  }
  return [...upto].sort((one, other) => one[0] - other[0]);
}

/** The bound below which a share of what came between two questions lies. */
function percentile(now, before, share) {
  const since = now.map(([bound, count], place) => [bound, count - (before[place]?.[1] ?? 0)]);
  const all = since.at(-1)?.[1] ?? 0;
  if (all === 0) return "none";
  const [bound] = since.find(([, count]) => count >= share * all);
  if (bound === Infinity) return `> ${time(since.at(-2)[0])}`;
  return `≤ ${time(bound)}`;
}

const time = (seconds) => (seconds < 1 ? `${Number((seconds * 1000).toPrecision(3))} ms` : `${Number(seconds.toPrecision(3))} s`);
const megabytes = (bytes) => `${(bytes / 1048576).toFixed(1)} MB`;

/** What was seen before, and when. */
let before = { rows: [], at: 0 };
const rates = [];

function drawFigures(rows, now) {
  const value = (name) => sum(rows, name);
  const seconds = (now - before.at) / 1000;
  // A restart begins again from nothing.
  const isFirst = before.rows.length === 0 || value("uptime_seconds") < sum(before.rows, "uptime_seconds");
  const came = isFirst ? 0 : value("requests_total") - sum(before.rows, "requests_total");
  const rate = isFirst ? null : came / seconds;
  if (rate !== null) rates.push(rate);
  if (rates.length > RATES) rates.shift();
  const timed = (name, share) => percentile(buckets(rows, name), isFirst ? [] : buckets(before.rows, name), share);
  const totals = [
    ["rate", "Requests a second", rate === null ? "counting" : rate.toFixed(1)],
    ["p50", "Half of the requests", timed("request_duration_seconds", 0.5)],
    ["p99", "99 % of the requests", timed("request_duration_seconds", 0.99)],
    ["sync", "99 % of the fsyncs", timed("sync_duration_seconds", 0.99)],
    ["documents", "Documents", grouped(value("documents"))],
    ["kept", "Kept", grouped(value("documents_kept"))],
    ["memory", "Memory of documents", megabytes(value("memory_bytes"))],
    ["clients", "Clients", grouped(value("clients"))],
    ["errors", "Errors answered", grouped(value("errors_total"))],
  ];
  at("totals").replaceChildren(...totals.map(([name, label, shown]) =>
    el("div", {}, el("dt", {}, label), el("dd", { id: `total-${name}` }, shown))));
  const version = rows.find((row) => row.name === "version_info")?.labels.value ?? "";
  at("subtitle").textContent = `twinsplit ${version} · up ${grouped(value("uptime_seconds"))} s`;
  before = { rows, at: now };
}

function drawRates() {
  const most = Math.max(1, ...rates);
  const bars = rates.map((rate, place) => svg("rect", {
    class: "bar", x: `${(100 * place) / RATES}%`, width: `${90 / RATES}%`,
    y: 100 - (100 * rate) / most, height: (100 * rate) / most,
  }));
  const label = `The last ${rates.length} rates, one each ${EVERY / 1000} s; the highest is ${most.toFixed(1)} a second.`;
  at("rates").replaceChildren(
    el("figure", {}, svg("svg", { role: "img", "aria-label": label, height: 100 }, ...bars)),
    el("p", { class: "quiet" }, label));
}

function drawNamespaces(rows) {
  const of = (metric, name) =>
    rows.find((row) => row.name === metric && row.labels.namespace === name)?.value ?? 0;
  const names = rows.filter((row) => row.name === "namespace_documents").map((row) => row.labels.namespace);
  const row = (name) => el("tr", {}, el("th", { scope: "row" }, idText(name)),
    ...["namespace_documents", "namespace_documents_kept", "namespace_memory_bytes"]
      .map((metric) => el("td", {}, grouped(of(metric, name)))));
  at("namespaces").replaceChildren(...names.map(row));
}

/** An id as the service writes it: a text, or hex digits where it is none. */
const idOf = (id) => (typeof id === "string" ? idText(id) : idText(`hex ${id.hex}`));

/** Why one document is a duplicate of another. */
function why({ verdict, compared }) {
  const parts = [];
  if (verdict.distance !== undefined) {
    const allowed = compared?.distance_allowed;
    parts.push(`distance ${verdict.distance}${allowed === undefined ? "" : ` of ${allowed} allowed`}`);
  }
  parts.push(`by ${verdict.measure}`);
  if (compared?.features_shared !== undefined) {
    const { features_first: dropped, features_second: kept, features_shared: shared } = compared;
    parts.push(`${grouped(shared)} features in both, of ${grouped(dropped)} and ${grouped(kept)}`);
  }
  if (compared === undefined) parts.push("one of the two is forgotten, or of a run that is not committed");
  return parts.join(", ");
}

function drawRecent(found) {
  const side = (title, id, text) => el("div", { class: "document" },
    el("p", {}, `${title} `, idOf(id)),
    text === undefined ? null : el("div", { class: "text" }, ...visibleNodes(text)));
  const articles = found.map((one) => el("article", { class: "found" },
    el("p", { class: "quiet" }, new Date(one.time).toISOString(), " in ", idText(one.namespace)),
    el("div", { class: "columns" },
      side("Kept", one.verdict.of, one.text_of),
      side("Dropped", one.id, one.text)),
    el("p", { class: "why" }, why(one))));
  at("recent").replaceChildren(...(articles.length > 0 ? articles : [el("p", {}, "There were none yet.")]));
}

async function ask(path) {
  const answer = await fetch(path, { cache: "no-store" });
  if (!answer.ok) throw new Error(`${path} answers ${answer.status}`);
  return answer;
}

async function refresh() {
  try {
    const rows = parsed(await (await ask("/metrics")).text());
    drawFigures(rows, performance.now());
    drawRates();
    drawNamespaces(rows);
    drawRecent((await (await ask("/v1/recent")).json()).recent);
    at("state").className = "";
    at("state").textContent = "ready";
  } catch (error) {
    at("state").className = "gone";
    at("state").textContent = `not reached at ${new Date().toLocaleTimeString()}: ${error.message}`;
  }
  setTimeout(refresh, EVERY);
}

refresh();
