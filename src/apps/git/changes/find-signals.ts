import type { Signal } from "./change-set.ts";

type Patterns = Readonly<Record<Signal, RegExp>>;

const SCRIPT: Patterns = {
  "adds function":
    /^(export\s+)?(default\s+)?(async\s+)?function\b|^(export\s+)?(const|let|var)\s+[\w$]+[^=]*=\s*(async\s*)?(\([^)]*\)|[\w$]+)[^=]*=>/,
  "adds type": /^(export\s+)?(default\s+)?(abstract\s+)?(declare\s+)?(class|interface|type|enum)\s+[\w$]/,
  "modifies imports": /^(import\b|export\s+(\*|\{[^}]*\})\s*from\b)/,
};
const C_LIKE_TYPE =
  /^(public\s+|private\s+|protected\s+|static\s+|final\s+|abstract\s+|typedef\s+)*(class|interface|enum|struct|union|record)\s+\w/;

const LANGUAGES: Readonly<Record<string, Patterns>> = {
  ts: SCRIPT,
  tsx: SCRIPT,
  mts: SCRIPT,
  cts: SCRIPT,
  js: SCRIPT,
  jsx: SCRIPT,
  mjs: SCRIPT,
  cjs: SCRIPT,
  rs: {
    "adds function": /^(pub(\([^)]*\))?\s+)?(const\s+)?(async\s+)?(unsafe\s+)?(extern\s+"[^"]*"\s+)?fn\s+\w/,
    "adds type": /^(pub(\([^)]*\))?\s+)?(struct|enum|trait|union|type)\s+\w|^impl\b/,
    "modifies imports": /^(pub(\([^)]*\))?\s+)?use\s/,
  },
  py: {
    "adds function": /^(async\s+)?def\s+\w/,
    "adds type": /^class\s+\w/,
    "modifies imports": /^(import|from)\s+\S/,
  },
  go: {
    "adds function": /^func\b/,
    "adds type": /^type\s+\w/,
    "modifies imports": /^import\b/,
  },
  java: {
    "adds function": /^(public|private|protected)\s+[\w<>[\], ]+\s+\w+\s*\(/,
    "adds type": C_LIKE_TYPE,
    "modifies imports": /^import\s/,
  },
  c: {
    "adds function": /^[A-Za-z_][\w\s*]*\s\**\w+\s*\([^;]*\)?\s*\{?$/,
    "adds type": C_LIKE_TYPE,
    "modifies imports": /^#\s*include\b/,
  },
};
const ALIASES: Readonly<Record<string, string>> = { h: "c", cc: "c", cpp: "c", hpp: "c" };

/** Only the beginning of a line says what it declares. */
const LINE_CHARS = 300;

/** Returns what an added line declares; nothing for files whose language is unknown. */
export function findSignals(path: string, line: string): readonly Signal[] {
  const ending = /\.([A-Za-z]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  const patterns = LANGUAGES[ALIASES[ending] ?? ending];
  if (patterns === undefined) return [];
  const start = line.slice(0, LINE_CHARS).trim();
  return (Object.keys(patterns) as Signal[]).filter((signal) => patterns[signal].test(start));
}
