// @slow: it copies lists of thousands of contacts while workers are killed.
import { beforeAll, expect, test } from 'vitest';
import { now, nowForAll } from '../../shared/common/clock.ts';
import { query, transaction } from '../../shared/db/client.ts';
import * as system from '../../shared/db/contact-lists/copies.system.ts';
import { claimDue } from '../../shared/db/work/due.system.ts';
import * as contactLists from '../../shared/domain/contact-lists/contact-lists.ts';
import * as recovery from '../../shared/domain/work/recovery.ts';
import { idToBytes } from '../../shared/formats/ids.ts';
import { copyContacts } from '../../shared/jobs/copy-contacts.ts';
import { queueOf } from '../../shared/queue/queue.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { holdContact, makeContacts, memberRowsOf } from '../support/data/address-book.ts';
import { workspace } from '../support/data/factory.ts';
import { forgetRedis, useDatabase } from '../support/database/database.ts';
import { startWeb, startWorkerProcess } from '../support/processes/processes.ts';
import { runWorkers } from '../support/processes/run-workers.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { advanceClock } from '../support/time/advance-clock.ts';
import { waitFor, waitUnlessAnswered } from '../support/time/wait-for.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
let contacts: string[];
let source: string;

beforeAll(async () => {
  changeSettings({ LIST_COPY_WAIT_SECONDS: 0 });
  api = await startApi();
  own = await workspace();
  contacts = await makeContacts(own, 5_000);
  source = await newList();
  await call('POST', `/${source}/contacts`, { contactIds: contacts });
});

const path = '/v2/contact-lists';
const call = (method: string, at: string, body?: object) =>
  api.request(method, path + at, { key: own.key, ...(body && { body }) });
const newList = async (): Promise<string> => (await call('POST', '', { name: 'A list' })).body.id;
const listed = async (id: string) => (await call('GET', `/${id}`)).body;
const rowOf = async (listId: string) =>
  (
    await query<(Record<string, unknown> & { id: Buffer })[]>(
      'SELECT * FROM contact_list_copies WHERE list_id = ?',
      [idToBytes(listId)],
    )
  )[0]!;
const idOf = async (listId: string): Promise<string> => (await rowOf(listId)).id.toString('hex');

/** Copies with a limit of 60 seconds, so that one turn is enough even on a slow machine. */
const copyOn = (copyId: string) => contactLists.copyOn(copyId, 60_000);

const hold = (contactId: string) => holdContact(own, contactId);

test('without a worker the request is answered with 202, and the copy goes on when there is one', async () => {
  const into = await newList();
  const answer = await call('POST', `/${into}/contacts`, { fromLists: [source] });
  expect([answer.status, answer.body]).toEqual([202, { added: 0, skipped: 0 }]);
  expect(await listed(into)).toMatchObject({ copyInProgress: true, contactCount: 0 });
  expect(await copyOn(await idOf(into))).toBe('done');
  expect(await listed(into)).toMatchObject({ copyInProgress: false, contactCount: 5_000 });
  expect(await copyOn(await idOf(into))).toBe('dropped');
});

test('a worker killed within a batch: the copy of 5,000 ends complete, without duplicates, rightly counted', async () => {
  const into = await newList();
  const before = contacts.filter((_, index) => index % 100 === 0);
  await call('POST', `/${into}/contacts`, { contactIds: before });
  const release = await hold(contacts[2_500]!);
  const worker = await startWorkerProcess(['copy-contacts', 'sweep']);
  await call('POST', `/${into}/contacts`, { fromLists: [source] });
  await waitFor('two batches are in', async () => (await listed(into)).contactCount === 50 + 1_980);
  await worker.kill();
  await release();
  const next = await runWorkers();
  await advanceClock(15_000);
  await waitFor('the copy is over', async () => !(await listed(into)).copyInProgress);
  expect(await memberRowsOf(into)).toEqual(contacts);
  expect((await listed(into)).contactCount).toBe(5_000);
  const { claims, ...row } = await rowOf(into);
  expect(row).toMatchObject({ added: 4_950, skipped: 50 });
  // A slow machine needs one turn more.
  expect(claims).toBeGreaterThanOrEqual(2);
  await next.stop();
});

test("a copy that another worker holds is left alone until its lease ends, and is then no longer that worker's", async () => {
  const into = await newList();
  await call('POST', `/${into}/contacts`, { fromLists: [source] });
  const copyId = await idOf(into);
  const until = new Date(now().getTime() + 10_000);
  const lease = await claimDue(system.copyTable, { id: copyId, at: nowForAll(), until });
  expect(lease).not.toBeNull();
  expect(await copyOn(copyId)).toBe('dropped');
  expect(await rowOf(into)).toMatchObject({ added: 0, claims: 1 });
  await advanceClock(15_000);
  const outcomes = await Promise.all([copyOn(copyId), copyOn(copyId), copyOn(copyId)]);
  for (const [outcome, times] of [
    ['done', 1],
    ['dropped', 2],
  ] as const)
    expect(outcomes.filter((one) => one === outcome)).toHaveLength(times);
  expect(await transaction(() => system.findClaimedForUpdate(lease!))).toBeNull();
  expect(await memberRowsOf(into)).toEqual(contacts);
  expect(await rowOf(into)).toMatchObject({ added: 5_000, skipped: 0 });
});

test('a list deleted during the copy into it ends the copy; a source deleted meanwhile ends that source', async () => {
  const [into, gone] = [await newList(), await newList()];
  await call('POST', `/${gone}/contacts`, { contactIds: contacts.slice(0, 3) });
  await call('POST', `/${into}/contacts`, { fromLists: [gone, source] });
  await call('DELETE', `/${gone}`);
  expect(await copyOn(await idOf(into))).toBe('done');
  expect(await rowOf(into)).toMatchObject({ added: 5_000, skipped: 0 });

  const target = await newList();
  await call('POST', `/${target}/contacts`, { fromLists: [source] });
  const copyId = await idOf(target);
  expect((await call('DELETE', `/${target}`)).status).toBe(204);
  expect(await copyOn(copyId)).toBe('dropped');
  expect(await memberRowsOf(target)).toEqual([]);
});

test('a web process killed while it waits: the key is in progress for its time, then the 202 is its answer', async () => {
  const into = await newList();
  const release = await hold(contacts[0]!);
  const web = await startWeb({ LIST_COPY_WAIT_SECONDS: '25' });
  const ask = (url: string) =>
    fetch(`${url}${path}/${into}/contacts`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${own.key}`,
        'content-type': 'application/json',
        'idempotency-key': 'killed-while-waiting',
      },
      body: JSON.stringify({ fromLists: [source] }),
    });
  const lost = ask(web.url).then(
    async (answer) => ({ status: answer.status, body: await answer.text(), output: web.output() }),
    () => 'lost',
  );
  const begun = waitFor('the copy has begun', async () => (await listed(into)).copyInProgress);
  await waitUnlessAnswered([lost], begun);
  await web.kill();
  expect(await lost).toBe('lost');
  expect((await ask(api.url)).status).toBe(409);
  await advanceClock(40_000);
  const answer = await ask(api.url);
  expect([answer.status, await answer.json()]).toEqual([202, { added: 0, skipped: 0 }]);
  await release();
});

test("another workspace's copy waits for a few turns of one that has 40 copies waiting, and all of them end", async () => {
  await forgetRedis();
  const [full, other] = [await workspace(), await workspace()];
  const ask = async (who: typeof own, method: string, at: string, body: object) =>
    (await api.request(method, path + at, { key: who.key, body })).body;
  const small = async (who: typeof own) => {
    const [from, into] = [
      await ask(who, 'POST', '', { name: 'From' }),
      await ask(who, 'POST', '', { name: 'Into' }),
    ];
    return { from: from.id as string, into: into.id as string };
  };
  const many = await Promise.all(Array.from({ length: 40 }, () => small(full)));
  for (const { from, into } of many) await ask(full, 'POST', `/${into}/contacts`, { fromLists: [from] });
  const one = await small(other);
  await ask(other, 'POST', `/${one.into}/contacts`, { fromLists: [one.from] });
  const queue = queueOf(copyContacts.lanes.default);
  expect(await queue.getWaitingCount()).toBe(3);

  const workers = await runWorkers(['copy-contacts']);
  const leftOf = async ({ workspaceId }: typeof own) =>
    Number(
      (
        await query(
          'SELECT COUNT(*) AS n FROM contact_list_copies WHERE workspace_id = ? AND due_at IS NOT NULL',
          [idToBytes(workspaceId)],
        )
      )[0]!['n'],
    );
  // No sweep runs here: the end of a copy starts the next one.
  await waitFor('all copies have ended', async () => (await leftOf(full)) + (await leftOf(other)) === 0);
  await workers.stop();
  const [row] = await query(
    `SELECT COUNT(*) AS n FROM contact_list_copies f JOIN contact_list_copies o ON o.list_id = ?
     WHERE f.workspace_id = ? AND f.list_id IN (?) AND f.completed_at < o.completed_at`,
    [idToBytes(one.into), idToBytes(full.workspaceId), many.map(({ into }) => idToBytes(into))],
  );
  expect(Number(row!['n'])).toBeLessThanOrEqual(6);
});

test('a copy that is given back has one job, which the sweep does not double', async () => {
  await forgetRedis();
  const into = await newList();
  await call('POST', `/${into}/contacts`, { fromLists: [source] });
  expect(await contactLists.copyOn(await idOf(into), 0)).toBe('done');
  expect(await rowOf(into)).toMatchObject({ added: 1_000, claims: 1 });
  await advanceClock(5_000);
  await recovery.sweep();
  const copyId = await idOf(into);
  // The job of the sweep is a prioritized one, and may reach Redis first. The job of the first claim is also there if
  // the copy had room.
  const jobsOf = async () => {
    const jobs = await queueOf(copyContacts.lanes.default).getJobs(['waiting', 'prioritized', 'delayed']);
    return jobs.map(({ id }) => id!).filter((id) => id.startsWith(copyId));
  };
  await waitFor('it has its job', async () => (await jobsOf()).includes(`${copyId}-2`));
  expect((await jobsOf()).filter((id) => id !== `${copyId}-1`)).toEqual([`${copyId}-2`]);
  expect(await copyOn(copyId)).toBe('done');
  expect(await rowOf(into)).toMatchObject({ added: 5_000, claims: 2 });
});

test('a copy that leaves out a hundred dynamic lists goes on in smaller batches', async () => {
  const customer = await workspace();
  const post = async (at: string, body: object) =>
    (await api.request('POST', path + at, { key: customer.key, body })).body;
  const some = await makeContacts(customer, 700, { firstName: 'Stays' });
  const others = await makeContacts(customer, 10, { firstName: 'Leaves' });
  const [from, into] = [(await post('', { name: 'From' })).id, (await post('', { name: 'Into' })).id];
  await post(`/${from}/contacts`, { contactIds: [...some, ...others] });
  const excludeLists: string[] = [];
  for (let number = 0; number < 100; number += 1) {
    const search = number === 50 ? 'leaves' : `nobody${number}`;
    excludeLists.push((await post('', { name: `${number}`, kind: 'dynamic', filter: { search } })).id);
  }
  await post(`/${into}/contacts`, { fromLists: [from], excludeLists });
  const copyId = await idOf(into);
  // One batch is 50,000 comparisons.
  expect(await contactLists.copyOn(copyId, 0)).toBe('done');
  expect(await rowOf(into)).toMatchObject({ added: 500, claims: 1 });
  expect(await copyOn(copyId)).toBe('done');
  expect(await memberRowsOf(into)).toEqual(some);
});
