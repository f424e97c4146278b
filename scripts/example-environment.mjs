// The environment of the README's example: a scripted vendor, and a key that belongs to nobody.
import { startModelServer } from "../dist/testing/model-server/server.js";

export async function createExampleEnvironment() {
  const model = await startModelServer({
    replies: [
      { text: "I look.", toolCalls: [{ name: "list_files", arguments: { path: "." } }] },
      { text: "A small application that uses Holdfast." },
    ],
    defaultReply: { text: "A small application that uses Holdfast." },
  });
  return {
    env: { ANTHROPIC_API_KEY: "example-key", ANTHROPIC_BASE_URL: model.anthropicBaseUrl },
    stop: () => model.stop(),
  };
}
