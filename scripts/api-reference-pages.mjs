// Makes the pages that the markdown plugin writes shorter and their changes smaller.

const NOTE = "<!-- Written by npm run api-reference from the docstrings in src. Do not edit. -->\n\n";

/** From here on, a declaration is left to the table or the list below it. In characters. */
const LONGEST_DECLARATION = 240;

export function polishPages(pages) {
  const targets = new Set([...pages.values()].flatMap((text) => text.match(/#[\w-]+(?=\))/g) ?? []));
  return new Map([...pages].map(([name, text]) => [name, NOTE + polish(text, targets)]));
}

function polish(text, targets) {
  return removeAnchors(nameVariants(text), targets)
    .split("\n")
    .map(shortenDeclaration)
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trimEnd()
    .concat("\n");
}

/**
 * Keeps the anchors that a link needs: one that no link points to is noise, and so is one before a heading that gets the
 * same name where the page is shown.
 */
function removeAnchors(text, targets) {
  const counts = new Map();
  return text
    .replace(/(?:<a id="([\w-]+)"><\/a>\n\n)?^#+ (.*)$/gm, (all, id, title) => {
      const slug = toSlug(title);
      const count = counts.get(slug) ?? 0;
      counts.set(slug, count + 1);
      const isNamedAlike = id === (count === 0 ? slug : `${slug}-${count}`);
      return id !== undefined && isNamedAlike ? all.slice(all.indexOf("#")) : all;
    })
    .replace(/<a id="([\w-]+)"><\/a> ?/g, (anchor, id) => (targets.has(`#${id}`) ? anchor : ""));
}

/** The name that a heading gets on GitHub. */
function toSlug(title) {
  return title
    .toLowerCase()
    .replace(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

/** Names a variant of a union by its discriminant instead of "Type Literal". If a table follows, it has the fields. */
function nameVariants(text) {
  return text.replace(/^(#+) Type Literal\n\n(.*)\n([^#*]*)/gm, (_all, hashes, declaration, rest) => {
    const fields = [...declaration.matchAll(/`(\w+)`: (`"[^"]*"`|`true`|`false`)(?=;)/g)];
    const field = fields.find(([, name]) => name === "type") ?? fields[0];
    const title = field === undefined ? "Object" : `\`${field[1]}: ${field[2].slice(1)}`;
    return `${hashes} ${title}\n${rest.includes("| Name |") ? "" : `\n${declaration}\n`}${rest}`;
  });
}

function shortenDeclaration(line) {
  if (line.length <= LONGEST_DECLARATION || !line.startsWith("> **")) return line;
  const [start] = line.split(" = ", 1);
  return start === line ? line : `${start} = one of the types below`;
}
