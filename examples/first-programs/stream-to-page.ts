// A page that displays an answer while the model writes it.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropic, connect } from "holdfast";

const PAGE = `<!doctype html><title>Ask</title>
<form><input name="q" placeholder="Ask something"></form><pre></pre>
<script>
  const question = new URLSearchParams(location.search).get("q");
  if (question) fetch("/answer?q=" + encodeURIComponent(question)).then(async ({ body }) => {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    for (let read; !(read = await reader.read()).done; ) document.querySelector("pre").append(read.value);
  });
</script>`;

const holdfast = await connect();

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
  if (pathname !== "/answer") {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(PAGE);
    return;
  }
  const session = await holdfast.start({
    agent: { model: anthropic("claude-sonnet-4-5") },
    prompt: searchParams.get("q") ?? "Say hello.",
  });
  response.writeHead(200, { "content-type": "text/plain; charset=utf-8" });
  for await (const text of session.textStream) response.write(text);
  response.end();
});

server.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () => {
  console.log(`Open http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
