import { createHash, createHmac } from "node:crypto";
import type { ModelServerRequest } from "./request.ts";

/**
 * Reports whether a request was made with this key: either a bearer key, or `ACCESS:SECRET[:SESSION]`, with which the
 * signature of the received request is recomputed as Amazon does.
 */
export function isSignedWith(question: ModelServerRequest, key: string): boolean {
  const { headers } = question;
  const authorization = headers["authorization"] ?? "";
  const [access = "", secret = "", session] = key.split(":");
  if (!key.includes(":")) return authorization === `Bearer ${key}`;
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d+)\/([^/]+)\/bedrock\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)$/.exec(
      authorization,
    );
  if (parts === null || headers["x-amz-security-token"] !== session) return false;
  const [, id, day = "", region = "", signed = "", signature] = parts;
  const canonical = [
    "POST",
    question.path.split("/").map(encodeURIComponent).join("/"),
    "",
    ...signed.split(";").map((name) => `${name}:${headers[name] ?? ""}`),
    "",
    signed,
    headers["x-amz-content-sha256"] ?? "",
  ].join("\n");
  const scope = `${day}/${region}/bedrock/aws4_request`;
  const hashed = createHash("sha256").update(canonical).digest("hex");
  const toSign = ["AWS4-HMAC-SHA256", headers["x-amz-date"] ?? "", scope, hashed].join("\n");
  const sealed = [day, region, "bedrock", "aws4_request"].reduce<string | Buffer>(
    computeHmac,
    `AWS4${secret}`,
  );
  return id === access && computeHmac(sealed, toSign).toString("hex") === signature;
}

function computeHmac(secret: string | Buffer, text: string): Buffer {
  return createHmac("sha256", secret).update(text).digest();
}
