import { now } from '../../../shared/common/clock.ts';
import { findDefaultSender } from '../../../shared/db/senders/senders.ts';
import * as relay from '../../../shared/domain/events/relay.ts';
import * as businessProfiles from '../../../shared/domain/senders/business-profiles.ts';
import * as senders from '../../../shared/domain/senders/senders.ts';
import * as workspaces from '../../../shared/domain/workspace/workspaces.ts';
import type { IdPrefix } from '../../../shared/formats/ids.ts';
import type { Client } from '../api/start-api.ts';
import { changeSettings } from '../processes/settings.ts';
import { newUrl } from '../servers/webhook-url.ts';
import type { workspace } from './factory.ts';
import { workOff } from './new-batch.ts';
import { newEmail, sendEmail } from './new-email.ts';
import { awaitingMobile, codeAwaited, sampleContent } from './sender-codes.ts';

/**
 * Add a new resource only here, for the tests that cover every operation. test/api/generated names everything that is
 * missing in this file.
 */

export type Own = Awaited<ReturnType<typeof workspace>>;
/** The parent records in a path, such as the webhook of a delivery. If a parent is missing here, a maker makes it. */
export type Within = { [Prefix in IdPrefix]?: string };

/**
 * Values that are visible only with the scopes recipients.read and content.read. Records and bodies below use only
 * these values.
 */
export const hidden = {
  recipient: 'hidden.recipient@example.com',
  number: '+447700900599',
  subject: 'The hidden subject',
  text: 'The hidden text',
};

async function make(api: Client, { key }: Own, path: string, body?: object): Promise<any> {
  const answer = await api.request('POST', path, { key, ...(body && { body }) });
  if (answer.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function makeInclude(api: Client, { key }: Own): Promise<any> {
  const path = `/v2/email/includes/${unique('include')}`;
  const { status, body } = await api.request('PUT', path, { key, body: newInclude() });
  if (status !== 201) throw new Error(`PUT ${path}: ${JSON.stringify(body)}`);
  return body;
}

let made = 0;
let phones = 0;
/** Adds a number to a text that must be unique in a workspace. */
const unique = (text: string) => `${text}${`${(made += 1)}`.padStart(5, '0')}`;

/** Prefix of an id -> makes a record of that kind, which every operation on it accepts, and returns its id. */
export const makers: { [Prefix in IdPrefix]?: (api: Client, own: Own, within: Within) => Promise<string> } = {
  email: async (api, own) => (await sendEmail(api, own, newHidden())).id,
  event: async (api, own) => {
    const { id } = await sendEmail(api, own, newHidden());
    const { body } = await api.request('GET', `/v2/email/${id}/events`, { key: own.key });
    return body.data[0].id;
  },
  webhook: async (api, own) => (await make(api, own, '/v2/webhooks', newWebhook())).id,
  domain: async (api, own) => (await make(api, own, '/v2/email/domains', newEmailDomain())).id,
  testrecipient: async (api, own) =>
    (await make(api, own, '/v2/email/test-recipients', newTestRecipient())).id,
  delivery: async (api, own, { webhook }) => {
    webhook ??= await makers.webhook!(api, own, {});
    await make(api, own, `/v2/webhooks/${webhook}/test`);
    await settle();
    const { body } = await api.request('GET', `/v2/webhooks/${webhook}/deliveries`, { key: own.key });
    return body.data[0].id;
  },
  etemplate: async (api, own) => (await make(api, own, '/v2/email/templates', newEmailTemplate())).id,
  include: async (api, own) => (await makeInclude(api, own)).id,
  template: async (api, own) => (await make(api, own, '/v2/templates', newSmsTemplate())).id,
  suppression: async (api, own) => (await make(api, own, '/v2/suppressions', newSuppression())).id,
  key: async (api, own) => (await make(api, own, '/v2/api-keys', newApiKey())).id,
  sender: async (api, own) => (await make(api, own, '/v2/senders', newSender())).id,
  profile: async (_api, own) => (await businessProfiles.create(own.workspaceId, unique('Business '))).id,
  sms: async (api, own) => {
    await smsSender(own);
    return (await make(api, own, '/v2/sms', newHiddenSms())).id;
  },
  batch: async (api, own) => {
    await smsSender(own);
    return (await make(api, own, '/v2/sms/batches', newHiddenBatch())).id;
  },
  phone: async (api, own) => {
    await smsSender(own);
    phones += 1;
    const number = `+447700900${100 + (phones % 400)}`;
    await make(api, own, `/v2/simulator/phones/${encodeURIComponent(number)}/messages`, newSimulatorText());
    const { body } = await api.request('GET', '/v2/simulator/phones?limit=1', { key: own.key });
    return body.data[0].id;
  },
  conversation: async (api, own) => {
    await makers.phone!(api, own, {});
    const { body } = await api.request('GET', '/v2/conversations?limit=1', { key: own.key });
    return body.data[0].id;
  },
  contact: async (api, own, { list }) => {
    const { id } = await make(api, own, '/v2/contacts', newContact());
    if (list) await make(api, own, `/v2/contact-lists/${list}/contacts`, { contactIds: [id] });
    return id;
  },
  // The list has a member, so that a test notices when another workspace can take members from the list.
  list: async (api, own) => {
    const { id } = await make(api, own, '/v2/contact-lists', newContactList());
    await makers.contact!(api, own, { list: id });
    return id;
  },
};

/** Operation -> makes one entry of its listing, for listings whose entries are not records with an id. */
export const listed: Record<string, (api: Client, own: Own) => Promise<unknown>> = {
  listContactTags: (api, own) => make(api, own, '/v2/contacts', newContact()),
};

/** Does the work of workers that brings a record into every listing where it belongs. */
export const settle = () => relay.relayAll();

/** The jobs that a request waits for. */
export const awaitedJobs = ['copy-contacts'];

const newHidden = () => ({
  recipient: hidden.recipient,
  subject: hidden.subject,
  content: { text: hidden.text },
  scheduledAt: new Date(now().getTime() + 3_600_000).toISOString(),
});
const newHiddenSms = () => ({
  sender: 'Generated',
  recipient: hidden.number,
  content: hidden.text,
  scheduledAt: new Date(now().getTime() + 3_600_000).toISOString(),
});
const newHiddenBatch = () => ({
  sender: 'Generated',
  messages: [{ recipient: hidden.number }],
  content: hidden.text,
  scheduledAt: new Date(now().getTime() + 3_600_000).toISOString(),
});
const newSimulatorText = () => ({ content: hidden.text, to: 'Generated' });
const texting = new Map<string, Promise<unknown>>();
/** Gives the workspace a sender that it can text from. */
async function smsSender({ workspaceId }: Own): Promise<void> {
  if (!texting.has(workspaceId)) texting.set(workspaceId, senders.addApproved(workspaceId, 'Generated'));
  await texting.get(workspaceId);
}
const newWebhook = () => ({ url: newUrl(), events: ['email.sent'] });
const newEmailDomain = () => ({ name: `${unique('domain')}.example` });
const newTestRecipient = () => {
  // The platform sends a link to each test recipient, and needs a sender for it.
  changeSettings({ SYSTEM_SENDER: 'Platform <hello@platform.example>' });
  return { email: `${unique('tester')}@example.org` };
};
const newSuppression = () => ({ email: `${unique('somebody')}@example.org` });
const newEmailTemplate = () => ({
  name: unique('template'),
  description: 'A description',
  html: '<p>{{ name }}</p>',
  text: '{{ name }}',
  sampleData: { name: 'Ada' },
});
const newSmsTemplate = () => ({
  name: unique('Template '),
  description: 'A description',
  content: 'Dear {{ name }}',
  sampleData: { name: 'Ada' },
});
const newSender = () => ({ name: unique('Acme'), sampleContent });
const newInclude = () => ({ content: '<mj-text>Goodbye</mj-text>' });
const newContact = () => ({ number: unique('+4479111'), tags: [unique('tag')] });
const newContactList = () => ({ name: unique('List ') });
// A key can be changed only by one that has its scopes.
const newApiKey = () => ({ scopes: ['api_keys.write'], signing: { algorithm: 'hmac_sha256' } });

/** Operation -> a body that it accepts each time; names that must be unique are new each time. */
export const bodies: Record<string, (own: Own) => object | Promise<object>> = {
  sendEmail: (own) => newEmail(own, newHidden()),
  createEmailDomain: newEmailDomain,
  createEmailTestRecipient: newTestRecipient,
  createWebhook: newWebhook,
  updateWebhook: newWebhook,
  createEmailTemplate: newEmailTemplate,
  updateEmailTemplate: newEmailTemplate,
  renderEmailTemplate: () => ({ data: { name: 'Ada' }, subject: 'Dear {{ name }}' }),
  saveEmailInclude: newInclude,
  createSmsTemplate: newSmsTemplate,
  updateSmsTemplate: newSmsTemplate,
  renderSmsTemplate: () => ({ data: { name: 'Ada' } }),
  sendSms: async (own) => {
    await smsSender(own);
    return newHiddenSms();
  },
  importSmsBatch: async (own) => {
    await smsSender(own);
    const { sender, scheduledAt, content } = newHiddenSms();
    return { sender, scheduledAt, content };
  },
  createSmsBatch: async (own) => {
    await smsSender(own);
    return newHiddenBatch();
  },
  previewSmsBatch: async (own) => {
    await smsSender(own);
    return newHiddenBatch();
  },
  createSimulatorMessage: async (own) => {
    await smsSender(own);
    return newSimulatorText();
  },
  previewSms: () => ({ content: 'Hello', recipient: '+447700900123' }),
  createSuppression: newSuppression,
  createSender: newSender,
  updateSender: () => ({ default: true }),
  verifySender: async (own) => ({ code: await codeAwaited(own.workspaceId) }),
  createApiKey: newApiKey,
  createContact: newContact,
  changeContactTags: () => ({ contactIds: ['contact_01h455vb4pex5vsknk084sn02q'], tags: ['vip'] }),
  createContactList: newContactList,
  previewContactList: () => ({ filter: { tag: 'vip' } }),
  addContactListContacts: () => ({ contactIds: ['contact_01h455vb4pex5vsknk084sn02q'] }),
};

/** Operation that takes a file -> the file. */
export const files: Record<string, string> = { importSmsBatch: `recipient\n${hidden.number}\n` };

const batchWithLists: Record<string, (api: Client, own: Own) => Promise<object>> = {
  'listIds[0]': async () => ({ ...newHiddenBatch(), messages: null, listIds: [] }),
  'excludeLists[0]': async (api, own) => ({
    ...newHiddenBatch(),
    messages: null,
    listIds: [await makers.list!(api, own, {})],
  }),
};

/** Operation -> field of its body -> a body with this field, if the field cannot be in the body above. */
export const bodiesWith: Record<string, Record<string, (api: Client, own: Own) => Promise<object>>> = {
  createSmsBatch: batchWithLists,
  previewSmsBatch: batchWithLists,
  addContactListContacts: {
    'fromLists[0]': async () => ({ fromLists: [] }),
    'excludeLists[0]': async (api, own) => ({ fromLists: [await makers.list!(api, own, {})] }),
  },
};

/**
 * Operation -> its path, where the makers are not enough: a parameter is no id, or a record must be in a certain state.
 */
export const parameters: Record<string, (api: Client, own: Own) => Promise<Record<string, string>>> = {
  // Once there is a default sender, another sender that is approved does not become the default.
  verifySender: async (api, own) => {
    if (!(await findDefaultSender(own.workspaceId))) await senders.addApproved(own.workspaceId, 'Default');
    return { id: await awaitingMobile(api, own, unique('074001')) };
  },
  updateSender: async (_api, own) => ({
    id: (await senders.addApproved(own.workspaceId, unique('Chosen'))).id,
  }),
  resumeSmsBatch: async (api, own) => {
    await smsSender(own);
    const { id } = await make(api, own, '/v2/sms/batches', { ...newHiddenBatch(), scheduledAt: null });
    await workspaces.change(own.workspaceId, { sendingBlocked: true });
    await workOff(id);
    await workspaces.change(own.workspaceId, { sendingBlocked: false });
    return { id };
  },
  createSimulatorMessage: async () => ({ number: encodeURIComponent(hidden.number) }),
  saveEmailInclude: async () => ({ name: unique('include') }),
  getEmailInclude: async (api, own) => ({ name: (await makeInclude(api, own)).name }),
  deleteEmailInclude: async (api, own) => ({ name: (await makeInclude(api, own)).name }),
};

/** Operation -> its query, if the operation needs one. */
export const queries: Record<string, string> = { checkSender: 'name=Acme' };

/**
 * Operation -> fields of its body that take text which no database could store (NUL, half of a surrogate pair), and the
 * effect of such a text instead of a 400.
 */
export const effects: Record<string, Record<string, string>> = {
  saveContacts: Object.fromEntries(
    ['number', 'firstName', 'lastName', 'company', 'email', 'clientReference'].map((field) => [
      `contacts[0].${field}`,
      'an error in the outcome, by row',
    ]),
  ),
};
