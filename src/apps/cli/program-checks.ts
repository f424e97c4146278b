import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { getCachedBinaryPath, getCacheFolder } from "../../devserver/binary-cache.ts";
import type { Check } from "./doctor-checks.ts";

const ANSWER_TIMEOUT_MS = 5_000;

/** Checks the ripgrep that comes with the package, or else the one on PATH. */
export async function checkRipgrep(env: NodeJS.ProcessEnv): Promise<Check> {
  const name = "ripgrep";
  const bundled = await import("@vscode/ripgrep").then(
    ({ rgPath }) => rgPath,
    () => undefined,
  );
  const path = bundled !== undefined && isProgram(bundled) ? bundled : findOnPath("rg", env);
  if (path === undefined) {
    return {
      name,
      verdict: "warn",
      details: "not found",
      advice: "install ripgrep; the search tool needs it",
    };
  }
  return checkVersionOutput(name, path, "reinstall the package, or install ripgrep");
}

/** Checks the Temporal binary. Only `holdfast dev` needs it, and downloads it when it is missing. */
export function checkTemporal(env: NodeJS.ProcessEnv): Check {
  const name = "temporal";
  const configured = env["HOLDFAST_TEMPORAL"];
  const cached = getCachedBinaryPath(getCacheFolder(env));
  const path =
    configured !== undefined && configured !== ""
      ? configured
      : (findOnPath("temporal", env) ?? (isProgram(cached) ? cached : undefined));
  if (path === undefined) {
    return {
      name,
      verdict: "warn",
      details: "no binary",
      advice: "`holdfast dev` downloads it; other servers do not need it",
    };
  }
  return checkVersionOutput(
    name,
    path,
    "check HOLDFAST_TEMPORAL, or remove the file so that `holdfast dev` downloads it",
  );
}

function checkVersionOutput(name: string, path: string, advice: string): Check {
  const { status, stdout, error } = spawnSync(path, ["--version"], {
    encoding: "utf8",
    timeout: ANSWER_TIMEOUT_MS,
  });
  const version = (stdout ?? "").split("\n")[0] ?? "";
  return status === 0
    ? { name, verdict: "ok", details: `${version} (${path})` }
    : {
        name,
        verdict: "warn",
        details: `${path} does not run: ${error?.message ?? `ended with ${status}`}`,
        advice,
      };
}

function findOnPath(program: string, env: NodeJS.ProcessEnv): string | undefined {
  return (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, program))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
