import type { KeyObject } from 'node:crypto';
import { contentDigest } from '../content-digest.ts';
import { hmacSha256 } from './algorithms.ts';
import { componentsOf, signatureBase, signatureParams } from './make-base.ts';

export type RequestToSign = {
  method: string;
  url: string | URL;
  body: string | Uint8Array;
  contentType: string;
  createdAt: Date;
  keyid: string;
  key: KeyObject;
};

export type SignedHeaders = {
  'content-digest': string;
  'content-type': string;
  'signature-input': string;
  signature: string;
};

/**
 * Returns the headers of a request with a body, signed with hmac-sha256 over its method, target, body and content
 * type.
 */
export function signRequest(request: RequestToSign): SignedHeaders {
  const url = new URL(request.url);
  const digest = contentDigest(request.body);
  const components = componentsOf(request.method, url, digest, request.contentType);
  const params = signatureParams(
    components.map(([name]) => name),
    {
      created: Math.floor(request.createdAt.getTime() / 1000),
      keyid: request.keyid,
      alg: 'hmac-sha256',
    },
  );
  return {
    'content-digest': digest,
    'content-type': request.contentType,
    'signature-input': `sig=${params}`,
    signature: `sig=${hmacSha256(signatureBase(components, params), request.key)}`,
  };
}
