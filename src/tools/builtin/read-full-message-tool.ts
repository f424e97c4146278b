import { z } from "zod";
import { READ_FULL_DEFINITION } from "../../core/view/read-full-definition.ts";
import { defineOfferedTool, type ViewTool } from "../tool.ts";

const indexSchema = z.number().int().nonnegative();

export const ReadFullMessageArguments = z.object({
  message: indexSchema,
  from: indexSchema.optional(),
  image: indexSchema.optional(),
});

/** Creates the tool that is offered while the view shortens a message. A definition does not have to name it. */
export function createReadFullMessageTool(): ViewTool {
  const { name, description, parameters } = READ_FULL_DEFINITION;
  const tool = defineOfferedTool({
    name,
    label: "Read full message",
    description,
    inputSchema: ReadFullMessageArguments,
    replay: "pure",
    quick: true,
    summarise: ({ message, from = 0 }) => `message ${message} from ${from}`,
  });
  return { ...tool, parameters, kind: "view", action: "read" };
}
