// What the page holds, and small helpers. Text of documents reaches the page as text nodes only.

const report = JSON.parse(document.getElementById("report").textContent);

/** The documents of a shown cluster, parsed when they are first wanted; null when the page has no texts. */
const parsed = new Map();
function textsOf(cluster) {
  if (!parsed.has(cluster)) {
    const data = document.getElementById(`texts-${cluster}`);
    parsed.set(cluster, data && JSON.parse(data.textContent));
  }
  return parsed.get(cluster);
}

/** An element with attributes (functions are listeners) and children; strings become text. */
function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** An id, kept apart from the writing direction of what stands around it. */
const idText = (id) => el("bdi", { class: "id" }, id);

const grouped = (number) => number.toLocaleString("en");
const count = (number, one, several) => `${grouped(number)} ${number === 1 ? one : several}`;
