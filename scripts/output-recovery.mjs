// npm run output-recovery -- [--json] [--seed S] [--rounds N]: measures what is recovered of malformed outputs.
import "../test/support/run-typescript.mjs";
import { parseArgs } from "node:util";

const { loadFurtherMutators } = await import("../test/conversation/output-recovery/corpus.ts");
const { measure } = await import("../test/conversation/output-recovery/measure.ts");

const USAGE = `Usage: npm run output-recovery -- [--json] [--seed S] [--rounds N]

Spoils valid outputs of eight types in about a hundred ways, and counts what is recovered and what is recovered wrongly: by
Holdfast with \`output.recovery = "repair"\` and without, by jsonrepair with zod, and by what the AI SDK offers.
Mutators in test/conversation/output-recovery/further-mutators are counted as well.

  --json      prints one JSON object
  --seed S    a whole number (default: 1)
  --rounds N  outputs of each type for each fault (default: 5)

Example:
  npm run --silent output-recovery -- --json --seed 7
`;

const ROWS = {
  holdfast: "Holdfast, `repair`",
  strict: "Holdfast, `strict`",
  jsonrepair: "`jsonrepair` and zod",
  aiSdk: "AI SDK and zod",
};

const { values } = parseArgs({
  options: {
    json: { type: "boolean" },
    help: { type: "boolean" },
    seed: { type: "string", default: "1" },
    rounds: { type: "string", default: "5" },
  },
});
if (values.help || !/^\d+$/.test(values.seed) || !/^[1-9]\d*$/.test(values.rounds)) {
  (values.help ? process.stdout : process.stderr).write(USAGE);
  process.exit(values.help ? 0 : 2);
}

const { figures } = await measure(Number(values.seed), Number(values.rounds), await loadFurtherMutators());
process.stdout.write(values.json ? `${JSON.stringify(figures)}\n` : formatTable(figures));

function formatTable({ outputs, recoverable, ...tallies }) {
  const lines = Object.entries(ROWS).map(([name, title]) => {
    const { recoveredShare, wrongShare, recovered, wrong } = tallies[name];
    return `| ${title} | ${formatShare(recoveredShare)} (${recovered}) | ${formatShare(wrongShare)} (${wrong}) |`;
  });
  return [
    `${outputs} outputs, of which ${recoverable} still say enough for a value`,
    "",
    "| | recovered | wrong |",
    "| --- | --- | --- |",
    ...lines,
    "",
  ].join("\n");
}

function formatShare(share) {
  return `${(100 * share).toFixed(1)} %`;
}
