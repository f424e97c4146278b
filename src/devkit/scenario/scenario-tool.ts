import { z } from "zod";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { defineTool, type Tool, type TouchedResources } from "../../tools/tool.ts";
import type { ToolContext, ToolOutput } from "../../tools/tool-execution.ts";
import type { Deed, ParameterType, ScenarioTool } from "./form/tool.ts";

const TYPES = { string: z.string(), number: z.number(), boolean: z.boolean() } as const;

/** Creates a worker's tool from a scenario's tool. */
export function createTool(
  tool: ScenarioTool,
  execute: (value: unknown, context: ToolContext) => Promise<ToolOutput | string> | string,
): Tool {
  const shape = Object.fromEntries(
    Object.entries(tool.parameters).map(([name, type]) => [name, buildParameter(type)]),
  );
  return defineTool({
    name: tool.name,
    description: `The scenario's ${tool.name}`,
    inputSchema: z.object(shape),
    replay: tool.replay,
    quick: tool.quick,
    ...omitUndefined({ timeoutMs: tool.timeoutMs }),
    needsApproval: tool.confirm,
    touches: (value) => listTouched(tool, value),
    execute,
  });
}

/** Builds the output of a call that has this text as its result. */
export function buildOutput(text: string, { endsLoop }: Pick<Deed, "endsLoop">): ToolOutput {
  return { content: [{ type: "text", text }], ...omitUndefined({ endsLoop }) };
}

function listTouched(
  { touches = {} }: ScenarioTool,
  value: Readonly<Record<string, unknown>>,
): TouchedResources {
  const getArgument = (name: string | undefined) => (name === undefined ? undefined : value[name]);
  const [path, command] = [getArgument(touches.path), getArgument(touches.command)];
  return {
    ...(typeof path === "string" ? { paths: [path] } : {}),
    ...(typeof command === "string" ? { command } : {}),
  };
}

function buildParameter(type: z.infer<typeof ParameterType>): z.ZodType {
  const plain = TYPES[type.replace("?", "") as keyof typeof TYPES];
  return type.endsWith("?") ? plain.optional() : plain;
}
