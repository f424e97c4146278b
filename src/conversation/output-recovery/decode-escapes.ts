const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "`": "`",
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|([\s\S]))/g;
const NOT_JSON = /\\(?:u\{|[^"\\/bfnrtu]|u(?![0-9a-fA-F]{4}))/;

/** Decodes the escapes of JSON and JavaScript. A backslash before any other character stands for itself. */
export function decodeEscapes(raw: string): string {
  if (!raw.includes("\\")) return raw;
  return raw.replace(ESCAPE, (whole, unit?: string, point?: string, byte?: string, letter?: string) => {
    const code = Number.parseInt(unit ?? point ?? byte ?? "", 16);
    if (!Number.isNaN(code))
      return code > 0x10ffff
        ? whole
        : point === undefined
          ? String.fromCharCode(code)
          : String.fromCodePoint(code);
    return letter !== undefined && Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter]! : whole;
  });
}

/** Reports whether a text has an escape that JSON does not define. */
export function hasForeignEscape(raw: string): boolean {
  return NOT_JSON.test(raw.replaceAll("\\\\", ""));
}

/**
 * Escapes that two languages read in two ways: the end of a line, the signs of Markdown, the single quote of a shell, and
 * the letters of a path that is not escaped.
 */
const DOUBTFUL = /'\\''|\\(?:\r?\n|[_#*[\]>-])|(?:\b[A-Za-z]:|\\[^bfnrtux"'`/])\w*\\[bfnrt]\w/;

/** Reports whether an escape of a text may be meant as one, or as a backslash. */
export function hasDoubtfulEscape(raw: string): boolean {
  return raw.includes("\\") && DOUBTFUL.test(raw.replaceAll("\\\\", ""));
}

/** Reports whether only the quotes of a text may be escaped twice, and the rest of it once. */
export function isEscapedOnce(raw: string): boolean {
  const isOnce = /(?<!\\)(?:\\\\)*\\[^"\\]|(?<!\\)\\\\"/.test(raw);
  return isOnce || (/(?<!\\)\\\\[bfrtu]/.test(raw) && !raw.includes('\\\\\\"'));
}
