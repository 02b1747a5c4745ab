import { expect, test } from 'vitest';
import { execute, outsideTransaction, transaction } from '../../../shared/db/client.ts';
import * as db from '../../../shared/db/contacts/contacts.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { makeContacts } from '../../support/data/address-book.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { withoutWaiting } from '../../support/database/lock-wait.ts';

// On a nearly empty table the optimizer tends to read a whole workspace, and so to lock the rows of others.
useDatabase();

test.each([2, 3, 10, 60, 400])(
  'who locks half of %i contacts does not wait for the others',
  async (count) => {
    const own = await workspace();
    const ids = await makeContacts(own, count);
    const [held, ...others] = ids as [string, ...string[]];
    const { number } = (await db.findContact(own.workspaceId, held))!;
    const wanted = others.slice(0, Math.ceil(count / 2));
    const numbers = (await db.listContactsByIds(own.workspaceId, wanted)).map((contact) => contact.number);
    await transaction(async () => {
      await execute('SELECT id FROM contacts WHERE workspace_id = ? AND number = ? FOR UPDATE', [
        idToBytes(own.workspaceId),
        Buffer.from(number),
      ]);
      const found = await withoutWaiting(() =>
        outsideTransaction(() =>
          transaction(async () => [
            (await db.listContactsByIds(own.workspaceId, wanted, 'FOR UPDATE')).length,
            (await db.listContactsByNumberForUpdate(own.workspaceId, numbers)).length,
          ]),
        ),
      );
      expect(found).toEqual([wanted.length, wanted.length]);
    });
  },
);
