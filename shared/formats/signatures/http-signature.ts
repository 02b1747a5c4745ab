/** HTTP Message Signatures (RFC 9421). */

export { hmacSha256, isEcdsaP256Sha256, isHmacSha256 } from './http-signature/algorithms.ts';
export {
  type Component,
  type SignatureParameters,
  signatureBase,
  signatureParams,
} from './http-signature/make-base.ts';
export {
  parseSignature,
  parseSignatureInput,
  type SignatureInput,
  type SignatureValue,
} from './http-signature/parse.ts';
export { type RequestToSign, type SignedHeaders, signRequest } from './http-signature/sign-request.ts';
export {
  signWebhookRequest,
  type WebhookHeaders,
  type WebhookRequest,
  type WebhookSignature,
  webhookKey,
  webhookSignatureSeconds,
} from './http-signature/sign-webhook.ts';
