// A scripted vendor in its own process, which answers at once. The environment has its script.
import { startModelServer } from "../dist/testing/model-server/server.js";

const model = await startModelServer({ ...JSON.parse(process.env.BENCH_SCRIPT), keepBodies: 0 });
process.stdout.write(`${JSON.stringify({ type: "ready", url: model.openaiBaseUrl })}\n`);
