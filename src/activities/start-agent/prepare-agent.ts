import { MAX_MESSAGE_BYTES } from "../../core/machine/append-message.ts";
import { estimateText } from "../../core/view/estimate.ts";
import { findNearestName } from "../../platform/text/nearest-name.ts";
import type { AgentDefinition } from "../../schema/definition.ts";
import type { Transcript } from "../../store/transcript/transcript.ts";
import type {
  PrepareAgentInput,
  PreparedAgent,
  StoredMessage,
  StoreMessageInput,
} from "../activity-types.ts";
import type { Dependencies } from "../dependencies.ts";
import { parseDefinition } from "../step/definitions.ts";
import { DefinitionError, toFailure } from "../step/failure.ts";

// What a workflow of an application needs to start an agent and to send it texts. Both run as local activities, whose
// inputs Temporal does not store: texts and definitions go to the transcript, and only their hashes cross history.

type StoringDependencies = Pick<Dependencies, "agents" | "agentSettings"> & {
  readonly transcript: Pick<Transcript, "putText" | "saveDefinition">;
};

/** Stores the definition and the prompt of an agent that is about to be started. */
export async function prepareAgent(
  { agent, prompt }: PrepareAgentInput,
  { transcript, agents, agentSettings }: StoringDependencies,
): Promise<PreparedAgent> {
  try {
    const definition = typeof agent === "string" ? findAgent(agent, agents) : parseDefinition(agent);
    checkText(prompt, "prompt");
    return {
      definitionHash: await transcript.saveDefinition(definition),
      agentName: definition.name,
      prompt: await transcript.putText(prompt, Date.now()),
      settings: agentSettings ?? {},
    };
  } catch (error) {
    throw toFailure(error);
  }
}

/** Stores the text of a message for an agent that runs. */
export async function storeMessage(
  { text }: StoreMessageInput,
  { transcript }: StoringDependencies,
): Promise<StoredMessage> {
  try {
    checkText(text, "message");
    return { ref: await transcript.putText(text, Date.now()), tokens: estimateText(text) };
  } catch (error) {
    throw toFailure(error);
  }
}

function findAgent(name: string, agents: Dependencies["agents"] = {}): AgentDefinition {
  const found = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(agents);
  const near = findNearestName(name, names);
  const known =
    near !== undefined
      ? `did you mean "${near}"?`
      : names.length === 0
        ? "the worker was given no agents"
        : `the worker has ${names.join(", ")}`;
  throw new DefinitionError(
    `Unknown agent "${name}": ${known} Add it to \`agents\` of holdfastPlugin(), or pass a definition.`,
  );
}

function checkText(text: unknown, label: string): void {
  if (typeof text !== "string" || text.trim() === "") {
    throw new DefinitionError(`The ${label} must be a text that is not empty`);
  }
  const bytes = Buffer.byteLength(text, "utf8");
  if (bytes <= MAX_MESSAGE_BYTES) return;
  throw new DefinitionError(
    `The ${label} has ${bytes} bytes; the maximum is ${MAX_MESSAGE_BYTES}. Put the text into a file of the workspace, ` +
      "and refer to the file instead",
  );
}
