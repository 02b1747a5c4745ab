import { expect, test } from 'vitest';
import { now } from '../../../../shared/common/clock.ts';
import { query, transaction } from '../../../../shared/db/client.ts';
import * as shortLinks from '../../../../shared/domain/sms/short-links/short-links.ts';
import { newId } from '../../../../shared/formats/ids.ts';
import { startApi } from '../../../support/api/start-api.ts';
import { sendSms, textingWorkspace } from '../../../support/data/new-sms.ts';
import { useDatabase } from '../../../support/database/database.ts';

useDatabase();

test('what is stored of a batch adds up by the URL as it was written', async () => {
  const api = await startApi();
  const own = await textingWorkspace();
  const batchId = newId('batch', now());
  const texts = await Promise.all([1, 2, 3].map((id) => sendSms(api, own, { content: `text ${id}` })));
  const writtenIn = shortLinks.writtenIn(
    '{% for id in ids %}https://x.example/{{ id }} {% endfor %}{{ other }}',
  );
  await transaction(() =>
    shortLinks.store(
      own.workspaceId,
      texts.map(({ id }, index) => ({
        smsId: id,
        createdAt: now(),
        batchId,
        writtenIn,
        // Two links come from one place in the source, and Liquid made the third.
        links: [`https://x.example/${index}`, `https://x.example/${index}/b`, 'https://y.example'].map(
          (url, place) => ({ url, token: `batch${index}${place}aa` }),
        ),
      })),
    ),
  );
  const [first, second] = texts;
  for (const place of [0, 0, 1]) shortLinks.countClick({ smsId: first.id, place });
  shortLinks.countClick({ smsId: second.id, place: 2 });
  await shortLinks.writeClicks();
  shortLinks.countClick({ smsId: first.id, place: 1 });
  shortLinks.countClick({ smsId: second.id, place: 0 });
  await shortLinks.writeClicks();
  const totals = await query(
    'SELECT url, messages, clicks, clicked_messages FROM short_link_totals ORDER BY clicks DESC',
  );
  expect(totals.map((row) => Object.values(row))).toEqual([
    ['https://x.example/{{ id }}', 3, 5, 2],
    ['https://y.example', 3, 1, 1],
  ]);
});
