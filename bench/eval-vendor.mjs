// A scripted vendor that speaks OpenAI's chat protocol, streamed or not, and counts how often each question was answered. It
// answers with the last word of the question.
import { createServer } from "node:http";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  strict: false,
  options: {
    /** How long an answer takes. */
    "answer-ms": { type: "string", default: "0" },
    /** Calls this tool until the conversation has so many answers. */
    tool: { type: "string" },
    turns: { type: "string", default: "1" },
    /**
     * The file or the database of a transcript without encryption. When a question is asked again, the vendor looks whether
     * the answer is in it: then nobody had to ask. The words by which it answers must be unique.
     */
    store: { type: "string" },
  },
});
const answerMs = Number(values["answer-ms"]);
const turns = Number(values.turns);
/** How often each request was answered. */
const counts = new Map();
const isStored = values.store === undefined ? undefined : await openStore(values.store);
let answers = 0;
let repaid = 0;
/** When the first question arrived: Unix milliseconds. */
let firstAtMs;

/** Opens the transcript, and returns a function that looks whether an answer is in it. */
async function openStore(place) {
  if (place.startsWith("postgres")) {
    const { default: pg } = await import("pg");
    const url = new URL(place);
    const schema = url.searchParams.get("schema") ?? "public";
    url.searchParams.delete("schema");
    const pool = new pg.Pool({ connectionString: url.href, options: `-c search_path=${schema}` });
    const sql = "SELECT 1 FROM answers WHERE message::jsonb #>> '{content,0,text}' = $1 LIMIT 1";
    return async (text) => (await pool.query(sql, [text])).rowCount > 0;
  }
  const { Database } = await import("../dist/store/transcript/sqlite/libsql.js");
  const sql = "SELECT 1 FROM answers WHERE json_extract(message, '$.content[0].text') = ? LIMIT 1";
  return (text) => {
    const database = new Database(place, { readonly: true });
    try {
      return database.prepare(sql).get(text) !== undefined;
    } finally {
      database.close();
    }
  };
}

function buildAnswer({ messages, model }) {
  const answered = messages.filter(({ role }) => role === "assistant").length;
  const id = `answer-${answers}`;
  const base = { id, created: Math.floor(Date.now() / 1000), model };
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  if (values.tool !== undefined && answered + 1 < turns) {
    const call = { name: values.tool, arguments: JSON.stringify({ n: answered }) };
    return {
      base,
      usage,
      reason: "tool_calls",
      calls: [{ index: 0, id: `call_${answered}`, type: "function", function: call }],
    };
  }
  const asked = messages.findLast(({ role }) => role === "user")?.content;
  const text = typeof asked === "string" ? asked : asked.map((part) => part.text).join("");
  return { base, usage, reason: "stop", text: text.split(" ").at(-1) };
}

function answerWhole({ base, usage, reason, text, calls }) {
  const message = {
    role: "assistant",
    content: text ?? null,
    ...(calls === undefined ? {} : { tool_calls: calls }),
  };
  return JSON.stringify({
    ...base,
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: reason, logprobs: null }],
    usage,
  });
}

function answerInPieces({ base, usage, reason, text, calls }) {
  const chunk = (delta, finish, more = {}) =>
    `data: ${JSON.stringify({
      ...base,
      object: "chat.completion.chunk",
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...more,
    })}\n\n`;
  const delta =
    calls === undefined ? { role: "assistant", content: text } : { role: "assistant", tool_calls: calls };
  const end = `data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices: [], usage })}\n\n`;
  return `${chunk(delta, null)}${chunk({}, reason)}${end}data: [DONE]\n\n`;
}

const server = createServer((request, response) => {
  if (request.method === "DELETE") {
    // Begins to count anew.
    counts.clear();
    answers = 0;
    repaid = 0;
    firstAtMs = undefined;
    response.end();
    return;
  }
  if (request.method === "GET") {
    const repeated = [...counts.values()].filter((count) => count > 1);
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        answers,
        questions: counts.size,
        repeated: repeated.reduce((sum, count) => sum + count - 1, 0),
        repaid,
        firstAtMs,
      }),
    );
    return;
  }
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (piece) => {
    text += piece;
  });
  request.on("end", () => {
    firstAtMs ??= Date.now();
    const body = JSON.parse(text);
    const key = JSON.stringify([body.model, body.messages]);
    // Looked up at once: the first answer may be on its way, and be stored while this one is prepared.
    const stored = counts.has(key) ? isStored?.(buildAnswer(body).text) : false;
    const send = async () => {
      const wasStored = await stored;
      // Counted when it is sent: an answer that nobody has received may be asked for again.
      if (response.destroyed) return;
      answers += 1;
      if (wasStored) repaid += 1;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      const answer = buildAnswer(body);
      response.setHeader("content-type", body.stream === true ? "text/event-stream" : "application/json");
      response.end(body.stream === true ? answerInPieces(answer) : answerWhole(answer));
    };
    if (answerMs === 0) void send();
    else setTimeout(send, answerMs);
  });
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address();
  process.stdout.write(`${JSON.stringify({ type: "ready", url: `http://127.0.0.1:${port}` })}\n`);
});
