import { parentPort } from "node:worker_threads";
import { findByGrammar } from "./grammar.ts";
import type { FileSymbols } from "./symbols.ts";

// The code of the thread that grammar-thread.ts starts: it answers each file with what the file defines.

export type SourceFile = { readonly path: string; readonly text: string };
/** `null`: the file has no grammar, or could not be parsed in time. */
export type GrammarReply = FileSymbols | null;

parentPort?.on("message", (file: SourceFile) => {
  void findByGrammar(file.path, file.text)
    .catch(() => undefined)
    .then((symbols) => parentPort?.postMessage((symbols ?? null) satisfies GrammarReply));
});
