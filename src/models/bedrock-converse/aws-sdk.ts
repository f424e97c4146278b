// Signatures and event streams of AWS. The build replaces this module with a bundle (docs/decisions/0041-bundled-vendor-libraries.md).

export { EventStreamCodec } from "@smithy/eventstream-codec";
export { SignatureV4 } from "@smithy/signature-v4";
