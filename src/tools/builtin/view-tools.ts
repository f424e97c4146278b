import type { ViewTool } from "../tool.ts";
import { createPruneTools } from "./prune-tools.ts";
import { createRevertTool } from "./revert-tool.ts";

/** Tools by which a model changes what it sees. A definition opts into them by name: "prun", "revert_to_state". */
export function createViewTools(): ViewTool[] {
  return [...createPruneTools(), createRevertTool()];
}
