import type { Random } from '../../faults/storm/types.ts';
import { integer, many, maybe, oneOf, sequence, word } from '../grammar.ts';
import { jsonValue } from './json.ts';
import { base64, phone, sms } from './lines.ts';
import { liquid } from './liquid.ts';
import { html, mjml } from './mjml.ts';

type Body = Record<string, unknown>;

const page = oneOf(html, html, sequence(html, liquid), sequence('<html><body>', html, '</body></html>'));
const text = oneOf(liquid, word, many(word, 1, 30, '\n'));
const short = oneOf('Dear {{ name }}', sequence('{{ name', maybe(' | upcase'), ' }}'), liquid, word);

function dataOf(random: Random): Body {
  return { name: jsonValue(random), items: [jsonValue(random)], user: { name: word(random) } };
}

function attachmentOf(random: Random): Body {
  return {
    filename: oneOf('a.pdf', 'ä.txt', sequence(word, '.exe'), word)(random),
    contentType: oneOf('application/pdf', 'text/html; charset=x', word)(random),
    content:
      Buffer.from(many(word, 1, 20)(random)).toString('base64') + (random() < 0.1 ? base64(random) : ''),
  };
}

const sourceOf = (random: Random): Body =>
  random() < 0.3 ? { format: 'mjml', html: mjml(random) } : { html: page(random) };

function email(random: Random, good: Body): Body {
  const { format, html: source } = sourceOf(random);
  return {
    ...good,
    subject: short(random),
    content: { html: source, ...(random() < 0.5 && { text: text(random) }) },
    ...(format !== undefined && { format }),
    template: { data: dataOf(random) },
    ...(random() < 0.3 && { trackOpens: true }),
    // Only an email that is not scheduled goes through the worker during the run.
    ...(random() < 0.5 && { scheduledAt: null }),
    ...(random() < 0.2 && {
      attachments: Array.from({ length: integer(random, 1, 3) }, () => attachmentOf(random)),
    }),
  };
}

const template = (random: Random, good: Body): Body => ({
  ...good,
  ...sourceOf(random),
  text: text(random),
  sampleData: dataOf(random),
});

const contactRow = (random: Random): Body => ({
  number: phone(random),
  firstName: word(random),
  lastName: word(random),
  company: word(random),
  tags: [word(random)],
});

/** Operation -> a valid body, whose fields for customers' text are made by the grammar of their language. */
export const crafted: Record<string, (random: Random, good: Body) => Body> = {
  sendEmail: email,
  createEmailTemplate: template,
  updateEmailTemplate: template,
  renderEmailTemplate: (random) => ({ data: dataOf(random), subject: short(random) }),
  saveEmailInclude: (random) => ({ content: mjml(random).replace(/<\/?mjml>/g, '') }),
  sendSms: (random, good) => ({ ...good, content: sms(random) }),
  previewSms: (random, good) => ({ ...good, content: sms(random) }),
  createSmsTemplate: (random, good) => ({ ...good, content: text(random), sampleData: dataOf(random) }),
  renderSmsTemplate: (random) => ({ data: dataOf(random) }),
  saveContacts: (random) => ({
    contacts: Array.from({ length: integer(random, 1, 9) }, () => contactRow(random)),
  }),
};
