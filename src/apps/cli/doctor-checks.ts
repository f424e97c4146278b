import { access, constants, stat } from "node:fs/promises";
import { type Health, type Holdfast, HoldfastError } from "../../client/index.ts";
import {
  checkIntegrity,
  findExistingFolder,
  findLiveFolderProblem,
  findLowDiskSpace,
} from "../../client/sessions/store-health.ts";
import { getDatabaseUrl } from "../../config/database-url.ts";
import { resolveHome } from "../../config/home.ts";
import { connectToServer } from "./connection.ts";
import type { Context } from "./context.ts";

/** One line of `holdfast doctor`. */
export type Check = {
  readonly name: string;
  readonly verdict: "ok" | "warn" | "fail";
  readonly found: string;
  /** What to do; absent when it is well. */
  readonly advice?: string;
};

/** The first release with everything that we use of it (package.json, engines). */
const OLDEST_NODE = [20, 19] as const;

export function checkNode(version: string = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldest, oldestMinor] = OLDEST_NODE;
  const ok = major > oldest || (major === oldest && minor >= oldestMinor);
  const name = "node";
  return ok
    ? { name, verdict: "ok", found: version }
    : { name, verdict: "fail", found: version, advice: `install Node ${oldest}.${oldestMinor} or newer` };
}

/** Names alone: a value is never looked at beyond whether it is there. */
const KEY_VARIABLES = [
  "ANTHROPIC_API_KEY",
  "OPENAI_API_KEY",
  "GEMINI_API_KEY",
  "GOOGLE_API_KEY",
  "AZURE_OPENAI_API_KEY",
  "AWS_BEARER_TOKEN_BEDROCK",
  "OPENROUTER_API_KEY",
] as const;

export function checkKeys(env: NodeJS.ProcessEnv): Check {
  const set = KEY_VARIABLES.filter((name) => (env[name] ?? "") !== "");
  const name = "keys";
  return set.length > 0
    ? { name, verdict: "ok", found: set.join(", ") }
    : {
        name,
        verdict: "warn",
        found: "none is set here",
        advice: `set ANTHROPIC_API_KEY, OPENAI_API_KEY or what else your vendor's page names, where the worker runs; local models need none`,
      };
}

export const HOME_ADVICE =
  "make it a folder that you can write, or name another with --home or HOLDFAST_HOME";

export async function checkHome(folder: string | undefined): Promise<Check> {
  const home = resolveHome(folder);
  const name = "home";
  try {
    const found = await stat(home.folder).catch(() => undefined);
    if (found === undefined) {
      await access(await findExistingFolder(home.folder), constants.W_OK);
      return { name, verdict: "ok", found: `${home.folder} (made when it is needed)` };
    }
    if (!found.isDirectory()) throw new Error("it is not a folder");
    await access(home.folder, constants.W_OK | constants.X_OK);
    const open = (found.mode & 0o077) !== 0;
    return open
      ? {
          name,
          verdict: "warn",
          found: `${home.folder} can be read by others`,
          advice: `chmod 700 ${home.folder}`,
        }
      : { name, verdict: "ok", found: home.folder };
  } catch (error) {
    return {
      name,
      verdict: "fail",
      found: `${home.folder}: ${(error as Error).message}`,
      advice: HOME_ADVICE,
    };
  }
}

/** The disk that transcript and live output lie on. */
export async function checkFreeSpace(folder: string | undefined): Promise<Check> {
  const home = resolveHome(folder);
  const lowSpace = await findLowDiskSpace(home.folder);
  const name = "room";
  if (lowSpace === undefined) return { name, verdict: "ok", found: "enough" };
  return lowSpace.isFull
    ? {
        name,
        verdict: "fail",
        found: `${lowSpace.found}: the disk is full`,
        advice: "make room, and start again",
      }
    : { name, verdict: "warn", found: lowSpace.found, advice: "make room: runs wait while the disk is full" };
}

/** The file itself, page by page: a server is not needed for that. */
export function checkTranscript(folder: string | undefined, database: string | undefined): Check {
  const name = "transcript file";
  if (getDatabaseUrl(database) !== undefined)
    return { name, verdict: "ok", found: "none: it is in a database" };
  try {
    const found = checkIntegrity(resolveHome(folder).transcript);
    if (found.type !== "too-large")
      return {
        name,
        verdict: "ok",
        found: found.type === "sound" ? "holds together" : "made when it is needed",
      };
    const size = `${Math.round(found.bytes / 1024 ** 3)} GB`;
    return { name, verdict: "ok", found: `not looked through: it has ${size}` };
  } catch (error) {
    return { name, verdict: "fail", found: (error as Error).message };
  }
}

/** Live output, where it lies in files. A worker without it works on; nobody sees it at work. */
export async function checkLive(folder: string | undefined, database: string | undefined): Promise<Check> {
  const name = "live output";
  if (getDatabaseUrl(database) !== undefined) return { name, verdict: "ok", found: "in the database" };
  const { live } = resolveHome(folder);
  const problem = await findLiveFolderProblem(live);
  return problem === undefined
    ? { name, verdict: "ok", found: live }
    : { name, verdict: "warn", found: problem, advice: `make ${live} writable` };
}

/** Server, namespace, search attributes, workers and transcript: what the client sees. */
export async function checkServer(context: Context, fix: boolean): Promise<readonly Check[]> {
  let holdfast: Holdfast;
  try {
    holdfast = await connectToServer(context);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const name = error.code === "namespace-unknown" ? "namespace" : "server";
    return [{ name, verdict: "fail", found: error.message, ...buildAdvice(error.facts.command) }];
  }
  try {
    return toHealthChecks(holdfast, await holdfast.health({ register: fix }));
  } finally {
    await holdfast.close();
  }
}

export function toHealthChecks(
  at: { readonly address: string; readonly namespace: string; readonly taskQueue: string },
  health: Health,
): readonly Check[] {
  return [
    { name: "server", verdict: "ok", found: `${at.address}, version ${health.serverVersion ?? "unknown"}` },
    { name: "namespace", verdict: "ok", found: at.namespace },
    checkAttributes(health.attributes),
    checkPollers(at.taskQueue, health.pollers),
    checkTranscriptHealth(health.transcript),
  ];
}

function checkAttributes(attributes: Health["attributes"]): Check {
  const name = "search attributes";
  if ("said" in attributes) {
    return {
      name,
      verdict: "warn",
      found: attributes.said,
      advice: "ask who runs the server whether they are there",
    };
  }
  const { missing, wrongType, registered, command } = attributes;
  if (wrongType.length > 0) {
    return {
      name,
      verdict: "fail",
      found: `of another type: ${wrongType.join(", ")}`,
      advice: "use another namespace",
    };
  }
  if (missing.length > 0) {
    return {
      name,
      verdict: "fail",
      found: `missing: ${missing.join(", ")}`,
      advice: `holdfast doctor --fix, or: ${command}`,
    };
  }
  return {
    name,
    verdict: "ok",
    found: registered.length === 0 ? "registered" : `registered just now: ${registered.join(", ")}`,
  };
}

function checkPollers(taskQueue: string, pollers: Health["pollers"]): Check {
  const name = "workers";
  if ("said" in pollers) return { name, verdict: "warn", found: pollers.said };
  if (pollers.workflow > 0 && pollers.activity > 0) {
    const versions = pollers.versions === undefined ? "" : ` by ${pollers.versions.join(", ")}`;
    return { name, verdict: "ok", found: `"${taskQueue}" is polled${versions}` };
  }
  return {
    name,
    verdict: "warn",
    found: `nobody polls "${taskQueue}"`,
    advice: "holdfast worker (or holdfast dev)",
  };
}

function checkTranscriptHealth(transcript: Health["transcript"]): Check {
  const name = "transcript";
  const { path } = transcript;
  if ("said" in transcript) return { name, verdict: "fail", found: transcript.said };
  if (transcript.exists && transcript.trouble !== undefined) {
    return { name, verdict: "fail", found: transcript.trouble };
  }
  return transcript.exists
    ? { name, verdict: "ok", found: `${path}, schema ${transcript.schema}` }
    : { name, verdict: "ok", found: `${path} (made when it is needed)` };
}

function buildAdvice(command: string | undefined): { advice?: string } {
  return command === undefined ? {} : { advice: command };
}
