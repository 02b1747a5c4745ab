import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { now } from '../../shared/common/clock.ts';
import { transaction } from '../../shared/db/client.ts';
import { authenticate } from '../../shared/domain/api-keys/callers.ts';
import * as events from '../../shared/domain/events/events.ts';
import { newId } from '../../shared/formats/ids.ts';
import { workspace } from '../support/data/factory.ts';
import { useDatabase } from '../support/database/database.ts';
import { runWorkers } from '../support/processes/run-workers.ts';

useDatabase();

const writers = 20;
const eventsPerWriter = 60;

// Shows F38
test('twenty writers with slow commits and rollbacks: a reader of the feed misses no event and gets none twice', async () => {
  const { workspaceId, key } = await workspace();
  const caller = (await authenticate(key))!;
  await runWorkers(['relay-events', 'sweep']);

  const committed = new Set<string>();
  let areWriting = true;
  async function write(writer: number): Promise<void> {
    for (let index = 0; index < eventsPerWriter; index += 1) {
      const willRollBack = (writer + index) % 5 === 0;
      const record = { id: newId('email', now()), seq: 1, data: { writer, index } };
      const event = events.make('email.queued', record, now());
      await transaction(async () => {
        await events.record(workspaceId, event);
        // With random pauses, an older event may be committed after a younger one, which a naive cursor would miss.
        await sleep(Math.random() * 15);
        if (willRollBack) throw new Error('rolled back');
      }).catch((error) => {
        if (!willRollBack) throw error;
      });
      if (!willRollBack) committed.add(event.id);
    }
  }

  const idsOf = (items: string[]): string[] => items.map((item) => JSON.parse(item).id);
  const seen: string[] = [];
  async function read(): Promise<void> {
    const since = new Date(now().getTime() - 60_000);
    let cursor: string | undefined;
    const end = performance.now() + 60_000;
    while (areWriting || (seen.length < committed.size && performance.now() < end)) {
      const page = await events.feed(caller, { limit: 37, since, cursor });
      seen.push(...idsOf(page.items));
      cursor = page.nextCursor;
    }
    // One more page, which would show an event that comes twice.
    const rest = await events.feed(caller, { limit: 1000, since, cursor });
    seen.push(...idsOf(rest.items));
  }

  const reading = read();
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  areWriting = false;
  await reading;
  expect(committed.size).toBe((writers * eventsPerWriter * 4) / 5);
  expect(new Set(seen).size).toBe(seen.length);
  expect(new Set(seen)).toEqual(committed);
});
