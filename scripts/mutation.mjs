// Whether the tests of the core notice a fault that is put into it (docs/testing.md, "Mutation").
//
//   npm run mutation                          all parts below, one after another
//   npm run mutation -- tags budget           these parts
//   npm run mutation -- --list                names the parts with their files and tests
//   npm run mutation -- --unmeasured          names the files with code that docs/testing.md has no figures of
//
// Prints a row of the table in docs/testing.md for each file, and the mutants that survived. Stryker's own report of the
// last part is in coverage/mutation.json. Runs with the lowest priority, because it takes hours.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** Files with the tests that are about them; a path of a test is relative to the folder test, without its suffix. */
const PARTS = {
  tags: { files: ["src/core/view/tag.ts"], tests: ["tags", "revert-tags", "view-tools", "materialise"] },
  reverts: {
    files: ["src/core/machine/apply-reverts.ts", "src/conversation/pruning/choose-revert.ts"],
    tests: ["choose-revert", "apply-reverts", "revert-tags", "view-tools"],
  },
  "compaction-blocks": {
    files: ["src/conversation/compaction-blocks.ts"],
    tests: ["activities/compaction-blocks"],
  },
  budget: {
    files: ["src/core/budget/**/*.ts", "!src/core/budget/limits.ts"],
    tests: ["reserve", "loop-budget", "costs", "budget", "units"],
  },
  evaluation: {
    files: ["src/core/evaluation/**/*.ts", "src/conversation/evaluation/**/*.ts"],
    tests: ["evaluation*"],
  },
  jobs: {
    files: ["src/core/job/**/*.ts", "!src/core/job/team*.ts"],
    tests: ["job*", "rounds", "team*", "evaluation*"],
  },
  teams: { files: ["src/core/job/team*.ts"], tests: ["team*", "job*"] },
  calls: {
    files: ["src/core/machine/call-batches.ts", "src/core/machine/call-results.ts"],
    tests: (
      "call-results tools hooks tool-questions steering stop approvals permission repeated-failures parallel-limits " +
      "children structured text-only prune apply-reverts revert-tags view-tools compacting loop last-answer handover " +
      "units released-steps"
    ).split(" "),
  },
  turns: {
    files: ["src/conversation/compaction/turns.ts", "src/conversation/compaction/turn-summary.ts"],
    tests: ["compact*", "clip", "overflow"],
  },
};

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: "boolean", default: false }, unmeasured: { type: "boolean", default: false } },
});
const unknown = positionals.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  console.error(
    `mutation: there is no part ${unknown.join(", ")}. The parts are ${Object.keys(PARTS).join(", ")}.`,
  );
  process.exit(2);
}
const wanted = positionals.length === 0 ? Object.keys(PARTS) : positionals;
if (values.list) {
  for (const name of wanted)
    console.log(`${name}: ${PARTS[name].files.join(" ")}; tests: ${PARTS[name].tests.join(" ")}`);
  process.exit(0);
}
if (values.unmeasured) {
  for (const file of listUnmeasured()) console.log(file);
  process.exit(0);
}

setPriority(constants.priority.PRIORITY_LOW);
let failed = false;
for (const name of wanted) {
  const { files, tests } = PARTS[name];
  console.log(`\n=== ${name}`);
  const stryker = join(root, "node_modules", "@stryker-mutator", "core", "bin", "stryker.js");
  const { status } = spawnSync(process.execPath, [stryker, "run", "--mutate", files.join(",")], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, MUTATION_TESTS: tests.join(",") },
  });
  if (status === 0) printRows();
  else failed = true;
}
process.exit(failed ? 1 : 0);

function printRows() {
  const { files } = JSON.parse(readFileSync(join(root, "coverage", "mutation.json"), "utf8"));
  console.log("\n| file | mutants | killed | survived | score |\n| --- | --- | --- | --- | --- |");
  for (const [file, { mutants }] of Object.entries(files)) {
    const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
    const killed = count("Killed", "Timeout");
    const survived = count("Survived", "NoCoverage");
    const score = (100 * killed) / Math.max(1, killed + survived);
    const percent = survived === 0 ? "100 %" : `${score.toFixed(2)} %`;
    console.log(`| \`${file}\` | ${killed + survived} | ${killed} | ${survived} | ${percent} |`);
  }
}

/** Returns the files of the core and of conversations that the documentation does not name, except those of types only. */
function listUnmeasured() {
  const documented = readFileSync(join(root, "docs", "testing.md"), "utf8");
  return ["src/core", "src/conversation"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `${folder}/${name}`)
      .filter((file) => !documented.includes(`\`${file}\``))
      .filter((file) =>
        /^(export )?(async )?(function|const|class)\b/m.test(readFileSync(join(root, file), "utf8")),
      )
      .sort(),
  );
}
