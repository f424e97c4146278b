// Checks the contents and the size of the built workflow bundle.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/**
 * The maximum size of the workflow bundle, in bytes of JavaScript without comments and source map.
 *
 * It has 980 kB, half of them the bare SDK's; a sixth are the workflows that drive several agents (work modes, supervisor,
 * evaluations). 20 are for retention, exploration, the formats of keys and encrypted failures, 6 for questions of tools to
 * the user, 14 for checks of a workflow's input, 12 for the coverage of `always` and of rules by host, and 8 for waits for a
 * vendor within a run's limits, bounded queues, and the end of a loop whose calls fail repeatedly; 14 for calls that end
 * their loop, answers without calls, compactions that are removed, and the totals of a run. Every worker thread
 * compiles the whole bundle, so growth needs a decision; code that only activities run, such as building messages of a
 * view, stays out. Zod alone would add 300 to 480 kB.
 */
const MAX_BUNDLE_BYTES = 985_000;

const file = process.argv[2] ?? join("dist", "workflow-bundle.js");
if (!existsSync(file)) {
  console.error(`${file} does not exist. What to do: npm run build`);
  process.exit(1);
}
const problems = findBundleProblems(readFileSync(file, "utf8"));
for (const problem of problems) console.error(`${file}: ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);

function findBundleProblems(bundle) {
  const { code, sources } = splitSourceMap(bundle);
  const found = [];
  if (sources.length === 0) found.push("its source map names no modules, so nothing can be checked");
  // The SDK's bundler itself rejects Node's modules.
  const zod = sources.find((name) => /(^|\/)node_modules\/zod\//.test(name));
  if (zod !== undefined)
    found.push(`it contains zod (${zod}); workflows and core may import schema only as types`);
  const bytes = Buffer.byteLength(stripComments(code));
  console.log(
    `${file}: ${bytes} bytes of JavaScript without comments in ${sources.length} modules (at most ${MAX_BUNDLE_BYTES})`,
  );
  if (bytes > MAX_BUNDLE_BYTES) found.push(`${bytes} bytes are more than ${MAX_BUNDLE_BYTES}`);
  return found;
}

/** Removes comments, which a worker does not compile. */
function stripComments(code) {
  const compilerOptions = { removeComments: true, target: ts.ScriptTarget.ESNext };
  return ts.transpileModule(code, { compilerOptions }).outputText;
}

/** Separates the code from the source map at its end. */
function splitSourceMap(bundle) {
  const mark = bundle.lastIndexOf("//# sourceMappingURL=");
  if (mark < 0) return { code: bundle, sources: [] };
  const inline = /base64,(\S+)/.exec(bundle.slice(mark));
  const map = inline === null ? {} : JSON.parse(Buffer.from(inline[1], "base64").toString());
  return { code: bundle.slice(0, mark), sources: map.sources ?? [] };
}
