import { z } from "zod";
import { READ_FULL_TOOL } from "../../core/view-request.ts";
import { defineTool, type Tool } from "../tool.ts";
import { answeredElsewhere } from "./prun.ts";

const whole = z.number().int().nonnegative();

export const ReadFullArguments = z.object({
  message: whole.describe("The number of the message, as the marker names it"),
  from: whole.optional().describe("The character to begin at, as the marker names it; 0 by default"),
  image: whole.optional().describe("The number of an image of the message, as its marker names it"),
});

/** Offered while something is left out of a message that the model sees; a definition need not name it. */
export function readFullTool(): Tool {
  const tool = defineTool({
    name: READ_FULL_TOOL,
    label: "Read full message",
    description:
      "Reads what was left out of a message of this conversation because it did not fit into the context. Where text is missing, a marker says how to call this tool. Long texts come in pieces.",
    parameters: ReadFullArguments,
    replay: "pure",
    quick: true,
    summarise: ({ message, from = 0 }) => `message ${message} from ${from}`,
    execute: answeredElsewhere,
  });
  return { ...tool, view: "read" };
}
