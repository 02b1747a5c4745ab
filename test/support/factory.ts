import { randomBytes } from 'node:crypto';
import * as apiKeys from '../../shared/domain/api-keys.ts';
import * as emailDomains from '../../shared/domain/email-domains.ts';
import * as workspaces from '../../shared/domain/workspaces.ts';
import type { Scope } from '../../shared/schemas/scopes.ts';

/** A workspace that can send at once: a key with these scopes (all by default) and a verified domain. */
export async function workspace({ scopes }: { scopes?: readonly Scope[] } = {}) {
  const { id: workspaceId } = await workspaces.create({ name: 'Tests' });
  const { key, record } = await apiKeys.issue(workspaceId, scopes ? { scopes } : {});
  const domain = `${randomBytes(6).toString('hex')}.example`;
  await emailDomains.addVerified(workspaceId, domain);
  return { workspaceId, key, keyId: record.id, domain, sender: `hello@${domain}` };
}
