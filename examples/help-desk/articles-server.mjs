// Help articles, served over MCP: the worker starts this program and speaks to it over its input and output.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const ARTICLES = [
  {
    id: "flicker",
    title: "My lamp flickers",
    text: "Tighten the bulb first. If it still flickers, the dimmer is broken: that is a fault of ours.",
  },
  {
    id: "return",
    title: "Sending something back",
    text: "What is broken need not be sent back. Keep it, or bring it to a recycling yard.",
  },
];

const server = new McpServer({ name: "articles", version: "1.0.0" });
const createTextResult = (text) => ({ content: [{ type: "text", text }] });

server.registerTool(
  "search",
  {
    description: "Finds help articles by words, and gives their ids and titles",
    inputSchema: { words: z.string() },
    annotations: { readOnlyHint: true },
  },
  ({ words }) => {
    const wanted = words.toLowerCase().split(/\W+/).filter(Boolean);
    const found = ARTICLES.filter(({ title, text }) =>
      wanted.some((word) => `${title} ${text}`.toLowerCase().includes(word)),
    );
    return createTextResult(
      found.map(({ id, title }) => `${id}: ${title}`).join("\n") || "Nothing is written about that.",
    );
  },
);

server.registerTool(
  "read",
  {
    description: "Gives one help article by its id",
    inputSchema: { id: z.string() },
    annotations: { readOnlyHint: true },
  },
  ({ id }) => createTextResult(ARTICLES.find((one) => one.id === id)?.text ?? `There is no article "${id}".`),
);

await server.connect(new StdioServerTransport());
