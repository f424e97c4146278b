// The repair of malformed JSON. The build replaces this module with a bundle (docs/decisions/0041-bundled-vendor-libraries.md).

export { jsonrepair } from "jsonrepair";
