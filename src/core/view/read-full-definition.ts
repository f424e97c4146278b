import type { ToolDefinition } from "../../schema/tool.ts";
import { READ_FULL_TOOL } from "./view-request.ts";

const number = (description: string) => ({ type: "integer", minimum: 0, description }) as const;

/** The definition, for the model, of the tool that reads what its view omits from messages. */
export const READ_FULL_DEFINITION: ToolDefinition = {
  name: READ_FULL_TOOL,
  description:
    "Reads the part of a message of this conversation that was omitted because it did not fit into the context. Where text is missing, a marker says how to call this tool. Long texts are returned in pieces.",
  parameters: {
    type: "object",
    properties: {
      message: number("The number of the message, as given in the marker"),
      from: number("The character to start at, as given in the marker; 0 by default"),
      image: number("The number of an image or file of the message, as given in its marker"),
    },
    required: ["message"],
  },
};
