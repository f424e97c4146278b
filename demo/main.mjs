import { DemoEnvironment } from "./environment.mjs";
import { LinePrinter } from "./line-printer.mjs";
import { createVendorModel } from "./model.mjs";
import { HELP, readOptions, UsageError } from "./options.mjs";
import { formatRows, listBrokenPromises, toJson, UNFINISHED_REPORT } from "./report.mjs";
import { runStory } from "./story.mjs";

/** The time limits: the scripted job takes half a minute; a vendor's model takes longer. */
const LIMIT_MS = 120_000;
const VENDOR_LIMIT_MS = 600_000;

const EXIT = { ok: 0, broken: 1, usage: 2, interrupted: 130 };

class InterruptedError extends Error {}

/** Resolves at Ctrl-C or SIGTERM; a second signal ends the process immediately. */
const interrupted = new Promise((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.once(signal, () => {
      resolve();
      process.once(signal, () => process.exit(EXIT.interrupted));
    });
  }
});

process.exit(await main(process.argv.slice(2)));

async function main(args) {
  let options;
  try {
    options = readOptions(args);
    if (options.model !== undefined) createVendorModel(options.model);
  } catch (error) {
    process.stderr.write(`${error.message}\n${error instanceof UsageError ? `\n${HELP}` : ""}`);
    return EXIT.usage;
  }
  if (options.help) {
    process.stdout.write(HELP);
    return EXIT.ok;
  }
  const teller = new LinePrinter(options.json ? process.stderr : process.stdout);
  const stage = await DemoEnvironment.create();
  const code = await runDemo(stage, options, teller);
  if (code === EXIT.broken) teller.plain(`Transcript, logs and project are in ${stage.folder}`);
  await stage.end({ keepFolder: code === EXIT.broken });
  return code;
}

async function runDemo(stage, options, teller) {
  const limitMs = options.model === undefined ? LIMIT_MS : VENDOR_LIMIT_MS;
  try {
    const report = await withTimeLimit(limitMs, runStory(stage, options, teller));
    printReport(report, options, teller);
    if (options.json) process.stdout.write(`${JSON.stringify(toJson(report))}\n`);
    if (options.keep) await interrupted;
    return listBrokenPromises(report).length === 0 ? EXIT.ok : EXIT.broken;
  } catch (error) {
    if (error instanceof InterruptedError) {
      teller.plain("\nInterrupted: stopping server, workers and model.");
      return EXIT.interrupted;
    }
    teller.plain(`\n${teller.paint("red", `The demo failed: ${error.stack ?? error}`)}`);
    for (const [name, tail] of await stage.tails())
      teller.plain(`\n--- the end of the ${name}'s log\n${tail}`);
    teller.plain();
    if (options.json) process.stdout.write(`${JSON.stringify(toJson(UNFINISHED_REPORT))}\n`);
    return EXIT.broken;
  }
}

/** @throws Interrupted at Ctrl-C; an `Error` when the time limit is exceeded. */
async function withTimeLimit(limitMs, work) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the job was not done after ${limitMs / 1000} s`)), limitMs);
  });
  const stopped = interrupted.then(() => {
    throw new InterruptedError();
  });
  try {
    return await Promise.race([work, late, stopped]);
  } finally {
    clearTimeout(timer);
    stopped.catch(() => {});
  }
}

function printReport(report, { keep }, teller) {
  const wrong = new Set(listBrokenPromises(report));
  teller.plain();
  for (const [what, value, field] of formatRows(report)) {
    const mark = wrong.has(field) ? teller.paint("red", "✗") : teller.paint("green", "✓");
    const unknown = field === undefined || (report[field] === null && !wrong.has(field));
    teller.plain(`  ${unknown ? " " : mark} ${what.padEnd(29)} ${value}`);
  }
  teller.plain();
  teller.plain(
    wrong.size === 0
      ? teller.paint("green", "Everything is as promised.")
      : teller.paint("red", `NOT as promised: ${[...wrong].join(", ")}.`),
  );
  teller.plain(`The run in the Temporal UI: ${report.page}`);
  teller.plain(
    keep
      ? "Server and worker keep running until you press Ctrl-C."
      : "The server and this page end with the demo; `npm run demo -- --keep` keeps them until Ctrl-C.",
  );
}
