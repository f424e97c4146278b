import type { ViewTool } from "../tool.ts";
import { createPruneTools } from "./prune-tools.ts";
import { createRevertTool } from "./revert-tool.ts";

/** Creates the tools by which a model changes its view. A definition enables them by name: "prun", "revert_to_state". */
export function createViewTools(): ViewTool[] {
  return [...createPruneTools(), createRevertTool()];
}
