import { parseArgs } from 'node:util';
import * as apiKeys from '../../shared/domain/api-keys.ts';
import { authenticate } from '../../shared/domain/callers.ts';
import * as emailDomains from '../../shared/domain/email-domains.ts';
import * as senders from '../../shared/domain/senders.ts';
import * as smsPrices from '../../shared/domain/sms-prices.ts';
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
  if (former?.apiKey && (await authenticate(former.apiKey))) {
    await giveSender(former.workspaceId);
    return { workspaceId: former.workspaceId, apiKey: former.apiKey, sender: former.sender };
  }
  const workspace =
    (await workspaces.listAll()).find(({ name }) => name === 'Demo') ??
    (await workspaces.create({ name: 'Demo', alertEmail: `alerts@${demoDomain}` }));
  if (!(await emailDomains.findByName(workspace.id, demoDomain)))
    await emailDomains.addVerified(workspace.id, demoDomain);
  await giveSender(workspace.id);
  const { key } = await apiKeys.issue(workspace.id, { name: 'Demo' });
  return { workspaceId: workspace.id, apiKey: key, sender: `hello@${demoDomain}` };
}

/** What its text messages come from. */
async function giveSender(workspaceId: string): Promise<void> {
  if ((await senders.listAll(workspaceId)).length === 0) await senders.addApproved(workspaceId, 'Demo');
}

/** What text messages cost, where the operator has not said it yet. */
async function givePrices(): Promise<void> {
  if ((await smsPrices.listAll()).length > 0) return;
  const lines = [
    'GB,0.0345,0.0412',
    'IE,0.0560,0.0660',
    'FR,0.0580,0.0690',
    'DE,0.0820,0.0970',
    'US,0.0120,0.0140',
  ];
  await smsPrices.load(
    ['country,gbp,eur,validFrom', ...lines.map((line) => `${line},2026-01-01`)].join('\n'),
  );
}

const { values } = parseArgs({ options: { file: { type: 'string' } } });
await startUp();
await givePrices();
process.stdout.write(`${JSON.stringify(await make(values.file))}\n`);
await closeEverything();
