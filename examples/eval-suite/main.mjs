// A suite of 24 cells, then other scores of the same answers. Run it: node examples/eval-suite/main.mjs [--real]
import { check, runExample } from "../run-example.mjs";

await runExample(import.meta.url, async ({ holdfast, suite, model }) => {
  const { evaluations } = holdfast;

  const first = await evaluations.start(await suite("suite.toml"));
  await first.result();
  const strict = await first.report();
  printScores(strict);

  check("every cell is finished", strict.finished === 24 && strict.failed === 0);
  const requests = model?.requests.length;
  if (model !== undefined) check("each cell took one request", requests === 24);

  const second = await evaluations.start(await suite("lenient.toml"));
  await second.result();
  const lenient = await second.report();
  printScores(lenient);

  check("other scores cost nothing", lenient.finished === 24 && lenient.paidUsd === 0);
  check("other scores take no request", model?.requests.length === requests);

  const third = await evaluations.start(await suite("suite.toml"));
  await third.result();
  check("a run with the same cells and scorers has nothing to do", (await third.report()).reused === 24);
  const [careful, hasty] = lenient.configurations.map(({ scores: [score] }) => score.mean);
  if (model !== undefined) {
    const [exact] = strict.comparisons;
    check("the exact scores show that one is worse", exact.b === "hasty" && exact.difference < 0);
    check("the other scorer sees more right answers", hasty > strict.configurations[1].scores[0].mean);
    check(
      "the careful agent has the same score by both",
      careful === strict.configurations[0].scores[0].mean,
    );
  }

  const wrong = [];
  for await (const { caseId, configurationName, repetition, scores } of second.cells()) {
    if (scores[0]?.score.value === 0) wrong.push(`${caseId} (${configurationName}, ${repetition + 1})`);
  }
  console.log(`\nStill wrong: ${wrong.join(", ")}`);
});

/** Prints a table: the mean of each score by configuration, with its interval. */
function printScores({ name, configurations }) {
  console.log(`\n${name}`);
  for (const { name, scores, finished, cells } of configurations) {
    const columns = scores.map(({ name, mean, interval }) => {
      const { low, high } = interval;
      return `${name} ${mean.toFixed(2)} [${low.toFixed(2)}, ${high.toFixed(2)}]`;
    });
    console.log(`  ${name.padEnd(10)} ${columns.join("  ")}  ${finished}/${cells} cells`);
  }
}
