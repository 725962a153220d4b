// The list of all clusters that the page knows, a page of it at a time: those with texts, and behind them those of which it has ids alone.

const PER_PAGE = 50;

/** All of them, in the order in which the page came: { number, kept, size, least, part, script, ids }. */
const listed = [
  ...report.shown.map((cluster, number) => ({ number, kept: cluster.members[0][0], size: cluster.size, least: cluster.least,
    part: cluster.part, script: cluster.script, ids: [] })),
  ...report.others.map(([kept, size, ids, least, part, script]) => ({ number: null, kept, size, least, part, script, ids })),
];

const UNKNOWN = "unknown";
const scriptOf = (cluster) => cluster.script ?? UNKNOWN;

const byKept = (x, y) => (x.kept < y.kept ? -1 : x.kept > y.kept ? 1 : 0);
const bySize = (x, y) => y.size - x.size || byKept(x, y);
const ORDERS = {
  risk: ["most lost first", (x, y) => (x.part ?? "2").localeCompare(y.part ?? "2", "en") || bySize(x, y)],
  size: ["largest first", bySize],
  least: [`least alike first`, (x, y) => {
    const [a, b] = [x, y].map(({ least }) => (least === null ? Infinity : Number(least)));
    return a === b ? bySize(x, y) : ALIKE === "distance" ? b - a : a - b;
  }],
  script: ["by script", (x, y) => scriptOf(x).localeCompare(scriptOf(y), "en") || bySize(x, y)],
};
const hasParts = listed.some(({ part }) => part !== null && part !== undefined);

const view = { order: report.order, script: "", page: 0 };

/** The clusters of the view, sorted. */
function sorted() {
  const those = listed.filter((cluster) => view.script === "" || scriptOf(cluster) === view.script);
  return those.sort(ORDERS[view.order][1]);
}

/** A part in percent, rounded so that nothing that is lost is called nothing. */
function lostText(part) {
  const lost = 100 * (1 - Number(part));
  return part === "1.000000" ? "nothing lost" : `${lost < 0.1 ? "under 0.1" : lost.toFixed(1)}\u00a0% lost`;
}

/** The line of a cluster, which its documents are behind. */
function summaryOf({ kept, size, least, part, script }) {
  return el("summary", {},
    el("span", { class: "size" }, count(size, "document", "documents")), " ",
    idText(kept), " ",
    part === null || part === undefined ? null
      : el("span", { class: "part", title: "of the dropped document of which the least stands in the kept one" },
        `${part === "1.000000" || size === 2 ? "" : "up to "}${lostText(part)}`), " ",
    least === null ? null : el("span", { class: "quiet least" }, `least alike ${least}`), " ",
    script === null || script === undefined ? null : el("span", { class: "quiet script" }, script));
}

const lines = new Map();
/** The element of a cluster, which stays what it is when the page is turned. */
function lineOf(cluster) {
  if (!lines.has(cluster)) {
    const { number, ids, size } = cluster;
    const details = number === null
      ? el("details", { class: "cluster" }, summaryOf(cluster),
        el("p", { class: "quiet" }, "This page holds no texts of it. ",
          ids.length < size ? `Of its ${grouped(size)} documents it lists ${grouped(ids.length)}:` : "Its documents:"),
        el("ul", { class: "ids" }, ...ids.map((id) => el("li", {}, idText(id)))))
      : el("details", { class: "cluster", id: `cluster-${number}`,
        toggle: () => details.open && fillCluster(details, number) }, summaryOf(cluster));
    lines.set(cluster, el("li", {}, details));
  }
  return lines.get(cluster);
}

/** Draws the page of the list that is looked at. */
function drawList() {
  const all = sorted();
  const pages = Math.max(1, Math.ceil(all.length / PER_PAGE));
  view.page = Math.min(Math.max(view.page, 0), pages - 1);
  const first = view.page * PER_PAGE;
  const here = all.slice(first, first + PER_PAGE);
  at("clusters").style.counterReset = `cluster ${first}`;
  at("clusters").replaceChildren(...here.map(lineOf));
  at("listed").replaceChildren(here.length === 0 ? "No clusters." : `${grouped(first + 1)} to ${grouped(first + here.length)} of `
    + `${count(all.length, "cluster", "clusters")}, ${ORDERS[view.order][0]}`);
  const turn = (id, label, page) => el("button", { type: "button", id, disabled: page < 0 || page >= pages,
    click: () => {
      view.page = page;
      drawList();
      at("clusters-title").scrollIntoView();
    } }, label);
  at("pages").hidden = pages === 1;
  at("pages").replaceChildren(turn("first-page", "First", view.page === 0 ? -1 : 0), turn("previous-page", "Previous", view.page - 1),
    el("span", {}, `Page ${grouped(view.page + 1)} of ${grouped(pages)}`), turn("next-page", "Next", view.page + 1),
    turn("last-page", "Last", view.page === pages - 1 ? pages : pages - 1));
  drawChoice();
}

/** Turns to the page that has a cluster with texts. */
function turnTo(number) {
  if (!sorted().some((cluster) => cluster.number === number)) {
    view.script = "";
    at("script").value = "";
  }
  view.page = Math.floor(sorted().findIndex((cluster) => cluster.number === number) / PER_PAGE);
  drawList();
}

function drawSorting() {
  const option = (value, text, chosen) => el("option", { value, selected: value === chosen }, text);
  const change = (name) => (event) => {
    view[name] = event.target.value;
    view.page = 0;
    drawList();
  };
  const orders = Object.keys(ORDERS).filter((order) => order !== "risk" || hasParts);
  const scripts = new Map();
  listed.forEach((cluster) => scripts.set(scriptOf(cluster), (scripts.get(scriptOf(cluster)) ?? 0) + 1));
  const names = [...scripts.keys()].sort((x, y) => scripts.get(y) - scripts.get(x) || x.localeCompare(y, "en"));
  at("sorting").append(
    el("label", {}, "Order ", el("select", { id: "order", change: change("order") },
      ...orders.map((order) => option(order, ORDERS[order][0], view.order)))),
    el("label", {}, "Script ", el("select", { id: "script", change: change("script") },
      option("", `all (${grouped(listed.length)})`, ""),
      ...names.map((name) => option(name, `${name} (${grouped(scripts.get(name))})`, "")))));
  at("sorting").addEventListener("submit", (event) => event.preventDefault());
}

/** What of each dropped document of a cluster does not stand in the kept one, most lost first: the passages in colour, what both have folded. */
function lossesOf(cluster) {
  const documents = textsOf(cluster);
  const numbers = documents.map((data) => new Set(decodeMarks(data.shared).map((mark) => mark.number)));
  const members = report.shown[cluster].members.map(([id, , part], member) => ({ id, part: part ?? null, member })).slice(1);
  members.sort((x, y) => (x.part ?? "2").localeCompare(y.part ?? "2", "en") || x.member - y.member);
  return members.map(({ id, part, member }) => {
    const common = new Set([...numbers[member]].filter((number) => numbers[0].has(number)));
    const stretches = stretchesOf(documents[member], common);
    const lost = lengthOf(stretches.filter(({ kind }) => kind === "differs"));
    const [shown, bytes] = [documents[member].shown, documents[member].bytes];
    const cut = shown < bytes ? ` in the first ${grouped(shown)} of its ${grouped(bytes)} bytes` : "";
    return el("section", { class: "loss" },
      el("h3", {}, idText(id), part === null ? null : el("span", { class: "part" }, lostText(part))),
      lost === 0
        ? el("p", { class: "quiet" }, `All that the run has compared${cut} stands in the kept document.`)
        : el("p", { class: "quiet" }, `${grouped(lost)} characters${cut} stand under no feature that the kept document has:`),
      lost === 0 ? null : markedText(stretches, true));
  });
}

/** The button that shows it, and its place. */
function lossesButton(cluster) {
  const place = el("div", { class: "losses" });
  const button = el("button", { type: "button", class: "show-losses", "aria-expanded": "false",
    click: () => {
      const open = place.childElementCount > 0;
      button.setAttribute("aria-expanded", String(!open));
      button.textContent = open ? "Show what would be lost" : "Hide what would be lost";
      place.replaceChildren(...(open ? [] : lossesOf(cluster)));
    } }, "Show what would be lost");
  return [button, place];
}
