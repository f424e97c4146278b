import type { AgentDefinitionInput } from "../client/index.ts";
import { nearestName } from "../core/nearest-name.ts";
import { ServerProblem } from "./problem.ts";
import type { AgentChoice } from "./requests.ts";

/** Agents that the server was started with, by name. Where there are none, a request brings its own definition. */
export type Agents = ReadonlyMap<string, AgentDefinitionInput>;

/** @returns Nothing when none is named and there is no only one. */
export function chosen(agents: Agents, choice: AgentChoice | undefined): AgentDefinitionInput | undefined {
  if (choice === undefined) return agents.size === 1 ? [...agents.values()][0] : undefined;
  if (typeof choice !== "string") {
    // The client checks it whole.
    if (agents.size === 0) return choice as AgentDefinitionInput;
    throw new ServerProblem(
      "body-invalid",
      `This server starts its own agents only: name one of ${[...agents.keys()].join(", ")} in "agent".`,
    );
  }
  const found = agents.get(choice);
  if (found !== undefined) return found;
  const names = [...agents.keys()];
  const near = nearestName(choice, names);
  const hint =
    names.length === 0
      ? "It was started with none (--agent FILE): send a definition."
      : near === undefined
        ? `It has ${names.join(", ")}.`
        : `Did you mean "${near}"?`;
  throw new ServerProblem("body-invalid", `This server has no agent "${choice}". ${hint}`);
}
