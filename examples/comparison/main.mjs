// Three agents answer one question, and a judge selects the best. Run it: node examples/comparison/main.mjs [--real]
import { createJudgeStrategy, getMessageText } from "holdfast";
import { check, runExample } from "../run-example.mjs";

await runExample(import.meta.url, async ({ holdfast, agents, model }) => {
  const { quick, careful, brief, judge } = agents("agents.toml");
  const evaluation = await holdfast.evaluate({
    prompt: "How often does retry() in retry.mjs call work(), when told 3 times?",
    agents: [quick, careful, brief],
    strategy: createJudgeStrategy(judge),
    limits: { maxTotalTokens: 500_000 },
  });
  const { decision, text, otherBranches, usage } = await evaluation.result();
  console.log(`${decision.reason}\n\n${text}\n`);

  check("the judge selected a branch", decision.decidedBy === "strategy");
  check("the other branches can be inspected", otherBranches.length === 2);
  check("the tokens of all branches are counted", usage.totalTokens > 0);
  const messages = await holdfast.session(evaluation.session).messages.list();
  const last = messages.at(-1)?.message;
  check(
    "the session continues after the selected branch",
    last?.role === "assistant" && getMessageText(last) === text,
  );
  if (model !== undefined) {
    check("it is the branch that read the code and explains", decision.selected === 1);
    check("no answer was paid for twice", model.answersRepaid() === 0);
  }
});
