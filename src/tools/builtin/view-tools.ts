import type { ViewTool } from "../tool.ts";
import { prunTools } from "./prun.ts";
import { revertTool } from "./revert-to-state.ts";

/** Tools by which a model changes what it sees. A definition opts into them by name: "prun", "revert_to_state". */
export function viewTools(): ViewTool[] {
  return [...prunTools(), revertTool()];
}
