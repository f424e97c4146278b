import { z } from "zod";

// Fields that many schemas have, with the same meaning and description in each of them.

export const sessionId = z.string().describe("The id of the session.");

export const agentId = z.string().describe("The permanent id of the agent, a UUID.");

export const definitionHash = z.string().describe("The hash of the agent's definition.");

export const loopId = z.string().describe("The id of the loop.");

export const parentLoopId = z
  .string()
  .optional()
  .describe("The loop that this one follows; absent if it follows none.");

export const turnIndex = z.number().int().nonnegative().describe("The turn within its loop, counted from 0.");

export const toolCallId = z.string().describe("The id of the call, unique within its turn.");

export const toolName = z.string().describe("The name of the tool.");

export const childLoopId = z
  .string()
  .optional()
  .describe("The loop of the agent that the call ran; absent if it ran none.");
