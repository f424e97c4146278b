// Writes agent.schema.json for editors, and the reference of the format in docs/agents.md. Needs a build.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const importBuilt = (name) => import(join(root, "dist", "config", "agent-file", name));
const { formatPublishedSchema } = await importBuilt("json-schema.js");
const { insertReference } = await importBuilt("format-reference.js");

const page = join(root, "docs", "agents.md");
writeFileSync(join(root, "agent.schema.json"), formatPublishedSchema());
writeFileSync(page, insertReference(readFileSync(page, "utf8")));
