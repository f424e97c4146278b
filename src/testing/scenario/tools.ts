import { z } from "zod";
import { defineTool, type Tool, type ToolContext } from "../../tools/tool.ts";
import type { ParameterType, ScenarioTool } from "./schema.ts";

const TYPES = { string: z.string(), number: z.number(), boolean: z.boolean() } as const;

/** A scenario's tool as a worker holds it. */
export function toolOf(
  tool: ScenarioTool,
  execute: (context: ToolContext) => Promise<string> | string,
): Tool {
  const shape = Object.fromEntries(
    Object.entries(tool.parameters).map(([name, type]) => [name, parameterOf(type)]),
  );
  return defineTool({
    name: tool.name,
    description: `The scenario's ${tool.name}`,
    parameters: z.object(shape),
    replay: tool.replay,
    quick: tool.quick,
    ...(tool.timeoutMs === undefined ? {} : { timeoutMs: tool.timeoutMs }),
    execute: (_, context) => execute(context),
  });
}

function parameterOf(type: z.infer<typeof ParameterType>): z.ZodType {
  const plain = TYPES[type.replace("?", "") as keyof typeof TYPES];
  return type.endsWith("?") ? plain.optional() : plain;
}
