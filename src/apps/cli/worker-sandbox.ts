import { HoldfastError } from "../../client/holdfast-error.ts";
import type { AgentDefinitionInput } from "../../client/index.ts";
import { resolveHome } from "../../config/home.ts";
import { readSandbox } from "../../config/sandbox.ts";
import { type HostProbe, probeHost } from "../../platform/sandbox/probe-host.ts";
import type { SandboxMode } from "../../schema/sandbox.ts";
import { askYesNo, canAsk } from "./accept-import.ts";
import type { Context } from "./context.ts";
import { SandboxAnswers } from "./sandbox-answers.ts";
import { parseSandboxFlag, type SandboxFlag } from "./sandbox-flag.ts";

// Whether a worker that a command starts can run the command's agents in their sandbox.
//
// Invariants
//   S1. Without a sandbox, an agent runs only where a user has said so: with the flag, in the agent file, with the variable,
//       or with an answer for the folder.
//   S2. An answer for the folder changes only the default. It changes nothing of a mode that somebody has stated.
//   S3. A host that can make the sandbox asks nothing, and uses the sandbox in spite of an answer for the folder.

/** The agents for which a command starts a worker. */
export type SandboxNeed = SandboxFlag & {
  /** With their flags applied. Absent: unknown before the worker runs, such as that of a stored session. */
  readonly agents?: readonly AgentDefinitionInput[] | undefined;
};

type Failure = Extract<HostProbe, { readonly able: false }>;

export type SandboxPlace = {
  /** The folder that the question is about. */
  readonly folder: string;
  readonly probe: () => Promise<HostProbe>;
};

/**
 * Chooses the `--sandbox` of a worker that this command starts; `undefined` leaves it to the worker's environment. Where the
 * host cannot make the sandbox, asks at a terminal once for each folder.
 *
 * @throws HoldfastError where the host cannot make the sandbox and nobody has said that there may be none.
 */
export async function chooseWorkerSandbox(
  context: Context,
  need: SandboxNeed,
  { folder, probe }: SandboxPlace = { folder: process.cwd(), probe: probeHost },
): Promise<SandboxMode | undefined> {
  const flag = parseSandboxFlag(need);
  const fallback = flag ?? readVariable(context);
  const stated = need.agents?.flatMap(listProcessSandboxes);
  const own = stated?.find((mode) => mode !== undefined && mode !== "off");
  const needsFallback = fallback !== "off" && (stated === undefined || stated.includes(undefined));
  if (own === undefined && !needsFallback) return flag;
  const found = await probe();
  if (found.able) return flag;
  if (own !== undefined) throw createRefusal(own, found);
  if (flag !== undefined && stated !== undefined) throw createRefusal(flag, found);
  const answers = new SandboxAnswers(resolveHome(context.options.home).folder);
  const answer = flag === undefined ? await answers.read(folder) : undefined;
  if (answer !== undefined) {
    const since = answer.answeredAt.slice(0, 10);
    context.report(
      context.err.yellow(
        `No sandbox in ${folder}: ${describeFailure(found)}, and you chose on ${since} to run without one. As soon as the host can make a sandbox, it is used: \`holdfast doctor\` says how. To be asked again, delete ${answers.file}.`,
      ),
    );
    return "off";
  }
  if (flag === undefined && canAsk(context)) {
    context.report(`This host cannot make the sandbox for commands of agents: ${describeFailure(found)}.`);
    context.report(found.remedy);
    context.report("Without a sandbox, commands can read, change and send whatever you can.");
    if (!(await askYesNo(context, `Run without a sandbox in ${folder}, now and later? y/N `)))
      throw createRefusal(fallback, found);
    await answers.store(folder, new Date());
    return "off";
  }
  if (stated !== undefined) throw createRefusal(fallback, found);
  // The worker knows the agents, and refuses those that need the sandbox.
  context.report(
    context.err.yellow(
      `This host cannot make the sandbox "${fallback}": ${describeFailure(found)}. Agents whose commands need it are refused. ${found.remedy} ${OFF}`,
    ),
  );
  return flag;
}

const OFF = "To run them without a sandbox, add `--sandbox off` or set HOLDFAST_SANDBOX=off.";

function createRefusal(mode: SandboxMode, failure: Failure): HoldfastError {
  return new HoldfastError(
    "configuration-invalid",
    `No worker was started: this host cannot make the sandbox "${mode}" for commands of the agent: ${describeFailure(failure)}. ${failure.remedy} ${OFF}`,
  );
}

function describeFailure({ attempt, answer }: Failure): string {
  return `Holdfast ${attempt}, and got: ${answer.replace(/[.\s]+$/, "")}`;
}

function readVariable({ streams }: Context): SandboxMode {
  try {
    return readSandbox(undefined, streams.env).mode;
  } catch (error) {
    throw new HoldfastError("configuration-invalid", `${(error as Error).message}.`, { cause: error });
  }
}

/** Lists the sandbox of an agent and its sub-agents, as far as they start processes; `undefined` for one that states none. */
function listProcessSandboxes(agent: AgentDefinitionInput): readonly (SandboxMode | undefined)[] {
  const below = (agent.subAgents ?? []).flatMap((child) => listProcessSandboxes(child.agent));
  return startsProcesses(agent) ? [agent.sandbox?.mode, ...below] : below;
}

/** A worker that a command starts has no tools of an application: of the others, only bash starts processes. */
function startsProcesses({ tools = [], hooks = {}, mcp = [] }: AgentDefinitionInput): boolean {
  const areCommands = Object.values(hooks).some((uses) =>
    (uses ?? []).some((use) => typeof use !== "string" && "command" in use),
  );
  const areServers = mcp.some(({ transport }) => transport.type === "stdio");
  return areCommands || areServers || tools.includes("bash");
}
