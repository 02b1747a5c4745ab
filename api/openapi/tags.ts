import type { Endpoint } from '../endpoint.ts';
import { withPublicPath } from '../public-links.ts';
import { deliveriesTag } from './webhooks.ts';

/** Groups of tags, in the order in which a reader meets them. */
const groups: Record<string, Record<string, string>> = {
  Email: {
    Email:
      'One email for each call, now or at a time to come: accepted once it is stored, then sent, and followed until its outcome is known.',
    'Email templates': 'Stored sources of emails, in HTML or MJML, with Liquid for the data of each email.',
    'Email includes': 'Pieces of MJML that templates share, such as a footer.',
    'Email domains':
      'The domains that a workspace sends from. Each has DNS records to publish; once its DKIM record is seen, it may send.',
    'Email test recipients':
      'Addresses that the shared test sender reaches: to try the service before a domain of your own is verified.',
  },
  SMS: {
    SMS: 'One text for each call, now or at a time to come, and what became of it. A text that the workspace cannot pay for is held.',
    'SMS batches':
      'Texts to many: to numbers with data of their own, to the members of contact lists, or to the rows of a CSV file.',
    'SMS templates': 'Stored texts, with Liquid for the data of each message.',
    Senders:
      'What texts come from: names, which are reviewed by country, mobile numbers, which are verified by a code, and virtual numbers, which take replies.',
    Conversations:
      'Texts that came in, with all that was said before, by sender of yours and number at the other end.',
    Simulator:
      'Phones that belong to nobody, for tests: what is sent to the numbers 07700 900000 to 07700 900999 stays here, and they can text back.',
  },
  'Events and webhooks': {
    Webhooks:
      'Where events are delivered to: each is signed, and sent again on a schedule until it is accepted. [How to receive webhooks](/docs/guides/receive-webhooks)',
    [deliveriesTag]: 'What is posted to webhooks, by type of event.',
    Events: 'The same events to be fetched: a feed that misses none, for clients that prefer to fetch them.',
  },
  'Address book': {
    Contacts: 'People, known by their number, with texts and tags of your choice.',
    'Contact lists': 'Contacts that were added to a list, or that match its filter.',
    Suppressions:
      'Numbers and addresses that are not sent to: because they opted out, bounced, complained, or because you say so.',
  },
  Workspace: {
    'API keys': 'Keys with scopes, limits, signatures and an end, and how they are replaced.',
    Reports:
      'Messages by time, tag, country and domain, how long they took, and what became of them; as JSON or CSV.',
    Workspace: 'The settings, limits and balance of the workspace, and what it spends.',
  },
};

/** Returns the tags of these operations with their descriptions, and the groups in which readers see them. */
export function tagsOf(endpoints: readonly Endpoint[]) {
  const used = new Set(endpoints.map(({ tag }) => tag));
  if (used.has('Webhooks')) used.add(deliveriesTag);
  const shown = Object.entries(groups).map(([name, tags]) => ({
    name,
    tags: Object.entries(tags).filter(([tag]) => used.has(tag)),
  }));
  const known = shown
    .flatMap(({ tags }) => tags)
    .map(([name, description]) => ({ name, description: withPublicPath(description) }));
  return {
    tags: known,
    'x-tagGroups': shown
      .filter(({ tags }) => tags.length > 0)
      .map(({ name, tags }) => ({ name, tags: tags.map(([tag]) => tag) })),
  };
}
