import mysql from 'mysql2/promise';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { config } from '../../../shared/config/config.ts';
import { gatewayList } from '../../../shared/config/sms-gateways.ts';
import { processlist } from '../../../shared/db/client/time-limit.ts';
import { closeDatabase } from '../../../shared/db/client.ts';
import * as posts from '../../../shared/domain/sms/gateways/posts.ts';
import { signRequest } from '../../support/api/sign-request.ts';
import { startApi } from '../../support/api/start-api.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { waitFor, waitUnlessAnswered } from '../../support/time/wait-for.ts';

useDatabase();

const secret = 'a-secret-of-enough-characters';
const poolSize = 4;
const names = ['first', 'second', 'third', 'fourth'];

beforeAll(async () => {
  const list = names.map((name) => ({ name, type: 'http', url: 'https://carrier.example/sms', secret }));
  changeSettings({ SMS_GATEWAYS: gatewayList.parse(JSON.stringify(list)), MYSQL_POOL_SIZE: poolSize });
  // The pool has had its size since it was opened.
  await closeDatabase();
});

const receipt = (id: string) => ({
  id,
  reference: `ref-${id}`,
  part: null,
  status: 'delivered' as const,
  errorCode: null,
  at: new Date('2026-11-24T10:00:00Z'),
});

/** Holds up whatever writes the table, and counts the statements that wait. It needs no connection of the pool. */
async function holdTable(name: string) {
  const locker = await mysql.createConnection(config.MYSQL_URL);
  onTestFinished(() => locker.destroy());
  await locker.query(`LOCK TABLES ${name} WRITE`);
  const waiting = async () => {
    const [rows] = await locker.query<mysql.RowDataPacket[]>(
      `SELECT id FROM ${processlist} WHERE db = DATABASE() AND state LIKE 'Waiting for table%'`,
    );
    return rows.length;
  };
  return { waiting, letGo: () => locker.query('UNLOCK TABLES') };
}

test('as many receipts at once as there are connections do not wait for each other’s connections', async () => {
  const held = await holdTable('sms_gateway_posts');
  const taken = Promise.all(names.map((gateway) => posts.takeReceipt({ gateway, receipt: receipt('one') })));
  const all = async () => (await held.waiting()) === poolSize;
  await waitUnlessAnswered([taken], waitFor('all of them to write', all));
  await held.letGo();
  expect(await taken).toHaveLength(poolSize);
});

test('the posts of all gateways together leave connections to others', async () => {
  const api = await startApi();
  const own = await workspace();
  const post = async (name: string) => {
    const [url, text] = [`${api.url}/gateways/${name}/receipts`, JSON.stringify(receipt('other'))];
    const signer = { keyId: name, algorithm: 'hmac_sha256', secret } as const;
    const headers = signRequest({ method: 'POST', url, body: text }, signer);
    return (await fetch(url, { method: 'POST', headers, body: text })).status;
  };
  const held = await holdTable('sms_gateway_posts');
  const answers = names.map(post);
  await waitUnlessAnswered(
    answers,
    waitFor('half of the connections', async () => (await held.waiting()) >= 2),
  );
  const contacts = await api.request('GET', '/v2/contacts', { key: own.key });
  expect(contacts.status).toBe(200);
  expect(await held.waiting()).toBe(2);
  await held.letGo();
  await Promise.all(answers);
});
