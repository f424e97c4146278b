import type { Definition } from "./symbols.ts";

type Rule = (definition: Definition) => boolean;

const isExported: Rule = ({ signature }) => /^export\b/.test(signature);
/** A module of the older kind exports by assignment, so that every function and class may be visible. */
const isDeclared: Rule = (definition) =>
  definition.kind === "function" || definition.kind === "class" || isExported(definition);
const hasNo =
  (pattern: RegExp): Rule =>
  ({ signature }) =>
    !pattern.test(signature);

const RULES: Readonly<Record<string, Rule>> = {
  ts: isExported,
  mts: isExported,
  cts: isExported,
  tsx: isExported,
  mjs: isExported,
  js: isDeclared,
  cjs: isDeclared,
  jsx: isDeclared,
  py: ({ name }) => !name.startsWith("_"),
  pyi: ({ name }) => !name.startsWith("_"),
  rs: ({ signature }) => /^(pub\b|macro_rules!|fn\b.*\bself\b)/.test(signature),
  java: hasNo(/\bprivate\b/),
  c: hasNo(/^static\b/),
};

/** Whether other files can use a definition: the same name in two files is otherwise no link between them. */
export function isVisible(path: string, definition: Definition): boolean {
  const ending = /\.([A-Za-z]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return RULES[ending]?.(definition) ?? true;
}
