// Histograms: bars whose places are percentages and whose letters keep their size, so that they fit any width.

const HEIGHT = 190;

/** A logarithmic scale where the smallest bar could not be seen beside the largest. */
function scaleOf(bars) {
  const counts = bars.map((bar) => bar[1]).filter((value) => value > 0);
  const most = Math.max(...counts);
  if (most > 60 * Math.min(...counts)) {
    // A bar of one keeps a height of its own.
    const top = Math.log10(most) + 0.3;
    const ticks = [];
    for (let value = 1; value <= most; value *= 10) ticks.push(value);
    return { log: true, ticks, of: (value) => (value > 0 ? (Math.log10(value) + 0.3) / top : 0) };
  }
  const steps = [1, 2, 5].flatMap((unit) => [...Array(15).keys()].map((power) => unit * 10 ** power));
  const step = steps.sort((x, y) => x - y).find((each) => most / each <= 5);
  const ticks = [];
  for (let value = 0; value <= most; value += step) ticks.push(value);
  return { log: false, ticks, of: (value) => value / most };
}

function chart(title, axis, things, bars) {
  const figure = el("figure", {}, el("figcaption", {}, el("h3", {}, title)));
  const total = bars.reduce((sum, bar) => sum + bar[1], 0);
  if (total === 0) {
    figure.append(el("p", { class: "quiet" }, "There is nothing to count."));
    return figure;
  }
  const scale = scaleOf(bars);
  const highest = bars.reduce((best, bar) => (bar[1] > best[1] ? bar : best));
  const label = `${title}: ${grouped(total)} in all; the highest bar is ${highest[0]} with ${grouped(highest[1])}. `
    + "The table below has every bar.";
  const drawing = svg("svg", { role: "img", "aria-label": label, height: HEIGHT + 24 });
  for (const value of scale.ticks) {
    const y = Math.round(HEIGHT - scale.of(value) * (HEIGHT - 12)) + 0.5;
    drawing.append(
      svg("line", { class: "grid", x1: 0, x2: "100%", y1: y, y2: y }),
      svg("text", { class: "tick", x: -8, y: y + 4, "text-anchor": "end" }, grouped(value)),
    );
  }
  const width = 100 / bars.length;
  // A label needs room for about 48 pixels of the narrowest drawing.
  const every = Math.ceil(bars.length / 6);
  bars.forEach(([name, value], at) => {
    const height = scale.of(value) * (HEIGHT - 12);
    const tip = svg("title", {}, `${name}: ${count(value, things[0], things[1])}`);
    drawing.append(svg("rect", {
      class: name === "1" && bars.length - 1 === at ? "bar equal" : "bar",
      x: `${at * width + width * 0.08}%`, width: `${width * 0.84}%`, y: HEIGHT - height, height,
    }, tip));
    const last = at === bars.length - 1;
    if (last || (at % every === 0 && bars.length - 1 - at >= every * 0.75)) {
      const short = bars.length > 10 ? name.split(" to ")[0] : name.replace(" to ", "–");
      drawing.append(svg("text", {
        class: "tick", x: `${(at + 0.5) * width}%`, y: HEIGHT + 18, "text-anchor": "middle",
      }, short));
    }
  });
  let note = axis;
  if (bars.length > 10 && bars.some((bar) => bar[0].includes(" to "))) note += "; labels are the lower ends of bars";
  if (scale.log) note += "; logarithmic heights";
  const rows = bars.map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, grouped(value))));
  figure.append(drawing, el("p", { class: "quiet" }, note), el("details", {},
    el("summary", {}, "As a table"),
    el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, axis), el("th", { scope: "col" }, things[1]))),
      el("tbody", {}, ...rows))));
  return figure;
}

function drawCharts() {
  const pairs = report.pairs !== null;
  const axis = `${report.title}${report.measure === "distance" ? "" : " similarity"}: ${report.formula}`;
  document.getElementById("charts").append(
    pairs
      ? chart(`Pairs by ${ALIKE}`, axis, ["pair", "pairs"], report.similarities)
      : chart(`Dropped documents by ${ALIKE} to the kept one`,
        `${axis}; the run wrote no pairs, so these are from clusters.tsv`, ["document", "documents"],
        report.similarities),
    chart("Clusters by size", "Documents in a cluster", ["cluster", "clusters"], report.sizes),
  );
}
