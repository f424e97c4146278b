import { type Definition, type FileSymbols, toSignature } from "./symbols.ts";

// Finds the definitions of languages without a grammar: most of them write a word, a space and a name.

const DEFINITION =
  /^\s{0,8}(?:(?:export|default|public|private|protected|internal|static|final|abstract|sealed|open|override|async|inline|virtual|partial|data|case|pub|local|extern|unsafe)\s+)*(function|func|fun|fn|def|defp|defmodule|sub|proc|class|interface|trait|struct|enum|union|record|protocol|extension|object|module|namespace|mixin|type|typedef|impl|macro)\s+([A-Za-z_][\w$.!?]*)/;
const IMPORT =
  /\bfrom\s+["']([^"']+)["']|^\s*(?:import|from|use|using|require|require_relative|include|#\s*include|open|source|load)\b\s*\(?\s*["'<]?([\w@./:\\-]+)/;
/** A longer line defines nothing that a reader wants to see. */
const MAX_LINE_CHARS = 400;
const MAX_DEFINITIONS = 500;

/** Finds what a file defines by the form of its lines. */
export function findByPattern(text: string): FileSymbols {
  const definitions: Definition[] = [];
  const imports = new Set<string>();
  for (const [at, line] of text.split("\n").entries()) {
    if (line.length > MAX_LINE_CHARS) continue;
    const [, kind, name] = DEFINITION.exec(line) ?? [];
    if (kind !== undefined && name !== undefined && definitions.length < MAX_DEFINITIONS) {
      definitions.push({ name, kind, line: at + 1, signature: toSignature(line) });
      continue;
    }
    const found = IMPORT.exec(line);
    const imported = found?.[1] ?? found?.[2];
    if (imported !== undefined) imports.add(imported);
  }
  return { definitions, imports: [...imports] };
}
