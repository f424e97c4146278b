// An agent with an MCP server, an API and a skill answers a letter. Run it: node examples/help-desk/main.mjs [--real]
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { check, runExample } from "../run-example.mjs";
import { startShop } from "./shop-api.mjs";

const token = randomUUID();
const shop = await startShop(token);
process.env.EXAMPLE = fileURLToPath(new URL(".", import.meta.url)).replace(/\/$/, "");
process.env.SHOP_URL = shop.url;
process.env.SHOP_TOKEN = token;

await runExample(import.meta.url, async ({ holdfast, agents, model }) => {
  const { desk } = agents("agents.toml");
  const session = await holdfast.start({ agent: desk, prompt: "Answer the letter in letter.txt." });
  for await (const { event } of session.events()) {
    if (event.type === "ToolExecutionStart") console.log(`  ${event.toolName} …`);
  }
  const { outcome, text } = await session.result();
  console.log(`\n${text}\n`);

  const messages = await holdfast.session(session.id).messages.list();
  const results = messages.flatMap(({ message }) => (message.role === "toolResult" ? [message] : []));
  const gave = (tool, words) =>
    results.some(({ toolName, isError, content }) => {
      const said = content.map((part) => part.text ?? "").join("");
      return toolName.startsWith(tool) && !isError && said.includes(words);
    });
  check("the letter is answered", outcome.type === "answered");
  check("the shop's API knew the order", gave("shop__getOrder", "Desk lamp, brass"));
  check("the MCP server was searched for articles", gave("articles__", ""));
  check(
    "the skill was read, and its script run",
    gave("read_skill", "amount.mjs") && gave("bash", "4200 cents"),
  );
  const refunds = shop.refunds().map(({ order, cents }) => `${order} ${cents}`);
  check("exactly one refund was made, of the amount due", refunds.join() === "A-1042 4200");
  check("the shop's token is in no message", !JSON.stringify(messages).includes(token));
  if (model !== undefined) {
    check(
      "no call failed",
      results.every(({ isError }) => !isError),
    );
    check("the answer contains the article's advice", text.includes("Keep it"));
    check("no answer was paid for twice", model.answersRepaid() === 0);
  }
}).finally(() => shop.stop());
