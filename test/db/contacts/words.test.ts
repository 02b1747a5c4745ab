import { expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { insertContacts } from '../../../shared/db/contacts/contacts.ts';
import { contactWords } from '../../../shared/db/migrations/0034_contact_words.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { contactRecord } from '../../support/data/contact-record.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';

useDatabase();

const texts = [
  { firstName: 'Ada Byron', email: 'Ada.L@Example.com', clientReference: 'CR-601' },
  { company: 'Example', email: 'info@example.com' },
  { lastName: 'Com', company: 'Old Navy Store', email: "o'brien@navy.example", clientReference: '(x) y' },
  { email: 'jl@müller.example', clientReference: 'Łódź/2026' },
  { email: 'иван@почта.example', clientReference: '新闻 四月' },
  { clientReference: 'one' },
  { clientReference: '$1+2=3' },
  { clientReference: Array.from({ length: 25 }, (_, index) => `${index % 10}`).join('-') },
  {},
];

test('the words of contacts from before are those that writing the contacts makes', async () => {
  const { workspaceId } = await workspace();
  await insertContacts(
    workspaceId,
    texts.map((fields, index) => contactRecord(index, fields)),
  );
  const own = idToBytes(workspaceId);
  const words = async () =>
    (
      await query<{ word: Buffer; contact_id: Buffer }[]>(
        'SELECT * FROM contact_words WHERE workspace_id = ?',
        [own],
      )
    ).map((row) => `${row.word.toString()} ${row.contact_id.toString('hex')}`);
  const written = await words();
  expect(written.length).toBeGreaterThan(25);
  await query('DELETE FROM contact_words WHERE workspace_id = ?', [own]);
  // The migration does not make the words of names.
  const names = written.filter((word) => /^(byron|navy|store) /.test(word));
  for (const statement of contactWords.up) await query(statement);
  expect(new Set([...(await words()), ...names])).toEqual(new Set(written));
});
