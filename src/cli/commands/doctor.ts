import type { Command } from "commander";
import { type Check, checkHome, checkKeys, checkLive, checkNode, checkRoom, checkServer } from "../checks.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { packageVersion } from "../package-version.ts";
import { checkRipgrep, checkTemporal } from "../program-checks.ts";

export function doctorCommand(
  program: Command,
  act: (work: (context: Context) => Promise<number>) => Promise<void>,
): void {
  program
    .command("doctor")
    .description("Check what agents need, and say what to do about what is missing")
    .option("--fix", "register missing search attributes")
    .addHelpText(
      "after",
      `
Examples:
  $ holdfast doctor
  $ holdfast doctor --fix --address temporal.example.com:7233 --namespace agents`,
    )
    .action(async (flags: { fix?: boolean }) => act((context) => doctor(context, flags.fix === true)));
}

async function doctor(context: Context, fix: boolean): Promise<number> {
  const { env } = context.streams;
  const checks: readonly Check[] = [
    { name: "holdfast", verdict: "ok", found: packageVersion() },
    checkNode(),
    await checkHome(context.options.home),
    await checkRoom(context.options.home),
    await checkLive(context.options.home, context.options.database),
    ...(await checkServer(context, fix)),
    checkKeys(env),
    await checkRipgrep(env),
    checkTemporal(env),
  ];
  for (const check of checks) {
    if (context.json) context.printJson(check);
    else for (const line of checkLines(check, context.out)) context.print(line);
  }
  return checks.some(({ verdict }) => verdict === "fail") ? EXIT.failed : EXIT.ok;
}

function checkLines({ name, verdict, found, advice }: Check, paint: Context["out"]): readonly string[] {
  const colour = { ok: paint.green, warn: paint.yellow, fail: paint.red }[verdict];
  return [
    `${colour(verdict.padEnd(4))}  ${name.padEnd(17)}  ${found}`,
    ...(advice === undefined ? [] : [paint.dim(`      ${" ".repeat(17)}  → ${advice}`)]),
  ];
}
