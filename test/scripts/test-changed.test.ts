import { expect, test } from 'vitest';
import { testsOf } from '../../scripts/setup/test/changed.ts';

const sources = new Map(
  Object.entries({
    'shared/db/contacts.ts': '',
    'shared/domain/contacts.ts': "import { insert } from '../db/contacts.ts';",
    'shared/domain/spend.ts': "import { count } from './contacts.ts';",
    'api/routes/index.ts': "import * as contacts from './contacts.ts';",
    'api/routes/contacts.ts': "import * as contacts from '../../shared/domain/contacts.ts';",
    'test/support/start-api.ts': "import { endpoints } from '../../api/routes/index.ts';",
    'test/api/contacts/create.test.ts': "import { startApi } from '../../support/start-api.ts';",
    'test/api/webhooks/create.test.ts': "import { startApi } from '../../support/start-api.ts';",
    'test/domain/spend.test.ts': "import * as spend from '../../shared/domain/spend.ts';",
    'test/domain/contacts.test.ts': "import * as contacts from '../../shared/domain/contacts.ts';",
    'shared/db/email/templates.system.ts': '',
    'test/api/email/send.test.ts': '',
    'test/api/email/templates/source.test.ts': '',
    'test/api/sms/templates/source.test.ts': '',
    'test/flows/stopping.test.ts': "procfile.read('Procfile');",
  }),
);

test.each([
  ['a test itself', 'test/api/webhooks/create.test.ts', ['test/api/webhooks/create.test.ts']],
  [
    'a module: the tests of its name, and those that import it or its importer',
    'shared/domain/contacts.ts',
    ['test/api/contacts/create.test.ts', 'test/domain/contacts.test.ts', 'test/domain/spend.test.ts'],
  ],
  [
    'a module that is further off: no test that imports it by three others',
    'shared/db/contacts.ts',
    ['test/api/contacts/create.test.ts', 'test/domain/contacts.test.ts'],
  ],
  [
    'a route: not every test that starts the API',
    'api/routes/contacts.ts',
    ['test/api/contacts/create.test.ts', 'test/domain/contacts.test.ts'],
  ],
  [
    'a part of a resource: not the tests of its other parts, nor of a part with that name elsewhere',
    'shared/db/email/templates.system.ts',
    ['test/api/email/templates/source.test.ts'],
  ],
  ['a resource: not the tests of its parts', 'shared/domain/email/email.ts', ['test/api/email/send.test.ts']],
  ['what is no module: the tests that name it', 'Procfile', ['test/flows/stopping.test.ts']],
  ['what no test is about', 'LICENSE', []],
])('of %s', (_name, changed, tests) => {
  expect(testsOf([changed], sources)).toEqual(tests);
});
