import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import * as emailDomains from '../../../shared/domain/email/domains/domains.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import type { Scope } from '../../../shared/schemas/scopes.ts';

/** A stored key, because to make an RSA key takes a tenth of a second. Most email tests only need that it signs. */
const dkimKey: { privateKeyPem: string; publicKeyTxt: string } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'vectors/dkim-key.json'), 'utf8'),
);

/** Makes a workspace that can send at once: with a key of these scopes (all by default) and a verified domain. */
export async function workspace({
  name = 'Tests',
  scopes,
}: {
  name?: string;
  scopes?: readonly Scope[];
} = {}) {
  const { id: workspaceId } = await workspaces.create({ name });
  const { key, record } = await apiKeys.issue(workspaceId, scopes ? { scopes } : {});
  const domain = `${randomBytes(6).toString('hex')}.example`;
  await emailDomains.addVerified(workspaceId, domain, dkimKey);
  return { workspaceId, key, keyId: record.id, domain, sender: `hello@${domain}` };
}
