import { z } from "zod";
import { READ_FULL_DEFINITION } from "../../core/view/read-full-definition.ts";
import { offeredTool, type ViewTool } from "../tool.ts";

const whole = z.number().int().nonnegative();

export const ReadFullArguments = z.object({
  message: whole,
  from: whole.optional(),
  image: whole.optional(),
});

/** Offered while something is left out of a message that the model sees; a definition need not name it. */
export function readFullTool(): ViewTool {
  const { name, description, parameters } = READ_FULL_DEFINITION;
  const tool = offeredTool({
    name,
    label: "Read full message",
    description,
    parameters: ReadFullArguments,
    replay: "pure",
    quick: true,
    summarise: ({ message, from = 0 }) => `message ${message} from ${from}`,
  });
  return { ...tool, parameters, kind: "view", act: "read" };
}
