// @slow: it starts processes or servers of its own.
import { expect, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { query } from '../../../shared/db/client.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { startApi } from '../../support/api/start-api.ts';
import { makeContacts } from '../../support/data/address-book.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWorkerProcess } from '../../support/processes/processes.ts';
import { runWorkers } from '../../support/processes/run-workers.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { startTcpProxy } from '../../support/servers/tcp-proxy.ts';
import { advanceClock } from '../../support/time/advance-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { sized } from '../long-form.ts';

useDatabase();

const members = sized(10_000, 500_000);
/** The worker is killed when this share of the list is copied; the next one takes over. */
const copiedAtKills = sized([0.3], [0.1, 0.5]);
const delayMs = 20;

test('a copy whose workers are killed ends complete, without duplicates and rightly counted', async () => {
  changeSettings({ LIST_COPY_WAIT_SECONDS: 0 });
  const [api, own] = await Promise.all([startApi(), workspace()]);
  const call = async (method: string, at: string, body?: object) =>
    (await api.request(method, `/v2/contact-lists${at}`, { key: own.key, ...(body && { body }) })).body;
  await makeContacts(own, members);
  const lists = (await call('GET', '')).data as { id: string; kind: string }[];
  const all = lists.find(({ kind }) => kind === 'builtin')!.id;
  const into = (await call('POST', '', { name: 'Copies' })).id as string;
  await call('POST', `/${into}/contacts`, { fromLists: [all] });

  const copied = async () => {
    const [row] = await query('SELECT added FROM contact_list_copies WHERE list_id = ?', [idToBytes(into)]);
    return Number(row!['added']);
  };
  const killed: number[] = [];
  const line = await startTcpProxy(config.MYSQL_URL, 3306);
  for (const part of copiedAtKills) {
    await line.pass();
    const worker = await startWorkerProcess(['copy-contacts', 'sweep'], { MYSQL_URL: line.url });
    // So slow that the copy cannot end between the look at it and the kill.
    line.delay(delayMs);
    await waitFor('enough to be copied', async () => (await copied()) >= part * members, {
      timeoutMs: 300_000,
      intervalMs: 1,
    });
    line.freeze();
    await worker.kill();
    await advanceClock(config.LEASE_SECONDS * 1000 + 3_000);
    killed.push(await copied());
  }
  expect(killed.at(-1)).toBeLessThan(members);
  await runWorkers(['copy-contacts', 'sweep']);
  await waitFor('the copy to end', async () => !(await call('GET', `/${into}`)).copyInProgress, {
    timeoutMs: 300_000,
    intervalMs: 250,
  });

  expect(await copied()).toBe(members);
  expect((await call('GET', `/${into}`)).contactCount).toBe(members);
  const [rows] = await query(
    `SELECT COUNT(*) AS members, COUNT(DISTINCT contact_id) AS contacts FROM contact_list_members WHERE list_id = ?`,
    [idToBytes(into)],
  );
  expect([Number(rows!['members']), Number(rows!['contacts'])]).toEqual([members, members]);
  process.stdout.write(`${members} members; killed when ${killed.join(' and ')} had been copied\n`);
}, 900_000);
