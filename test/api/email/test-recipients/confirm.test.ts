import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../../shared/db/client.ts';
import * as retention from '../../../../shared/domain/operations/retention.ts';
import * as workspaces from '../../../../shared/domain/workspace/workspaces.ts';
import { idToBytes } from '../../../../shared/formats/ids.ts';
import { type Client, startApi } from '../../../support/api/start-api.ts';
import { workspace } from '../../../support/data/factory.ts';
import { linksTo } from '../../../support/data/test-recipients.ts';
import { useDatabase } from '../../../support/database/database.ts';
import { changeSettings } from '../../../support/processes/settings.ts';
import { advanceClock } from '../../../support/time/advance-clock.ts';

useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
  changeSettings({ SYSTEM_SENDER: 'Platform <hello@platform.example>' });
});

const recipients = '/v2/email/test-recipients';
let count = 0;

async function newLink(from = own) {
  const email = `reader-${(count += 1)}@example.com`;
  const { body } = await api.request('POST', recipients, { key: from.key, body: { email } });
  const [link] = await linksTo(email);
  const isVerified = async () => {
    const found = await api.request('GET', `${recipients}/${body.id}`, { key: from.key });
    return found.body.verified as boolean;
  };
  return { id: body.id as string, email, link: link!, isVerified };
}

// Shows A56
test('only the button confirms: whoever follows the link changes nothing', async () => {
  const { email, link, isVerified } = await newLink();
  for (const method of ['GET', 'HEAD', 'GET']) {
    const answer = await api.request(method, link);
    expect(answer.status).toBe(200);
    if (method === 'GET') expect(answer.body).toContain(email);
  }
  expect(await isVerified()).toBe(false);
  const page = await api.request('GET', link);
  expect(page.body).toContain('<form method="post"><button>');
  const pressed = await api.request('POST', link);
  expect([pressed.status, pressed.body]).toEqual([200, expect.stringContaining('The address is confirmed')]);
  expect(await isVerified()).toBe(true);
  for (const method of ['GET', 'POST']) {
    const again = await api.request(method, link);
    expect([again.status, again.body]).toEqual([200, expect.stringContaining('The address is confirmed')]);
  }
});

test('a browser posts a form, and needs no script for it', async () => {
  const { link, isVerified } = await newLink();
  const answer = await fetch(new URL(link, api.url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: 'null' },
    body: 'x=1',
  });
  expect(answer.status).toBe(200);
  expect(await isVerified()).toBe(true);
});

test('the pages keep the token to themselves, under a policy that allows their own style and no script', async () => {
  const { link } = await newLink();
  const { headers, body } = await api.request('GET', link);
  expect(headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  const policy = headers['content-security-policy'];
  for (const rule of ["form-action 'self'", "script-src 'none'", "style-src 'sha256-"])
    expect(policy).toContain(rule);
  expect(body.match(/<style>/g)).toHaveLength(1);
  expect(body).not.toMatch(/<script|\sstyle=|\son\w+=/);
});

test('a link works for 7 days', async () => {
  const { link, isVerified, email } = await newLink();
  await advanceClock(7 * 86_400_000 - 60_000);
  expect((await api.request('GET', link)).status).toBe(200);
  await advanceClock(120_000);
  for (const method of ['GET', 'POST']) {
    const late = await api.request(method, link);
    expect([late.status, late.body]).toEqual([410, expect.stringContaining('This link has expired')]);
  }
  expect(await isVerified()).toBe(false);
  await api.request('POST', recipients, { key: own.key, body: { email } });
  const [, next] = await linksTo(email);
  expect((await api.request('POST', next!)).status).toBe(200);
  expect(await isVerified()).toBe(true);
});

test('a link to a recipient that was removed leads nowhere', async () => {
  const { id, link } = await newLink();
  await api.request('DELETE', `${recipients}/${id}`, { key: own.key });
  for (const method of ['GET', 'POST'])
    expect((await api.request(method, link)).body).toContain('This link is not valid');
});

// Shows A56
test('a token that was tampered with leads nowhere, and confirms nothing', async () => {
  const { link, isVerified } = await newLink();
  const token = Buffer.from(link.slice('/confirm/'.length), 'base64url');
  for (let at = 0; at < token.length; at += 1) {
    const forged = Buffer.from(token);
    forged[at]! ^= 1;
    const { status } = await api.request('POST', `/confirm/${forged.toString('base64url')}`);
    expect(status).toBe(404);
  }
  const text = token.toString('base64url');
  for (const other of [
    text.slice(0, -1),
    `${text}A`,
    `${text}=`,
    'x',
    '%00',
    '%2e%2e',
    '<b>',
    'a'.repeat(5_000),
  ]) {
    const { status, body } = await api.request('POST', `/confirm/${encodeURI(other)}`);
    expect([other, status]).toEqual([other, 404]);
    expect(body).not.toContain('<b>');
  }
  expect(await isVerified()).toBe(false);
});

test('other methods are refused, and there is nothing without a token', async () => {
  const { link } = await newLink();
  for (const method of ['PUT', 'DELETE', 'PATCH']) {
    const answer = await api.request(method, link);
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, HEAD, POST']);
  }
  for (const path of ['/confirm', '/confirm/', `${link}/`])
    expect((await api.request('GET', path)).status).toBe(404);
});

test('the name of a workspace can neither write into the mail nor into the page', async () => {
  const { id: workspaceId } = await workspaces.create({ name: 'Win!' });
  // A name that is stored for long may have characters that no new one may have.
  await query('UPDATE workspaces SET name = ? WHERE id = ?', [
    'Win! <b>www.evil.example</b>\r\nhttp://evil.example',
    idToBytes(workspaceId),
  ]);
  const named = await workspace();
  await query('UPDATE email_domains SET workspace_id = ? WHERE workspace_id = ?', [
    idToBytes(workspaceId),
    idToBytes(named.workspaceId),
  ]);
  await query('UPDATE api_keys SET workspace_id = ? WHERE workspace_id = ?', [
    idToBytes(workspaceId),
    idToBytes(named.workspaceId),
  ]);
  const { link } = await newLink(named);
  const page = await api.request('GET', link);
  expect(page.body).not.toContain('<b>');
  const rows = await query('SELECT text FROM email_bodies WHERE text LIKE ?', ['%evil%']);
  expect(rows).toHaveLength(1);
  expect(rows[0]!['text']).not.toMatch(/evil\.example|http:\/\/evil|<b>/);
});

test('what is kept about links goes after a day', async () => {
  await newLink();
  await advanceClock(26 * 3_600_000);
  await retention.purge();
  expect(await query('SELECT 1 FROM email_test_links')).toEqual([]);
});
