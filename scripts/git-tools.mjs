// Prints what the tools of git work answer to fixed questions about a repository: npm run git-tools -- REPO [--json]
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { askTools } from "../dist/apps/git/questions.js";
import { toVisibleJson } from "../dist/apps/git/text/visible-text.js";

const args = process.argv.slice(2);
const asJson = args.includes("--json");
const [folder, ...others] = args.filter((arg) => arg !== "--json");

if (folder === undefined || others.length > 0 || folder.startsWith("--")) {
  console.error("usage: npm run git-tools -- REPO [--json]");
  process.exit(2);
}
if (!(await stat(resolve(folder)).catch(() => undefined))?.isDirectory()) {
  console.error(`git-tools: ${folder} is no folder; name one that is in a git repository`);
  process.exit(2);
}
for await (const answer of askTools(resolve(folder))) {
  const { tool, result } = answer;
  console.log(
    asJson
      ? toVisibleJson(answer)
      : `=== ${tool} ${toVisibleJson(answer.arguments)}\n${result.text ?? result.error ?? toVisibleJson(result)}\n`,
  );
}
