// A worker as in production, with the hub or with a hub that stores nothing.
import { NullHub } from "../dist/store/stream/null-hub.js";
import { runWorkerProcess } from "./worker-process.mjs";

await runWorkerProcess({ "null-hub": { type: "boolean" } }, (values) =>
  values["null-hub"] ? { hub: new NullHub() } : {},
);
