import { parseArgs } from "node:util";
import { createGitTools } from "./tools/registry.ts";

// The tools of git work for a worker process: `holdfast worker --tools dist/apps/git/worker-tools.js`. Its home folder has the
// user's answers about trust.

const { values } = parseArgs({ options: { home: { type: "string" } }, strict: false });
const { home } = values;

const { core, main, update } = createGitTools({
  ...(typeof home === "string" ? { home } : {}),
  index: process.env["HOLDFAST_GIT_INDEX"],
});

export default [...core, ...main, ...update];
