// Preloaded into a process: makes loading the schema validator take longer than a check may, as on a busy machine.
const Module = require("node:module");

const LOADING_MS = 2_500;

const load = Module._load;
Module._load = (request, ...rest) => {
  if (request.startsWith("ajv/")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOADING_MS);
  return load(request, ...rest);
};
