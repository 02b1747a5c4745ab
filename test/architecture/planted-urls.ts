import type { Guarded } from './planted.ts';
import { foldersAreUrls } from './urls.ts';

const below = (resource: string, layers = ['schemas', 'domain', 'db']) =>
  Object.fromEntries(layers.map((layer) => [`shared/${layer}/${resource}.ts`, '']));
const route = (url: string) => `  endpoint({\n    route: 'GET /v2/${url}',\n`;

export const plantedUrls: Guarded[] = [
  {
    guarantee: 'the folder of a resource is its URL, in each layer',
    rule: foldersAreUrls,
    breaches: [
      { 'api/routes/sms/templates.ts': route('templates'), ...below('sms/templates') },
      { 'api/routes/contact-lists.ts': route('contacts'), ...below('contact-lists') },
      {
        'api/routes/templates.ts': route('templates/{id}'),
        ...below('templates', ['schemas', 'domain']),
        'shared/db/sms/templates.ts': '',
      },
      {
        'api/routes/email/email.ts': route('email/domains'),
        'api/routes/email/domains.ts': route('email/domains/{id}'),
        ...below('email/email'),
        ...below('email/domains'),
      },
    ],
    harmless: {
      'api/routes/index.ts': "import templates from './templates.ts';",
      'api/routes/email/email.ts': route('email/{id}/events'),
      'api/routes/sms/preview.ts': route('sms/preview'),
      ...below('email/email'),
      ...below('sms/preview', ['schemas', 'domain']),
    },
  },
];
