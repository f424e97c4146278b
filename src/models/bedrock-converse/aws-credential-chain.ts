// The AWS SDK's search for credentials. The build replaces this module with a bundle (docs/decisions/0041-bundled-vendor-libraries.md).

export { defaultProvider } from "@aws-sdk/credential-provider-node";
