// npm run conform -- FOLDER [--json]: what our adapters make of recorded replies of vendors.
import { parseArgs } from "node:util";

const USAGE = `Usage: npm run conform -- FOLDER [--json] [--every-endpoint]

Replays recorded replies of model vendors to the adapter of their protocol, over HTTP on this machine, and says what it
made of each. FOLDER holds the files and an index.json: a list of {id, host, uri, status, ct, kind, file}.

The protocol follows from the path, whoever the host is, so that gateways count too:
  .../messages                                       anthropic_messages
  .../chat/completions                               openai_completions
  .../responses                                      openai_responses; azure_openai_responses at Azure's hosts,
                                                     or with an api-version
  .../models/ID:streamGenerateContent                google_generative_ai; google_vertex at aiplatform hosts,
  (or :generateContent)                              or below /publishers/
  .../model/ID/converse-stream (or converse)         bedrock_converse_stream
Everything else generates nothing and is left out: counting of tokens, embeddings, batches, MCP.

  --json            a JSON line for each: {id, file, protocol, ok, message, usage, stopReason} or
                    {id, file, protocol, ok, error}
                    with error {fault, status, message, retryAfterMs, type}
  --every-endpoint  also failures of other endpoints at the vendors' own hosts

Exit code: 0 all were replayed (a vendor's error that was understood is no failure), 1 a protocol has no adapter or a
file cannot be read, 2 the folder cannot be used.

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
      "every-endpoint": { type: "boolean" },
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
  const kit = await import("../dist/testing/conform/index.js");
  try {
    let code = 0;
    for await (const replayed of kit.replayFolder(folder, {
      everyEndpoint: values["every-endpoint"] ?? false,
    })) {
      process.stdout.write(`${values.json ? JSON.stringify(replayed) : kit.tableLine(replayed)}\n`);
      if (["no-adapter", "unreadable"].includes(replayed.error?.fault)) code = FAILED;
    }
    return code;
  } catch (error) {
    if (!(error instanceof kit.RecordingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return BAD_INPUT;
  }
}
