import { parseArgs } from 'node:util';
import * as apiKeys from '../../shared/domain/api-keys.ts';
import { authenticate } from '../../shared/domain/callers.ts';
import * as emailDomains from '../../shared/domain/email-domains.ts';
import * as workspaces from '../../shared/domain/workspaces.ts';
import { closeEverything, startUp } from '../../shared/lifecycle.ts';
import * as kept from './kept.ts';

/**
 * A workspace that can send at once. Prints {workspaceId, apiKey, sender} as one line of JSON. A key is stored as
 * a hash only, so it is taken from the file that an earlier start wrote, as long as the database still knows it.
 */
const demoDomain = 'demo.example';

type Demo = { workspaceId: string; apiKey: string; sender: string };

async function make(file: string | undefined): Promise<Demo> {
  const former = file ? (kept.read(file) as Demo | undefined) : undefined;
  if (former?.apiKey && (await authenticate(former.apiKey)))
    return { workspaceId: former.workspaceId, apiKey: former.apiKey, sender: former.sender };
  const workspace =
    (await workspaces.listAll()).find(({ name }) => name === 'Demo') ??
    (await workspaces.create({ name: 'Demo', alertEmail: `alerts@${demoDomain}` }));
  if (!(await emailDomains.findByName(workspace.id, demoDomain)))
    await emailDomains.addVerified(workspace.id, demoDomain);
  const { key } = await apiKeys.issue(workspace.id, { name: 'Demo' });
  return { workspaceId: workspace.id, apiKey: key, sender: `hello@${demoDomain}` };
}

const { values } = parseArgs({ options: { file: { type: 'string' } } });
await startUp();
process.stdout.write(`${JSON.stringify(await make(values.file))}\n`);
await closeEverything();
