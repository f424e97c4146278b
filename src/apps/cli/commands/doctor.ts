import type { Command } from "commander";
import { ModelError } from "../../../config/vendor-models.ts";
import { probeHost } from "../../../platform/sandbox/probe-host.ts";
import { omitUndefined } from "../../../platform/text/omit-undefined.ts";
import { parseUrl } from "../agent-flags.ts";
import type { Context, RunAction } from "../context.ts";
import {
  type Check,
  checkFreeSpace,
  checkHome,
  checkKeys,
  checkLive,
  checkNode,
  checkServer,
  checkTranscript,
} from "../doctor-checks.ts";
import { EXIT } from "../exit-codes.ts";
import { readPackageVersion } from "../package-version.ts";
import { stripControls } from "../palette.ts";
import { parsePositiveNumber } from "../parse-number.ts";
import { checkRipgrep, checkTemporal } from "../program-checks.ts";
import { checkSandbox } from "../sandbox-check.ts";
import { UsageError } from "../usage-error.ts";
import { checkVendor, selectVendorModel, type VendorCheck } from "../vendor-check.ts";
import { readModelCatalogue as knownModels } from "./models.ts";

export function configureDoctorCommand(command: Command, runAction: RunAction): void {
  command
    .option("--fix", "register missing search attributes")
    .option(
      "--vendor <name>",
      "send a minimal request to a model, and explain the response: anthropic, bedrock/ID, …",
    )
    .option("--base-url <url>", "the endpoint of the vendor's API (default: the vendor's)")
    .option("--timeout <seconds>", "how long to wait for the vendor's response (default: 30)")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast doctor
  $ holdfast doctor --fix --address temporal.example.com:7233 --namespace agents
  $ holdfast doctor --vendor anthropic
  $ holdfast doctor --vendor openai-responses/gpt-6-sol --json

--vendor checks only the vendor. The request costs a few tokens; the key is never displayed. With only a provider's name,
the request goes to its cheapest known model: ${VENDORS}.

Exit codes: 0 no check failed, or the vendor responded; 1 a check failed, or no response; 2 bad arguments.`,
    )
    .action(async (flags: Flags) => runAction((context) => runChosenChecks(context, flags)));
}

type Flags = {
  readonly fix?: boolean;
  readonly vendor?: string;
  readonly baseUrl?: string;
  readonly timeout?: string;
};

/** The values of `--vendor`. Azure and `local` need a model; Vertex needs a known project. */
const VENDORS =
  "anthropic, openai, openai-responses, azure/ID, google, vertex, bedrock, openrouter, local/ID@URL";
const DEFAULT_TIMEOUT_SECONDS = "30";

async function runChosenChecks(context: Context, flags: Flags): Promise<number> {
  if (flags.vendor !== undefined) return await checkOneVendor(context, flags.vendor, flags);
  const lost = flags.baseUrl !== undefined ? "--base-url" : flags.timeout !== undefined && "--timeout";
  if (lost) throw new UsageError(`${lost} needs a vendor. Specify it with --vendor NAME`);
  return await runChecks(context, flags.fix === true);
}

async function checkOneVendor(context: Context, vendorName: string, flags: Flags): Promise<number> {
  const { env } = context.streams;
  const timeoutMs = parsePositiveNumber("--timeout", flags.timeout ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
  const baseUrl = flags.baseUrl === undefined ? undefined : parseUrl(flags.baseUrl);
  const model = buildModel(vendorName, baseUrl, env);
  const check = await checkVendor(model, (name) => env[name], timeoutMs);
  if (context.json) context.printJson({ type: "vendor", ...check });
  else for (const line of formatVendorCheck(check, context.out)) context.print(line);
  return check.ok ? EXIT.ok : EXIT.failed;
}

function buildModel(vendorName: string, baseUrl: string | undefined, env: NodeJS.ProcessEnv) {
  try {
    return selectVendorModel(vendorName, omitUndefined({ baseUrl }), knownModels(env));
  } catch (error) {
    if (error instanceof ModelError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

function formatVendorCheck(check: VendorCheck, paint: Context["out"]): readonly string[] {
  const { model, protocol, address, key, ok, answer, details, advice, durationMs } = check;
  const rows: readonly (readonly [string, string])[] = [
    ["model", `${model} by ${protocol}`],
    ["address", address],
    ["key", key === undefined ? "no key of its own" : `in ${key}`],
    ["response", `${answer}, after ${durationMs} ms: ${details}`],
    ...(advice === undefined ? [] : [["advice", advice] as const]),
  ];
  const verdict = ok ? paint.green("ok  ") : paint.red("fail");
  return rows.map(
    ([name, text], index) => `${index === 0 ? verdict : "    "}  ${name.padEnd(9)}  ${stripControls(text)}`,
  );
}

async function runChecks(context: Context, fix: boolean): Promise<number> {
  const { env } = context.streams;
  const checks: readonly Check[] = [
    { name: "holdfast", verdict: "ok", details: readPackageVersion() },
    checkNode(),
    await checkHome(context.options.home),
    await checkFreeSpace(context.options.home),
    await checkLive(context.options.home, context.options.database),
    await checkTranscript(context.options.home, context.options.database),
    ...(await checkServer(context, fix)),
    checkKeys(env),
    await checkRipgrep(env),
    checkTemporal(env),
    checkSandbox(env, await probeHost()),
  ];
  for (const check of checks) {
    if (context.json) context.printJson({ type: "check", ...check });
    else for (const line of formatCheck(check, context.out)) context.print(line);
  }
  return checks.some(({ verdict }) => verdict === "fail") ? EXIT.failed : EXIT.ok;
}

function formatCheck({ name, verdict, details, advice }: Check, paint: Context["out"]): readonly string[] {
  const colour = { ok: paint.green, warn: paint.yellow, fail: paint.red }[verdict];
  return [
    `${colour(verdict.padEnd(4))}  ${name.padEnd(17)}  ${details}`,
    ...(advice === undefined ? [] : [paint.dim(`      ${" ".repeat(17)}  → ${advice}`)]),
  ];
}
