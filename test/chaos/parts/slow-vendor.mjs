// A vendor of Anthropic's protocol whose streams are slow, endless or empty: the first answer to each conversation is as its
// name says, every later one is a good one.
import { createServer } from "node:http";

const CHUNK_MS = 100;
const WORDS = "Done, though it has taken its time.";

const formatFrame = (event, data) => `event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`;
const USAGE = { input_tokens: 10, output_tokens: 5 };
const START = formatFrame("message_start", {
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [],
    stop_reason: null,
    usage: USAGE,
  },
});
const TEXT_START = formatFrame("content_block_start", {
  index: 0,
  content_block: { type: "text", text: "" },
});
const text = (words) =>
  formatFrame("content_block_delta", { index: 0, delta: { type: "text_delta", text: words } });
const END = [
  formatFrame("content_block_stop", { index: 0 }),
  formatFrame("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: USAGE }),
  formatFrame("message_stop", {}),
].join("");

/** How a first answer goes wrong: the pieces that come one by one; a generator that never ends is an endless stream. */
export const SLOW_STREAMS = {
  "slow-words": function* () {
    yield START + TEXT_START;
    for (const letter of WORDS) yield text(letter);
    yield END;
  },
  "endless-comments": function* () {
    yield START + TEXT_START + text("Let me ");
    for (;;) yield ": keep-alive\n\n";
  },
  "endless-pings": function* () {
    yield START;
    for (;;) yield formatFrame("ping", {});
  },
  "endless-nothing": function* () {
    yield START + TEXT_START;
    for (;;) yield text("");
  },
  "no-byte": function* () {
    for (;;) yield "";
  },
  "empty-body": function* () {},
  "empty-answer": function* () {
    yield START +
      formatFrame("message_delta", { delta: { stop_reason: "end_turn", stop_sequence: null }, usage: USAGE });
    yield formatFrame("message_stop", {});
  },
};

/** @returns Its address, and how many streams it still sends. */
export async function startSlowVendor(stage) {
  const asked = new Map();
  const streams = new Set();
  const server = createServer((request, response) => {
    const conversation = request.headers["x-conversation"];
    const times = (asked.get(conversation) ?? 0) + 1;
    asked.set(conversation, times);
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (times > 1) return void response.end(START + TEXT_START + text(WORDS) + END);
    const pieces = SLOW_STREAMS[conversation.replace(/^drip-/, "")]();
    const timer = setInterval(() => {
      const { done, value } = pieces.next();
      if (done) response.end();
      else if (value !== "") response.write(value);
    }, CHUNK_MS);
    streams.add(conversation);
    response.once("close", () => {
      clearInterval(timer);
      streams.delete(conversation);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  stage.onEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${server.address().port}`, open: () => [...streams], asked };
}
