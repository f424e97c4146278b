// Signatures of AWS. The build replaces this module with a bundle (docs/decisions/0041-bundled-vendor-libraries.md).

export { SignatureV4 } from "@smithy/signature-v4";
