import { access, constants, stat } from "node:fs/promises";
import { HoldfastError } from "../../client/holdfast-error.ts";
import type { Health, Holdfast } from "../../client/index.ts";
import {
  checkIntegrity,
  findExistingFolder,
  findLiveFolderProblem,
  findLowDiskSpace,
} from "../../client/sessions/store-health.ts";
import { getDatabaseUrl } from "../../config/database-url.ts";
import { resolveHome } from "../../config/home.ts";
import { omitUndefined } from "../../platform/text/omit-undefined.ts";
import { connectToServer } from "./connection.ts";
import type { Context } from "./context.ts";

/** The result of one check of `holdfast doctor`. */
export type Check = {
  readonly name: string;
  readonly verdict: "ok" | "warn" | "fail";
  readonly details: string;
  /** What to do; absent when the check passes. */
  readonly advice?: string;
};

/** The oldest supported release (package.json, engines). */
const OLDEST_NODE = [20, 19] as const;

export function checkNode(version: string = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldest, oldestMinor] = OLDEST_NODE;
  const ok = major > oldest || (major === oldest && minor >= oldestMinor);
  const name = "node";
  return ok
    ? { name, verdict: "ok", details: version }
    : { name, verdict: "fail", details: version, advice: `install Node ${oldest}.${oldestMinor} or newer` };
}

/** The variables of keys. The check reads only whether they are set. */
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
    ? { name, verdict: "ok", details: set.join(", ") }
    : {
        name,
        verdict: "warn",
        details: "none is set",
        advice: `set ANTHROPIC_API_KEY, OPENAI_API_KEY or the variable of your vendor (docs/vendors) where the worker runs; local models need no key`,
      };
}

export const HOME_ADVICE =
  "make it a folder that you can write, or specify another with --home or HOLDFAST_HOME";

export async function checkHome(folder: string | undefined): Promise<Check> {
  const home = resolveHome(folder);
  const name = "home";
  try {
    const found = await stat(home.folder).catch(() => undefined);
    if (found === undefined) {
      await access(await findExistingFolder(home.folder), constants.W_OK);
      return { name, verdict: "ok", details: `${home.folder} (created when needed)` };
    }
    if (!found.isDirectory()) throw new Error("it is not a folder");
    await access(home.folder, constants.W_OK | constants.X_OK);
    const open = (found.mode & 0o077) !== 0;
    return open
      ? {
          name,
          verdict: "warn",
          details: `${home.folder} is readable by other users`,
          advice: `chmod 700 ${home.folder}`,
        }
      : { name, verdict: "ok", details: home.folder };
  } catch (error) {
    return {
      name,
      verdict: "fail",
      details: `${home.folder}: ${(error as Error).message}`,
      advice: HOME_ADVICE,
    };
  }
}

/** Checks the free space of the disk that has the transcript and the live output. */
export async function checkFreeSpace(folder: string | undefined): Promise<Check> {
  const home = resolveHome(folder);
  const lowSpace = await findLowDiskSpace(home.folder);
  const name = "room";
  if (lowSpace === undefined) return { name, verdict: "ok", details: "enough" };
  return lowSpace.isFull
    ? {
        name,
        verdict: "fail",
        details: `${lowSpace.found}: the disk is full`,
        advice: "free some space, then start again",
      }
    : {
        name,
        verdict: "warn",
        details: lowSpace.found,
        advice: "free some space: runs wait while the disk is full",
      };
}

/** Checks the transcript file page by page, without a server. */
export async function checkTranscript(
  folder: string | undefined,
  database: string | undefined,
): Promise<Check> {
  const name = "transcript file";
  if (getDatabaseUrl(database) !== undefined)
    return { name, verdict: "ok", details: "none: it is in a database" };
  try {
    const found = await checkIntegrity(resolveHome(folder).transcript);
    if (found.type !== "too-large")
      return {
        name,
        verdict: "ok",
        details: found.type === "sound" ? "intact" : "created when needed",
      };
    const size = `${Math.round(found.bytes / 1024 ** 3)} GB`;
    return { name, verdict: "ok", details: `not checked: the file has ${size}` };
  } catch (error) {
    return { name, verdict: "fail", details: (error as Error).message };
  }
}

/** Checks the folder of live output. Without it, a worker still runs, but nobody can watch its progress. */
export async function checkLive(folder: string | undefined, database: string | undefined): Promise<Check> {
  const name = "live output";
  if (getDatabaseUrl(database) !== undefined) return { name, verdict: "ok", details: "in the database" };
  const { live } = resolveHome(folder);
  const problem = await findLiveFolderProblem(live);
  return problem === undefined
    ? { name, verdict: "ok", details: live }
    : { name, verdict: "warn", details: problem, advice: `make ${live} writable` };
}

/** Checks the server, namespace, search attributes, workers and transcript, as the client sees them. */
export async function checkServer(context: Context, fix: boolean): Promise<readonly Check[]> {
  let holdfast: Holdfast;
  try {
    holdfast = await connectToServer(context);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const name = error.code === "namespace-unknown" ? "namespace" : "server";
    return [{ name, verdict: "fail", details: error.message, ...buildAdvice(error.facts.command) }];
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
    { name: "server", verdict: "ok", details: `${at.address}, version ${health.serverVersion ?? "unknown"}` },
    { name: "namespace", verdict: "ok", details: at.namespace },
    checkAttributes(health.attributes),
    checkPollers(at.taskQueue, health.pollers),
    checkTranscriptHealth(health.transcript),
  ];
}

function checkAttributes(attributes: Health["attributes"]): Check {
  const name = "search attributes";
  if ("error" in attributes) {
    return {
      name,
      verdict: "warn",
      details: attributes.error,
      advice: "ask the server's operator whether they are registered",
    };
  }
  const { missing, wrongType, registered, command } = attributes;
  if (wrongType.length > 0) {
    return {
      name,
      verdict: "fail",
      details: `registered with another type: ${wrongType.join(", ")}`,
      advice: "use another namespace",
    };
  }
  if (missing.length > 0) {
    return {
      name,
      verdict: "fail",
      details: `missing: ${missing.join(", ")}`,
      advice: `holdfast doctor --fix, or: ${command}`,
    };
  }
  return {
    name,
    verdict: "ok",
    details: registered.length === 0 ? "registered" : `registered just now: ${registered.join(", ")}`,
  };
}

function checkPollers(taskQueue: string, pollers: Health["pollers"]): Check {
  const name = "workers";
  if ("error" in pollers) return { name, verdict: "warn", details: pollers.error };
  if (pollers.workflow > 0 && pollers.activity > 0) {
    const versions = pollers.versions === undefined ? "" : ` by ${pollers.versions.join(", ")}`;
    return { name, verdict: "ok", details: `"${taskQueue}" is polled${versions}` };
  }
  return {
    name,
    verdict: "warn",
    details: `no worker polls "${taskQueue}"`,
    advice: "start one: holdfast worker (or holdfast dev)",
  };
}

function checkTranscriptHealth(transcript: Health["transcript"]): Check {
  const name = "transcript";
  const { path } = transcript;
  if ("error" in transcript) return { name, verdict: "fail", details: transcript.error };
  if (transcript.exists && transcript.problem !== undefined) {
    return { name, verdict: "fail", details: transcript.problem };
  }
  return transcript.exists
    ? { name, verdict: "ok", details: `${path}, schema ${transcript.schema}` }
    : { name, verdict: "ok", details: `${path} (created when needed)` };
}

function buildAdvice(command: string | undefined): { advice?: string } {
  return omitUndefined({ advice: command });
}
