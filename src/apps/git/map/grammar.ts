import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Language as Grammar, Parser, Query } from "web-tree-sitter";
import { findLanguage, type Language } from "./languages.ts";
import { type Definition, type FileSymbols, toSignature } from "./symbols.ts";

/** A hostile file may take long to parse; an ordinary one takes a few milliseconds. */
const PARSE_TIMEOUT_MS = 500;
const MAX_DEFINITIONS = 500;

type Loaded = { readonly parser: Parser; readonly query: Query };

const loaded = new Map<string, Promise<Loaded>>();
let started: Promise<void> | undefined;

/** Finds what a file defines by its grammar; undefined if its language has none, or its text cannot be parsed in time. */
export async function findByGrammar(path: string, text: string): Promise<FileSymbols | undefined> {
  const language = findLanguage(path);
  if (language === undefined) return undefined;
  const { parser, query } = await load(language);
  const deadline = performance.now() + PARSE_TIMEOUT_MS;
  const tree = parser.parse(text, null, { progressCallback: () => performance.now() > deadline });
  if (tree === null) {
    parser.reset();
    return undefined;
  }
  try {
    return readMatches(query.matches(tree.rootNode, { matchLimit: 10_000 }), text.split("\n"));
  } finally {
    tree.delete();
  }
}

function readMatches(matches: ReturnType<Query["matches"]>, lines: readonly string[]): FileSymbols {
  const definitions: Definition[] = [];
  const imports = new Set<string>();
  for (const { captures } of matches) {
    const name = captures.find((capture) => capture.name === "name")?.node;
    const kind = captures.find((capture) => capture.name !== "name");
    if (kind?.name === "import") imports.add(kind.node.text.replace(/^["'<]|["'>]$/g, ""));
    if (name === undefined || kind === undefined || definitions.length >= MAX_DEFINITIONS) continue;
    const { row } = name.startPosition;
    definitions.push({
      name: name.text,
      kind: kind.name,
      line: row + 1,
      signature: toSignature(lines[row] ?? ""),
    });
  }
  return { definitions, imports: [...imports] };
}

async function load(language: Language): Promise<Loaded> {
  const known = loaded.get(language.name);
  if (known !== undefined) return await known;
  const loading = (async () => {
    started ??= Parser.init();
    await started;
    const grammar = await Grammar.load(await readFile(findGrammarFile(language)));
    return { parser: new Parser().setLanguage(grammar), query: new Query(grammar, language.query) };
  })();
  loaded.set(language.name, loading);
  return await loading;
}

/** The build copies the grammars beside this module; sources take them from their packages. */
function findGrammarFile({ package: name, grammar }: Language): string {
  const built = fileURLToPath(new URL(`grammars/${grammar}`, import.meta.url));
  if (existsSync(built)) return built;
  return fileURLToPath(new URL(`../../../../node_modules/${name}/${grammar}`, import.meta.url));
}
