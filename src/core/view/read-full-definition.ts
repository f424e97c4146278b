import type { ToolDefinition } from "../../schema/tool.ts";
import { READ_FULL_TOOL } from "./view-request.ts";

const number = (description: string) => ({ type: "integer", minimum: 0, description }) as const;

/** What a model is told of the tool that reads what its view leaves out of messages. */
export const READ_FULL_DEFINITION: ToolDefinition = {
  name: READ_FULL_TOOL,
  description:
    "Reads what was left out of a message of this conversation because it did not fit into the context. Where text is missing, a marker says how to call this tool. Long texts come in pieces.",
  parameters: {
    type: "object",
    properties: {
      message: number("The number of the message, as the marker names it"),
      from: number("The character to begin at, as the marker names it; 0 by default"),
      image: number("The number of an image of the message, as its marker names it"),
    },
    required: ["message"],
  },
};
