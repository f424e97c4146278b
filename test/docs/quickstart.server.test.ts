import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { describeIf } from "../support/skipping.ts";
import { isThorough, thoroughTest } from "../support/test-depth.ts";
import { readPage } from "./support/doc-programs.ts";
import { findMissingLines, listSteps } from "./support/page-steps.ts";
import { hasPrivateNetwork, NO_PRIVATE_NETWORK, PrivateShell } from "./support/private-shell.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const steps = listSteps(readPage("quickstart"));

test("every command of the quickstart fits into a terminal of 80 columns", () => {
  const commands = steps.flatMap((step) => (step.type === "run" ? step.commands.split("\n") : []));
  expect(commands.length).toBeGreaterThan(15);
  expect(commands.filter((line) => line.length > 78)).toEqual([]);
});

describeIf(hasPrivateNetwork, NO_PRIVATE_NETWORK)("the quickstart", () => {
  let folder: string;
  let shell: PrivateShell | undefined;
  beforeAll(() => {
    if (!isThorough) return;
    folder = mkdtempSync(join(tmpdir(), "holdfast-quickstart-"));
    installPackage(folder);
    const { PATH, HOME } = process.env;
    shell = new PrivateShell(folder, { PATH, HOME, HOLDFAST_HOME: join(folder, "home") });
  });
  afterAll(async () => {
    await shell?.stop();
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }, 90_000);

  thoroughTest(
    "does what the page says, block by block",
    async () => {
      const readSaved = (name: string) => readFileSync(join(folder, name), "utf8");
      let printed = "";
      for (const step of steps) {
        switch (step.type) {
          case "save":
            writeFileSync(join(folder, step.file), step.text);
            break;
          case "compare":
            expect({ printed, missing: findMissingLines(step.lines, printed) }).toMatchObject({
              missing: [],
            });
            break;
          case "run":
            // The test has the package of this build.
            if (step.note === "in a clone" || step.commands.includes("npm install")) break;
            if (step.note === "in the second terminal") {
              await shell?.run(`(${step.commands}) >second-terminal.txt 2>&1 &`);
              await eventually(() => readSaved("second-terminal.txt").includes("worker    ready"), {
                what: "the worker of the second terminal",
                timeoutMs: 90_000,
              });
              printed = readSaved("second-terminal.txt");
              break;
            }
            // The second invoice is on its way.
            if (step.commands.startsWith("kill -9"))
              await eventually(() => readSaved("invoices.txt").includes("Ben"));
            printed = (await shell?.run(step.commands)) ?? "";
        }
      }
      // The kill met the worker, and another one went on.
      expect(readSaved("second-terminal.txt")).toMatch(/the worker ended by SIGKILL; starting another/);
    },
    300_000,
  );
});

/** Installs the package of this build as npm does, by links. */
function installPackage(folder: string): void {
  const packages = join(folder, "node_modules");
  mkdirSync(join(packages, ".bin"), { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}\n");
  symlinkSync(ROOT, join(packages, "holdfast"));
  symlinkSync(join(ROOT, "node_modules/zod"), join(packages, "zod"));
  symlinkSync(join(ROOT, "dist/apps/cli/main.js"), join(packages, ".bin/holdfast"));
}
