import { transaction } from '../../../shared/db/client.ts';
import * as apiKeys from '../../../shared/domain/api-keys/api-keys.ts';
import { authenticate } from '../../../shared/domain/api-keys/callers.ts';
import * as emailDomains from '../../../shared/domain/email/domains/domains.ts';
import * as emailTemplates from '../../../shared/domain/email/templates.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import * as smsPrices from '../../../shared/domain/sms/prices.ts';
import * as smsTemplates from '../../../shared/domain/templates.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import type { Caller } from '../../../shared/schemas/scopes.ts';

export type Demo = { workspaceId: string; apiKey: string; sender: string };

const demoDomain = 'demo.example';

/**
 * Makes a workspace that can send at once, with everything that the examples of the API description name. A key is
 * stored as a hash only, so the key of an earlier start is kept as long as the database still knows it.
 */
export async function makeDemo(former?: Demo): Promise<Demo> {
  await givePrices();
  const demo = former && (await isStillGood(former)) ? former : await makeKey();
  const caller = await authenticate(demo.apiKey);
  if ((await senders.listAll(demo.workspaceId)).length === 0)
    await senders.addApproved(demo.workspaceId, 'Demo');
  await giveTemplates(caller!);
  return { workspaceId: demo.workspaceId, apiKey: demo.apiKey, sender: demo.sender };
}

async function isStillGood({ apiKey }: Partial<Demo>): Promise<boolean> {
  return apiKey !== undefined && (await authenticate(apiKey)) !== null;
}

async function makeKey(): Promise<Demo> {
  const workspace =
    (await workspaces.listAll()).find(({ name }) => name === 'Demo') ??
    (await workspaces.create({ name: 'Demo', alertEmail: `alerts@${demoDomain}` }));
  if (!(await emailDomains.findByName(workspace.id, demoDomain)))
    await emailDomains.addVerified(workspace.id, demoDomain);
  const { key } = await apiKeys.issue(workspace.id, { name: 'Demo' });
  return { workspaceId: workspace.id, apiKey: key, sender: `hello@${demoDomain}` };
}

/** Sets prices of text messages if the operator has not set any yet. */
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

const welcome = {
  name: 'welcome',
  html: '<h1>Welcome, {{ name }}</h1><p>It is good to have you here.</p>',
  text: 'Welcome, {{ name }}. It is good to have you here.',
};
const reminder = { name: 'Appointment reminder', content: 'Dear {{ name }}, see you on {{ day }}.' };

async function giveTemplates(caller: Caller): Promise<void> {
  const { workspaceId } = caller;
  if (!(await emailTemplates.findByName(workspaceId, welcome.name))) {
    const prepared = await emailTemplates.prepareNew(caller, welcome);
    await transaction(() => emailTemplates.create(caller, prepared));
  }
  if (!(await smsTemplates.findByName(workspaceId, reminder.name))) {
    const prepared = await smsTemplates.prepareNew(caller, reminder);
    await transaction(() => smsTemplates.create(caller, prepared));
  }
}
