// npm run conform -- FOLDER [--json]: replays recorded replies of vendors to Holdfast's adapters.
import { parseArgs } from "node:util";

const USAGE = `Usage: npm run conform -- FOLDER [--json] [--generating-only]

Replays recorded replies of model vendors to the adapter of their protocol, over HTTP on this machine, and prints the
result of each. FOLDER contains the files and an index.json: a list of {id, host, uri, status, ct, kind, file}.

The path determines the protocol, whatever the host, so recordings of gateways are included:
  .../messages                                       anthropic_messages
  .../chat/completions                               openai_completions
  .../responses                                      openai_responses; azure_openai_responses at Azure's hosts,
                                                     or with an api-version
  .../models/ID:streamGenerateContent                google_generative_ai; google_vertex at aiplatform hosts,
  (or :generateContent)                              or below /publishers/
  .../model/ID/converse-stream (or converse)         bedrock_converse_stream
At the vendors' own hosts, other endpoints are included too (token counting, embeddings, model lists): their replies are
errors, of the vendor or of the format. At api.openai.com the protocol is openai_responses, at the hosts of OpenRouter,
DeepSeek, Mistral, Groq, xAI and Cerebras openai_completions. Everything else, such as MCP, is skipped.

  --json             a JSON line for each reply: {id, file, protocol, ok, message, usage, stopReason} or
                     {id, file, protocol, ok, error}
                     with error {fault, status, message, retryAfterMs, type}
  --generating-only  only the paths above, without the other endpoints

Exit code: 0 all were replayed (a recognised vendor error is not a failure), 1 a protocol has no adapter, a file cannot be
read or an adapter crashed, 2 the folder is not usable.

Example:
  npm run conform -- ../shared/vectors --json
`;

const FAILED = 1;
const BAD_INPUT = 2;

process.exitCode = await main();

async function main() {
  let values;
  let folder;
  try {
    const options = {
      json: { type: "boolean" },
      "generating-only": { type: "boolean" },
      help: { type: "boolean" },
    };
    ({
      values,
      positionals: [folder],
    } = parseArgs({ allowPositionals: true, options }));
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return BAD_INPUT;
  }
  if (values.help || folder === undefined) {
    (values.help ? process.stdout : process.stderr).write(USAGE);
    return values.help ? 0 : BAD_INPUT;
  }
  const kit = await import("../dist/devkit/conform/index.js");
  try {
    let code = 0;
    for await (const replayed of kit.replayFolder(folder, {
      generatingOnly: values["generating-only"] ?? false,
    })) {
      process.stdout.write(`${values.json ? JSON.stringify(replayed) : kit.formatRow(replayed)}\n`);
      if (["no-adapter", "unreadable", "crashed"].includes(replayed.error?.fault)) code = FAILED;
    }
    return code;
  } catch (error) {
    if (!(error instanceof kit.RecordingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return BAD_INPUT;
  }
}
