// References of JSON Schema. The build replaces this module with a bundle (docs/decisions/0041-bundled-vendor-libraries.md).

export { $RefParser } from "@apidevtools/json-schema-ref-parser";
