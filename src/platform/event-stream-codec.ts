// Event streams of AWS. The build replaces this module with a bundle (docs/decisions/0041-bundled-vendor-libraries.md).

export { EventStreamCodec } from "@smithy/eventstream-codec";
