import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import typescript from "typescript";

const { ModuleKind, ScriptTarget, transpile } = typescript;
const OPTIONS = { module: ModuleKind.ESNext, target: ScriptTarget.ES2022, verbatimModuleSyntax: true };

export async function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
  const source = await readFile(fileURLToPath(url), "utf8");
  return { format: "module", source: transpile(source, OPTIONS), shortCircuit: true };
}
