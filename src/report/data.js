"use strict";
// What the page holds. Text of documents reaches the page as text nodes only.

const report = JSON.parse(document.getElementById("report").textContent);

/** What says how alike two documents are. */
const ALIKE = report.measure === "distance" ? "distance" : "similarity";

/** The documents of a shown cluster, parsed when they are first wanted; null when the page has no texts. */
const parsed = new Map();
function textsOf(cluster) {
  if (!parsed.has(cluster)) {
    const data = document.getElementById(`texts-${cluster}`);
    parsed.set(cluster, data && JSON.parse(data.textContent));
  }
  return parsed.get(cluster);
}
