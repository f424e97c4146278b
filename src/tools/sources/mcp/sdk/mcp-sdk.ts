// The client of the Model Context Protocol's SDK. The build replaces this module with a bundle (docs/decisions/0041-bundled-vendor-libraries.md).

export {
  discoverAuthorizationServerMetadata,
  type OAuthClientProvider,
  UnauthorizedError,
} from "@modelcontextprotocol/sdk/client/auth.js";
export { Client } from "@modelcontextprotocol/sdk/client/index.js";
export {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";
export type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from "@modelcontextprotocol/sdk/shared/auth.js";
export type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
export type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport.js";
export {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ErrorCode,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  LoggingMessageNotificationSchema,
  McpError,
  type MessageExtraInfo,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
