const HIDDEN_ELEMENTS = /^(script|style)\b/;

/** Extracts the readable text of a page. Visits each character once, because a proxy may send anything. */
export function extractPageText(html: string): string {
  const lower = html.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const parts: string[] = [];
  const endless = new Set<string>();
  let from = 0;
  for (;;) {
    const begin = html.indexOf("<", from);
    const end = begin < 0 ? -1 : html.indexOf(">", begin);
    if (end < 0) break;
    parts.push(html.slice(from, begin));
    from = end + 1;
    const [, name] = HIDDEN_ELEMENTS.exec(lower.slice(begin + 1, begin + 8)) ?? [];
    if (name === undefined || endless.has(name)) continue;
    const closing = `</${name}>`;
    const closed = lower.indexOf(closing, begin);
    if (closed < 0) endless.add(name);
    else from = closed + closing.length;
  }
  return [...parts, html.slice(from)].join(" ");
}
