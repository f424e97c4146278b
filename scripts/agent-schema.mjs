// Writes agent.schema.json and suite.schema.json for editors, and the references of the formats in docs/agents.md and
// docs/evaluation.md. Needs a build.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const importBuilt = (...path) => import(join(root, "dist", "config", ...path));
const { formatPublishedSchema } = await importBuilt("agent-file", "json-schema.js");
const { insertReference } = await importBuilt("agent-file", "format-reference.js");
const { formatSuiteSchema, insertSuiteReference } = await importBuilt("suite-file", "suite-schema-file.js");

writeFileSync(join(root, "agent.schema.json"), formatPublishedSchema());
writeFileSync(join(root, "suite.schema.json"), formatSuiteSchema());
updatePage("agents.md", insertReference);
updatePage("evaluation.md", insertSuiteReference);

function updatePage(name, insert) {
  const page = join(root, "docs", name);
  writeFileSync(page, insert(readFileSync(page, "utf8")));
}
