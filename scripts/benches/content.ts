import { createCipheriv } from 'node:crypto';

/** The email that the benches send: the same for the platform and for the bare minimum. */
export interface EmailRequest {
  sender: string;
  recipient: string;
  subject: string;
  content: { html: string; text: string };
  template?: { data: Record<string, unknown> };
}

export const domain = 'bench.example';
export const sender = `Bench <hello@${domain}>`;
export const recipientOf = (index: number): string => `r${index}@inbox.example`;

const sentence = 'Your order has left our warehouse and is on its way to the address that you gave us. ';
const itemNames = ['Kettle', 'Toaster', 'Lamp', 'Chair', 'Desk', 'Shelf', 'Mirror', 'Carpet'];
const dataOf = (index: number) => ({
  name: `Ada ${index % 1000}`,
  order: { number: 100_000 + (index % 1000), url: 'https://shop.example/orders/100000' },
  items: itemNames.map((name, place) => ({
    name,
    quantity: place + 1,
    price: 1999 + place,
    isGift: place % 3 === 0,
  })),
});

/** About 600 bytes as JSON, without Liquid. */
export function plainEmail(index: number): EmailRequest {
  return {
    sender,
    recipient: recipientOf(index),
    subject: `Your order ${100_000 + (index % 1000)} is on its way`,
    content: {
      html: `<!doctype html><html><body><h1>Hello</h1><p>${sentence.repeat(2)}</p></body></html>`,
      text: `Hello\n\n${sentence.repeat(2)}\n`,
    },
  };
}

/** html of 2 kB with Liquid and data for it; the text has none. */
export function liquidEmail(index: number): EmailRequest {
  return {
    ...plainEmail(index),
    content: { html: liquidHtml(8), text: `Hello\n\n${sentence.repeat(2)}\n` },
    template: { data: dataOf(index) },
  };
}

/** html and text both with Liquid; rendered they are 5 kB together. */
export function largeEmail(index: number): EmailRequest {
  return {
    ...plainEmail(index),
    content: { html: liquidHtml(24), text: liquidText(9) },
    template: { data: dataOf(index) },
  };
}

/** A text of one part, to one of a thousand phone numbers that belong to nobody. */
export function textOf(index: number): { recipient: string; content: string } {
  const phone = String(index % 1_000).padStart(3, '0');
  return {
    recipient: `+447700900${phone}`,
    content: `Your order ${100_000 + index} has left our warehouse and is on its way to you.`,
  };
}

/** Returns a text to a number that carriers can reach. */
export function carriedTextOf(index: number, prefix = '+447400'): { recipient: string; content: string } {
  return { ...textOf(index), recipient: `${prefix}${String(index).padStart(6, '0')}` };
}

export type BatchContent = 'liquid' | 'plain';
export const textSender = 'Bench';

/** The source that all rows of a batch share. */
export const batchSources: Record<BatchContent, string> = {
  liquid:
    'Hello {{ name | default: "there" }}, your order {{ order.number }} has left our warehouse{% if isGift %}, wrapped as a gift{% endif %}. Thank you!',
  plain: 'Your order has left our warehouse and is on its way to the address that you gave us.',
};

/** Returns a row of a batch. The numbers are unique among a million rows. */
export function batchRowOf(
  content: BatchContent,
  index: number,
): { recipient: string; data?: Record<string, unknown> } {
  const recipient = `+447400${String(index).padStart(6, '0')}`;
  if (content === 'plain') return { recipient };
  const data = { name: `Ada ${index % 1000}`, order: { number: 100_000 + index }, isGift: index % 3 === 0 };
  return { recipient, data };
}

/** Returns the same bytes each time; they look as random as those of a picture. */
export function attachmentOf(bytes: number): Buffer {
  return createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(bytes));
}

function liquidHtml(sentences: number): string {
  return `<!doctype html>
<html><head><title>Order {{ order.number }}</title></head>
<body style="font-family: sans-serif; color: #222">
<h1>Hello {{ name | default: "there" }}</h1>
<p>Your order <a href="{{ order.url }}">{{ order.number }}</a> of {{ items | size }} items is on its way.</p>
<table>
{%- for item in items %}
<tr><td>{{ forloop.index }}</td><td>{{ item.name | upcase }}</td><td>{{ item.quantity }}</td>
<td>{{ item.price | divided_by: 100.0 | round: 2 }}</td>{% if item.isGift %}<td>gift</td>{% endif %}</tr>
{%- endfor %}
</table>
{% if items.size > 5 %}<p>That is a large order, thank you.</p>{% else %}<p>Thank you.</p>{% endif %}
${`<p>${sentence}</p>\n`.repeat(sentences)}{% assign first = items | first %}<p>First: {{ first.name }}</p>
</body></html>
`;
}

function liquidText(sentences: number): string {
  return `Hello {{ name | default: "there" }},

your order {{ order.number }} of {{ items | size }} items is on its way.
{% for item in items %}
- {{ item.quantity }} x {{ item.name }}{% if item.isGift %} (gift){% endif %}
{%- endfor %}

${`${sentence.trim()}\n`.repeat(sentences)}
{{ order.url }}
`;
}

export interface ContactRow {
  number: string;
  firstName: string;
  lastName: string;
  company: string;
  email: string;
  clientReference: string;
}

export const rowsOfBatch = 1_000;
export const newOfBatch = rowsOfBatch / 2;
const firstNames = ['Ada', 'Grace', 'Jean-Luc', 'Seán', 'Zoë', 'Li', 'Olga', 'Amara', 'Noor', 'Tom'];
const lastNames = ['Lovelace', 'Hopper', 'Picard', "O'Brien", 'Müller', 'Wei', 'Ivanova', 'Okafor', 'Khan'];
const endings = ['', 'a', 'berg', 'dale', 'ford', 'in', 'man', 'os', 'sen', 'son', 'ton', 'wood', 'y'];
const companyKinds = ['Ltd', 'Group', 'Works', 'Partners', 'Services'];

/** Words that all contacts of a hostile book have. Each contact also has one of the two words below. */
export const sharedWords = 'alpha beta gamma delta epsilon zeta eta theta';
export const eitherWord = ['kappa', 'iota'];
/** Words that only half of the contacts have together; this is the most expensive search. */
export const nineWords = `${sharedWords} ${eitherWord[0]}`;

/** The token with which a mail server posts bounces to web. */
export const inboundToken = 'bench-inbound-token';

export function hostile(contact: ContactRow, place: number): ContactRow {
  const words = sharedWords.split(' ');
  return {
    ...contact,
    firstName: words.slice(0, 3).join(' '),
    lastName: words.slice(3, 6).join(' '),
    company: [...words.slice(6), eitherWord[place % 2]!].join(' '),
  };
}

/**
 * Returns a batch in which half of the rows are contacts of the batch before, with another company. The numbers are
 * in the national form.
 */
export function contactBatch(sender: number, index: number): { contacts: ContactRow[] } {
  const rows = Array.from({ length: rowsOfBatch }, (_, row) => {
    const contact = sender * 10_000_000 + index * newOfBatch + row;
    return {
      number: `07${100_000_000 + ((contact * 7919) % 299_999_977)}`,
      firstName: firstNames[contact % firstNames.length]!,
      lastName: `${lastNames[contact % lastNames.length]!}${endings[contact % endings.length]!}`,
      company: `${itemNames[(contact + index) % itemNames.length]!} ${companyKinds[index % companyKinds.length]!}`,
      email: `person${contact}@${domain}`,
      clientReference: `CUST-${contact}`,
    };
  });
  return { contacts: rows };
}
