// Serves help articles over MCP: the worker starts this program and communicates over its standard input and output.
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
    description: "Finds help articles by words. Returns their ids and titles.",
    inputSchema: { words: z.string() },
    annotations: { readOnlyHint: true },
  },
  ({ words }) => {
    const wanted = words.toLowerCase().split(/\W+/).filter(Boolean);
    const found = ARTICLES.filter(({ title, text }) =>
      wanted.some((word) => `${title} ${text}`.toLowerCase().includes(word)),
    );
    return createTextResult(
      found.map(({ id, title }) => `${id}: ${title}`).join("\n") || "No article matches.",
    );
  },
);

server.registerTool(
  "read",
  {
    description: "Returns the text of one help article by its id.",
    inputSchema: { id: z.string() },
    annotations: { readOnlyHint: true },
  },
  ({ id }) =>
    createTextResult(
      ARTICLES.find((one) => one.id === id)?.text ??
        `Article "${id}" does not exist. Use an id that search returned.`,
    ),
);

await server.connect(new StdioServerTransport());
