// The references of JSON documents. The build replaces this module with a bundle (docs/decisions/0041-bundled-vendor-libraries.md).
// The library's own requests, which are off here, would import Holdfast's undici instead of the library's.

export { $RefParser } from "@apidevtools/json-schema-ref-parser";
