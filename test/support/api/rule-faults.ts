/**
 * Operation -> faults that its rules refuse although the shape of the body is right: the field that the problem names,
 * and the change to an accepted body. For the tests that cover every operation; test/api/generated names missing ones.
 */

export type RuleFault = { field: string; change: Record<string, unknown> };

const unknownList = 'list_01h455vb4pex5vsknk084sn02q';
const past = '2020-01-01T00:00:00Z';
const unclosed = '{% if name %}';
const tooManyTags = Array.from({ length: 101 }, (_, index) => `tag ${index}`);

const of = (field: string, value: unknown, beside: object = {}): RuleFault => ({
  field,
  change: { [field]: value, ...beside },
});

const webhook = [
  of('url', 'http://10.0.0.1/hooks'),
  of('apiVersion', '1999-01-01'),
  of('inboundNumber', '+447700900123', { events: ['email.sent'] }),
];
const contact = [of('number', '0123'), of('tags', tooManyTags)];
const batch = [of('scheduledAt', past), of('content', unclosed)];
const emailTemplate = [of('html', unclosed), of('text', unclosed)];

export const ruleFaults: Record<string, RuleFault[]> = {
  createWebhook: webhook,
  updateWebhook: webhook,
  createContact: contact,
  updateContact: contact,
  changeContactTags: [of('tags', tooManyTags)],
  createContactList: [of('filter', null, { kind: 'dynamic' })],
  updateContactList: [of('filter', { tag: 'vip' })],
  addContactListContacts: [
    { field: 'fromLists[0]', change: { contactIds: null, fromLists: [unknownList] } },
    {
      field: 'excludeLists[0]',
      change: { contactIds: null, fromLists: [unknownList], excludeLists: [unknownList] },
    },
  ],
  createSender: [
    of('name', '1234'),
    { field: 'countries[1]', change: { countries: ['GB', 'XX'] } },
    of('businessProfileId', 'profile_01h455vb4pex5vsknk084sn02q', { name: '1234' }),
  ],
  createApiKey: [of('strictMode', true, { signing: null }), of('expiresAt', past)],
  updateApiKey: [of('strictMode', true, { signing: null })],
  createSuppression: [of('number', '0123'), of('email', 'nobody')],
  sendEmail: [
    of('sender', 'hello@unverified.example'),
    of('recipient', 'nobody'),
    of('subject', unclosed),
    { field: 'content.html', change: { content: { html: unclosed, text: 'x' } } },
    of('scheduledAt', past),
    {
      field: 'attachments[0].contentType',
      change: { attachments: [{ filename: 'a.txt', contentType: 'none', content: 'aGVsbG8K' }] },
    },
  ],
  createEmailTemplate: emailTemplate,
  updateEmailTemplate: emailTemplate,
  renderEmailTemplate: [of('subject', unclosed)],
  createSmsTemplate: [of('content', unclosed)],
  updateSmsTemplate: [of('content', unclosed)],
  previewSms: [of('recipient', '0123')],
  sendSms: [
    of('sender', 'Nobody'),
    of('recipient', '0123'),
    of('scheduledAt', past),
    of('content', 'x'.repeat(4_000)),
  ],
  createSmsBatch: batch,
  previewSmsBatch: batch,
  importSmsBatch: batch,
  createSimulatorMessage: [of('to', 'Nobody')],
};

/** Operations whose rules refuse no field. So a field of the wrong shape cannot hide a refusal by a rule. */
export const withoutRules = new Set([
  // The outcome reports the faults of each row.
  'saveContacts',
]);
