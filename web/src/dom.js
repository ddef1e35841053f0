// Elements in one call: element("p", {class: "soft"}, "text", child). Text always enters as text, never as markup.
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// A label (labels.js) as nodes, subscripts as <sub>.
export const labelNodes = (parts) => parts.map((part) => (part.sub ? element("sub", {}, part.text) : part.text));

export function saveBlob(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export const saveText = (text, type, name) => saveBlob(new Blob([text], { type }), name);

// A field with quotes where CSV needs them.
export const csvField = (value) => (/[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
export const csvText = (rows) => rows.map((row) => row.map(csvField).join(",")).join("\n") + "\n";

export function select(label, options, value, onchange) {
  const box = element("select", { onchange: () => onchange(Number(box.value)) }, options.map((text, i) => element("option", { value: i, selected: i === value }, text)));
  return element("label", { class: "select" }, label, " ", box);
}
