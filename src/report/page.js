// The page itself: totals, the list of clusters, the search, and the choice of two documents.

function drawTotals() {
  const folder = visible(report.folder);
  document.title = `twinsplit report: ${folder}`;
  const features = visible(report.parameters.features);
  at("subtitle").append(`${folder} · ${report.chain} · ${features} · ${report.measure}, ${report.limit}`);
  const dropped = report.members - report.clusters;
  const share = report.documents > 0 ? ` (${(100 * dropped / report.documents).toFixed(1)}\u00a0%)` : "";
  const totals = [
    ["documents", "Documents", grouped(report.documents)],
    ["without", "Documents without features", grouped(report.without)],
    ["clusters-count", "Clusters", grouped(report.clusters)],
    ["members", "Documents in clusters", grouped(report.members)],
    ["dropped", "Documents to drop", grouped(dropped) + share],
    ["below", ALIKE === "distance" ? "Of these farther than --distance from the kept document" : "Of these below tau to the kept document",
      grouped(report.below) + (report.leastKept === null ? "" : `, ${ALIKE === "distance" ? "greatest" : "least"} ${ALIKE} ${report.leastKept}`)],
    ["pairs", "Pairs", report.pairs === null ? "not written" : grouped(report.pairs)],
    ["seconds", "Time", `${report.seconds} s`],
  ];
  if (report.audit !== null) {
    const { recall, interval, found, pairs } = report.audit;
    const [share, of] = [recall.toFixed(4), `${grouped(found)} of ${count(pairs, "pair", "pairs")}`];
    const between = interval?.map((bound) => bound.toFixed(4)).join(" to ");
    totals.push(["recall", "Recall by the audit", between === undefined
      ? `${share}, counted: ${of} of different sets`
      : `${share} (${between} with 95\u00a0% confidence): ${of} of an exact join of some sets`]);
  }
  at("totals").append(...totals.map(([name, label, value]) =>
    el("div", {}, el("dt", {}, label), el("dd", { id: `total-${name}` }, value))));
  at("measure").append(`${report.title}: ${report.formula}, ${report.words}`);
  if (report.warnings.length > 0) {
    at("warnings").append(
      el("h3", {}, count(report.warnings.length, "warning of the run", "warnings of the run")),
      el("ul", {}, ...report.warnings.map((warning) => el("li", {}, visible(warning)))));
  }
  const rows = Object.entries(report.parameters).map(([name, value]) =>
    el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, visible(String(value)))));
  const inputs = report.inputs.map((input) =>
    el("li", {}, idText(input.path), input.bytes === undefined ? " (a stream)" : ` (${grouped(input.bytes)} bytes)`));
  at("parameters").append(
    el("p", { class: "quiet" }, `twinsplit ${report.program}, engine ${report.engine}, `
      + count(report.threads, "thread", "threads")),
    el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Option"), el("th", { scope: "col" }, "Value"))),
      el("tbody", {}, ...rows)),
    el("h3", {}, "Inputs"), el("ul", {}, ...inputs));
}

/** How much of the answer the page holds, and what raises it. */
function embeddedText() {
  const shown = report.shown.reduce((sum, cluster) => sum + cluster.members.length, 0);
  const what = report.texts ? "the texts of" : "the ids of";
  const parts = [`This page holds ${what} ${grouped(shown)} of ${count(report.members, "document", "documents")} in clusters, `
    + `from ${report.shown.length < report.clusters ? (report.order === "size" ? "the largest " : "the most risky ") : ""}`
    + `${grouped(report.shown.length)} of `
    + `${count(report.clusters, "cluster", "clusters")}.`];
  if (report.shown.length < report.clusters) parts.push(`--clusters ${report.clusters} holds all clusters.`);
  const largest = report.shown.reduce((most, cluster) => Math.max(most, cluster.size), 0);
  if (largest > report.bounds.members) {
    parts.push(`Of a cluster it holds at most ${report.bounds.members} documents; --members ${largest} holds all.`);
  }
  if (report.cut > 0) {
    parts.push(`${count(report.cut, "text is", "texts are")} cut after ${grouped(report.bounds.text)} bytes; --text raises that.`);
  }
  if (!report.texts) parts.push("It shows no texts: --text 0 asked for none.");
  return parts.join(" ");
}

const chosen = [];
const same = (x, y) => x.cluster === y.cluster && x.member === y.member;
const idOf = ({ cluster, member }) => report.shown[cluster].members[member][0];

/** A click chooses the first, then the second document; a further one takes the second's place. */
function choose(one) {
  const known = chosen.findIndex((other) => same(one, other));
  if (known >= 0) chosen.splice(known, 1);
  else if (chosen.length < 2) chosen.push(one);
  else chosen[1] = one;
  drawChoice();
  if (known < 0 && chosen.length === 2) openPair();
}

function openPair() {
  const dialog = at("pair");
  fillPair(dialog, chosen[0], chosen[1], true);
  if (!dialog.open) dialog.showModal();
  at("pair-title").focus();
  dialog.scrollTop = 0;
}

function drawChoice() {
  for (const button of document.querySelectorAll(".member")) {
    const one = { cluster: Number(button.dataset.cluster), member: Number(button.dataset.member) };
    const place = chosen.findIndex((other) => same(one, other));
    button.setAttribute("aria-pressed", String(place >= 0));
    button.querySelector(".letter").textContent = place >= 0 ? "AB"[place] : "";
  }
  const tray = at("tray");
  tray.hidden = chosen.length === 0;
  tray.replaceChildren(
    ...chosen.map((one, place) => el("span", { class: "choice" }, el("span", { class: "letter" }, "AB"[place]), " ", idText(idOf(one)))),
    chosen.length === 2
      ? el("button", { type: "button", id: "compare", click: openPair }, "Compare")
      : el("span", {}, "Choose a second document."),
    el("button", { type: "button", id: "clear", click: () => { chosen.length = 0; drawChoice(); } }, "Clear"));
  // What is scrolled to, by tabbing too, must not come to lie under the tray.
  const room = `${tray.hidden ? 0 : tray.offsetHeight + 8}px`;
  document.documentElement.style.scrollPaddingBottom = room;
  document.body.style.marginBottom = room;
}

function memberRow(cluster, member) {
  const [id, jaccard, part] = report.shown[cluster].members[member];
  const data = textsOf(cluster);
  const head = [
    el("span", { class: "letter", "aria-hidden": "true" }), idText(id),
    jaccard === null ? el("span", { class: "badge" }, "kept") : el("span", { class: "number" }, jaccard),
    part === null || part === undefined ? null : el("span", { class: "part" }, lostText(part)),
  ];
  if (!data) return el("li", { class: "row" }, el("div", { class: "member-head" }, ...head));
  const start = data[member].text.slice(0, 300).replace(/\s+/gu, " ").trim().slice(0, 160);
  const button = el("button", {
    type: "button", class: "member", "aria-pressed": "false", "data-cluster": cluster, "data-member": member,
    click: () => choose({ cluster, member }),
  }, el("span", { class: "member-head" }, ...head),
  el("span", { class: "start", dir: "auto" }, ...(start === "" ? ["(an empty beginning)"] : visibleNodes(start))));
  const withKept = jaccard === null ? null : el("button", {
    type: "button", class: "with-kept", "aria-label": `Compare ${visible(id)} with the kept document`,
    click: () => {
      chosen.splice(0, 2, { cluster, member: 0 }, { cluster, member });
      drawChoice();
      openPair();
    },
  }, "compare with kept");
  return el("li", { class: "row" }, button, withKept);
}

/** Lists the members of a cluster when it is first opened. */
function fillCluster(details, cluster) {
  if (details.dataset.filled) return;
  details.dataset.filled = "yes";
  const { size, members } = report.shown[cluster];
  const hint = report.texts
    ? "Choose two documents, here or in two clusters, to see them side by side. "
    : "";
  const left = size - members.length;
  details.append(
    el("p", { class: "quiet" }, `${hint}Each number is the ${ALIKE} to the kept document`
      + `${hasParts ? ", and what is lost the share of a document's features that the kept one has not" : ""}.`),
    ...(report.texts && members.length > 1 ? lossesButton(cluster) : []),
    el("ol", { class: "members" }, ...members.map((_, member) => memberRow(cluster, member))),
    ...(left > 0 ? [el("p", { class: "quiet" },
      `${count(left, "more document is", "more documents are")} not in this page; --members ${size} adds them.`)] : []));
  drawChoice();
}

function drawClusters() {
  at("embedded").append(embeddedText());
  drawSorting();
  drawList();
}

function goTo(cluster, member) {
  turnTo(cluster);
  const details = at(`cluster-${cluster}`);
  fillCluster(details, cluster);
  details.open = true;
  const row = details.querySelectorAll(".row")[member];
  (row.querySelector("button") || details.querySelector("summary")).focus();
  row.scrollIntoView({ block: "center" });
}

let index = null;
/** All ids that the page knows, with their places. */
function ids() {
  if (index) return index;
  index = new Map();
  report.shown.forEach((cluster, number) => {
    cluster.members.forEach(([id], member) => index.set(id, { cluster: number, member }));
    cluster.others.forEach((id) => index.set(id, { cluster: number }));
  });
  report.others.forEach(([kept, size, listed]) => listed.forEach((id) => index.set(id, { kept, size })));
  return index;
}

/** The form of an id in the answer: control characters and the backslash are written as \xHH. */
const escaped = (id) => id.replace(/[\x00-\x1f\x7f\\]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);

function foundLine(id, place) {
  if (place.member !== undefined) {
    const cluster = report.shown[place.cluster];
    const jaccard = cluster.members[place.member][1];
    const role = jaccard === null ? "kept" : `dropped, ${jaccard}`;
    return el("li", {}, el("button", { type: "button", class: "hit", click: () => goTo(place.cluster, place.member) }, idText(id)),
      ` ${role}, in cluster ${place.cluster + 1} of ${count(cluster.size, "document", "documents")}`);
  }
  if (place.cluster !== undefined) {
    const { size, members } = report.shown[place.cluster];
    return el("li", {}, idText(id), ` is in cluster ${place.cluster + 1} of ${grouped(size)} documents, of which this page `
      + `holds ${members.length}; its text is not embedded. --members ${size} embeds it.`);
  }
  return el("li", {}, idText(id), " is in the cluster of ", idText(place.kept),
    ` (${count(place.size, "document", "documents")}), whose texts are not embedded. --clusters ${report.clusters} embeds them.`);
}

const HITS = 20;
function search() {
  const query = at("query").value;
  const found = at("found");
  if (query === "") return found.replaceChildren();
  const exact = [query, escaped(query)].find((id) => ids().has(id));
  const near = [];
  let more = 0;
  for (const [id, place] of ids()) {
    if (id !== exact && id.includes(query)) {
      if (near.length < HITS) near.push(foundLine(id, place));
      else more += 1;
    }
  }
  const lines = [];
  if (exact !== undefined) {
    lines.push(el("ul", { id: "exact" }, foundLine(exact, ids().get(exact))));
  } else if (report.unlisted === 0) {
    lines.push(el("p", { id: "exact" }, "No cluster has a document with the id ", idText(query),
      ": it stands alone in the input, or is not in it."));
  } else {
    lines.push(el("p", { id: "exact" }, "The id ", idText(query), " is none that this page knows. It is in no cluster, or "
      + `is one of ${count(report.unlisted, "document", "documents")} in clusters that the page does not list; --ids `
      + `${report.members} lists all.`));
  }
  if (near.length > 0) {
    lines.push(el("p", { class: "quiet" }, `Ids that contain this${more > 0 ? `, the first ${HITS} of ${grouped(near.length + more)}` : ""}:`),
      el("ul", {}, ...near));
  }
  return found.replaceChildren(...lines);
}

drawTotals();
drawCharts();
drawClusters();
at("search").addEventListener("submit", (event) => {
  event.preventDefault();
  search();
  const hit = document.querySelector("#exact .hit");
  if (hit) hit.click();
});
at("query").addEventListener("input", search);
