// Small helpers of pages. What comes from documents becomes text nodes only.

/** What steers, turns or hides, as in visible.rs; line ends and TABs are shown by the page as they are. */
const HIDDEN = /(?!\r\n)[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Such a character as people are shown it. */
function written(c) {
  const code = c.codePointAt(0);
  return code < 0x80 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

/** A text in which nothing steers, turns or hides. */
const visible = (text) => text.replace(HIDDEN, written);

/** The same as nodes, which tell what is written out from the same letters in the text. */
function visibleNodes(text) {
  const nodes = [];
  let end = 0;
  for (const { 0: c, index } of text.matchAll(HIDDEN)) {
    nodes.push(text.slice(end, index), el("span", { class: "hidden" }, written(c)));
    end = index + c.length;
  }
  return [...nodes, text.slice(end)].filter((node) => node !== "");
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
const idText = (id) => el("bdi", { class: "id" }, ...visibleNodes(id));

const grouped = (number) => number.toLocaleString("en");
const count = (number, one, several) => `${grouped(number)} ${number === 1 ? one : several}`;

/** An element of a drawing. */
function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const at = (id) => document.getElementById(id);
