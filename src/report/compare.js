// Two documents side by side. Which features a document has, and where, was found by the run's own code; here their
// numbers are intersected. A stretch under a feature that both have is shared; one under features that count, but
// none that both have, differs; the rest no feature that counts covers, so the run did not look at it.

/** Numbered places, as marks.rs writes them. */
function decodeMarks(text) {
  const marks = [];
  let number = -1;
  let start = 0;
  for (const token of text ? text.split(" ") : []) {
    const [place, times] = token.split("x");
    const [step, length, difference] = place.split(",").map(Number);
    for (let left = times === undefined ? 1 : Number(times); left > 0; left -= 1) {
      number += difference === undefined ? 1 : difference;
      start += step;
      marks.push({ number, start, end: start + length });
    }
  }
  return marks;
}

/** Cuts a text into stretches: { kind: "shared" | "differs" | "unseen", text }. */
function stretchesOf(data, common) {
  const stretches = [];
  let at = 0;
  const push = (kind, end) => {
    if (end > at) stretches.push({ kind, text: data.text.slice(at, end) });
    at = Math.max(at, end);
  };
  const shared = decodeMarks(data.shared).filter((mark) => common.has(mark.number));
  let next = 0;
  for (const cover of decodeMarks(data.covered)) {
    push("unseen", cover.start);
    for (; next < shared.length && shared[next].start < cover.end; next += 1) {
      push("differs", shared[next].start);
      let end = shared[next].end;
      while (next + 1 < shared.length && shared[next + 1].start <= end) {
        next += 1;
        end = Math.max(end, shared[next].end);
      }
      push("shared", end);
    }
    push("differs", cover.end);
  }
  push("unseen", data.text.length);
  return stretches;
}

/** The largest whole number of which the square is at most n. */
function root(n) {
  if (n < 2n) return n;
  let guess = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (guess + n / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}

/** A number of millionths in six decimals. */
function sixDecimals(millionths) {
  const digits = millionths.toString().padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** What the measures are: the formula with its numbers, the fraction, and the two sides of the inequality with tau = p/q. */
const MEASURES = {
  jaccard: {
    inserted: (o, a, b) => `${o} / (${a} + ${b} − ${o})`,
    fraction: (o, a, b) => [o, a + b - o],
    sides: (o, a, b, p, q) => [o * (p + q), p * (a + b)],
  },
  containment: {
    inserted: (o, a, b) => `${o} / min(${a}, ${b})`,
    fraction: (o, a, b) => [o, a < b ? a : b],
    sides: (o, a, b, p, q) => [o * q, p * (a < b ? a : b)],
  },
  cosine: {
    inserted: (o, a, b) => `${o} / sqrt(${a}·${b})`,
    sides: (o, a, b, p, q) => [o * o * q * q, p * p * a * b],
  },
  dice: {
    inserted: (o, a, b) => `2·${o} / (${a} + ${b})`,
    fraction: (o, a, b) => [2n * o, a + b],
    sides: (o, a, b, p, q) => [2n * o * q, p * (a + b)],
  },
  overlap: { sides: (o, a, b, p) => [o, p] },
};

/** How the similarity is computed, rounded half up to six decimals as the run writes it. */
function arithmeticText(overlap, sizeA, sizeB) {
  const { inserted, fraction } = MEASURES[report.measure];
  if (!inserted) return `${report.title} = ${overlap}`;
  const start = `${report.title} = ${inserted(overlap, sizeA, sizeB)} = `;
  if (!fraction) {
    const product = sizeA * sizeB;
    const twice = product === 0n ? 0n : root(4000000000000n * overlap * overlap / product);
    return start + sixDecimals((twice + 1n) / 2n);
  }
  const [above, below] = fraction(overlap, sizeA, sizeB);
  const millionths = below === 0n ? 0n : (2n * above * 1000000n + below) / (2n * below);
  return `${start}${above} / ${below} = ${sixDecimals(millionths)}`;
}

/** Whether an overlap reaches tau, a decimal or a number of features, in integers. */
function reaches(overlap, sizeA, sizeB) {
  const [whole, places = ""] = report.tau.split(".");
  const [p, q] = [BigInt(whole + places), 10n ** BigInt(places.length)];
  const [left, right] = MEASURES[report.measure].sides(overlap, sizeA, sizeB, p, q);
  return overlap >= 1n && left >= right;
}

/** The bits in which the fingerprints of two documents differ, and what that means; of texts the longer one's distance counts. */
function distanceText(a, b, equal) {
  if (equal && !a && !b) {
    return "Both texts are too short for a fingerprint. They are equal but for white space and what the options level, so the "
      + "documents are copies.";
  }
  if (!a || !b) return "A document has too few features for a fingerprint, so they are no pair.";
  let bits = BigInt(`0x${a.fingerprint}`) ^ BigInt(`0x${b.fingerprint}`);
  let distance = 0;
  for (; bits > 0n; bits >>= 1n) distance += Number(bits & 1n);
  const most = Math.min(a.most, b.most);
  const check = report.parameters.check.includes(":") ? `; --check ${report.parameters.check} compares the texts as well` : "";
  return `Fingerprints ${a.fingerprint} and ${b.fingerprint} differ in ${count(distance, "bit", "bits")}, `
    + `${distance <= most ? "no more than" : "more than"} the ${most} of --distance${check}.`;
}

const FOLD = 500;
const AROUND = 120;

const lengthOf = (stretches) => stretches.reduce((sum, stretch) => sum + stretch.text.length, 0);

/** What a folded part is: it may be shared, or nothing that the run compared. */
function foldedText(stretches) {
  const kinds = ["shared", "unseen"].filter((kind) => stretches.some((stretch) => stretch.kind === kind));
  return `… ${grouped(lengthOf(stretches))} characters, ${kinds.join(" or ")} …`;
}

/** A text with its stretches marked; long parts where nothing differs are folded if that is wanted. */
function markedText(stretches, fold) {
  const text = el("div", { class: "text", dir: "auto", tabindex: "-1" });
  const show = ({ kind, text: words }) => el(kind === "differs" ? "mark" : "span", { class: kind }, ...visibleNodes(words));
  let calm = [];
  const flush = () => {
    if (!fold || lengthOf(calm) <= FOLD) {
      text.append(...calm.map(show));
    } else {
      const [head, middle] = splitAt(calm, AROUND);
      const [hidden, tail] = splitAt(middle, lengthOf(middle) - AROUND);
      const button = el("button", { type: "button", class: "fold",
        click: () => {
          const shown = hidden.map(show);
          button.replaceWith(...shown);
          text.focus();
        } }, foldedText(hidden));
      text.append(...head.map(show), button, ...tail.map(show));
    }
    calm = [];
  };
  for (const stretch of stretches) {
    if (stretch.kind === "differs") {
      flush();
      text.append(show(stretch));
    } else {
      calm.push(stretch);
    }
  }
  flush();
  return text;
}

/** Cuts stretches after about so many code units: after white space if there is some near, never inside a character. */
function splitAt(stretches, length) {
  const [before, after] = [[], []];
  let left = length;
  for (const { kind, text } of stretches) {
    let cut = Math.min(Math.max(left, 0), text.length);
    if (cut > 0 && cut < text.length) {
      const word = text.slice(Math.max(0, cut - 20), cut).match(/\S+$/);
      if (word && word[0].length < 20) cut -= word[0].length;
      else if (/[\udc00-\udfff]/.test(text[cut])) cut -= 1;
    }
    if (cut > 0) before.push({ kind, text: text.slice(0, cut) });
    if (cut < text.length) after.push({ kind, text: text.slice(cut) });
    left -= text.length;
  }
  return [before, after];
}

/** A word as a shell reads it back: what hides is written as bytes, which every locale reads alike. */
function shellWord(word) {
  if (/^[\w.,:/@+=-]+$/.test(word)) return word;
  if (visible(word) === word) return `'${word.replaceAll("'", "'\\''")}'`;
  const bytes = (c) => [...new TextEncoder().encode(c)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
  return `$'${word.replace(/['\\]/g, "\\$&").replace(HIDDEN, bytes)}'`;
}

/** Fills the dialog with two documents, each { cluster, member }. */
function fillPair(dialog, a, b, fold) {
  const both = [a, b].map(({ cluster, member }) => ({
    id: report.shown[cluster].members[member][0], data: textsOf(cluster)[member], cluster, member,
  }));
  const numbers = both.map(({ data }) => new Set(decodeMarks(data.shared).map((mark) => mark.number)));
  const common = new Set([...numbers[0]].filter((number) => numbers[1].has(number)));
  const [overlap, sizeA, sizeB] = [common.size, ...both.map(({ data }) => data.features)];
  const numbersOf = [overlap, sizeA, sizeB].map(BigInt);
  const byDistance = report.measure === "distance";
  const reached = !byDistance && reaches(...numbersOf);
  const small = Math.min(sizeA, sizeB) < report.least;
  const equal = both[0].data.hash !== null && both[0].data.hash === both[1].data.hash;
  let verdict = reached ? `which reaches tau ${report.tau}` : `which is below tau ${report.tau}`;
  if (reached && small) verdict += `, but a document has fewer than --min-features ${report.least}`;
  if (equal) {
    verdict = "and no pair: both texts are too short for features. They are equal but for white space and what "
      + "the options level, so the documents are copies";
  } else if ((!reached || small) && a.cluster === b.cluster) verdict += "; other documents put them into one cluster";
  const column = ({ id, data, member }, name) => {
    const stretches = stretchesOf(data, common);
    const [shared, differs, unseen] = ["shared", "differs", "unseen"].map((kind) =>
      grouped(lengthOf(stretches.filter((stretch) => stretch.kind === kind))));
    return el("section", { class: "document", "aria-label": `document ${name}` },
      el("h3", {}, el("span", { class: "letter" }, name), " ", idText(id), " ",
        member === 0 ? el("span", { class: "badge" }, "kept") : null),
      el("p", { class: "quiet" }, `${count(data.features, "feature", "features")}; ${shared} characters shared, `
        + `${differs} that differ, ${unseen} unseen`),
      markedText(stretches, fold),
      data.shown < data.bytes
        ? el("p", { class: "quiet" }, `The text goes on: these are the first ${grouped(data.shown)} of its `
          + `${grouped(data.bytes)} bytes (--text ${data.bytes} shows all).`)
        : null);
  };
  dialog.replaceChildren(
    el("div", { class: "pair-head" },
      el("h2", { id: "pair-title", tabindex: "-1" }, "Two documents"),
      el("button", { type: "button", id: "close-pair", click: () => dialog.close() }, "Close")),
    el("p", { id: "arithmetic" },
      `Shared features: ${grouped(overlap)}. ` + (byDistance
        ? distanceText(...both.map(({ data }) => data.print)) : `${arithmeticText(...numbersOf)}, ${verdict}.`)),
    el("p", { class: "legend" },
      el("span", { class: "shared" }, "shared"), " under a feature that both have; ",
      el("mark", { class: "differs" }, "differs"), " under none that both have; ",
      el("span", { class: "unseen" }, "unseen"), " under no feature that counts, so the run did not compare it."),
    el("label", { class: "check" },
      el("input", { type: "checkbox", id: "fold", checked: fold,
        change: (event) => {
          fillPair(dialog, a, b, event.target.checked);
          document.getElementById("fold").focus();
        } }),
      " Fold long parts that are shared or unseen"),
    el("div", { class: "columns" }, column(both[0], "A"), column(both[1], "B")),
    el("p", { class: "quiet" }, "The same in a terminal, with every shared passage: ",
      el("code", {}, `twinsplit explain ${both.map(({ id }) => shellWord(id)).join(" ")} --run ${shellWord(report.folder)}`)),
  );
}
