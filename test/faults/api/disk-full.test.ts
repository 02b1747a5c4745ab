// @slow: it starts processes or servers of its own.
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { clientOf } from '../../support/api/api-client.ts';
import { workspace } from '../../support/data/factory.ts';
import { newEmail } from '../../support/data/new-email.ts';
import { useDatabase } from '../../support/database/database.ts';
import { startWeb } from '../../support/processes/processes.ts';
import { atEnd } from '../../support/runner/at-end.ts';

useDatabase();

const attachmentBytes = 4_000_000;

/**
 * Makes every write of the process past some byte of a file fail, as on a full disk. On systems other than Linux it
 * removes the folder for the files, which has the same effect.
 */
function fillDisk(pid: number, folder: string): () => void {
  const limit = (bytes: string) =>
    execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);
  if (process.platform !== 'linux') {
    rmdirSync(folder);
    return () => mkdirSync(folder);
  }
  limit('1000000');
  return () => void limit('unlimited');
}

// Shows F35
test('while there is no room on the disk for a large request it is a 503, small ones are taken, and the same request later', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'disk-full-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const own = await workspace();
  const web = await startWeb({ TMPDIR: folder });
  const api = clientOf(web.url);
  const post = (body: object) => {
    const headers = { 'idempotency-key': randomUUID() };
    return () => api.request('POST', '/v2/email', { key: own.key, headers, body });
  };
  const content = randomBytes(attachmentBytes).toString('base64');
  const large = post(
    newEmail(own, { attachments: [{ filename: 'large.bin', contentType: 'application/pdf', content }] }),
  );
  const makeRoom = fillDisk(web.pid, folder);
  for (let count = 0; count < 2; count += 1) {
    const refused = await large();
    expect(refused.status).toBe(503);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(JSON.stringify(refused.body)).not.toMatch(/EFBIG|ENOSPC|tmp/);
  }
  expect(await query('SELECT 1 FROM emails')).toEqual([]);
  expect((await post(newEmail(own))()).status).toBe(201);
  makeRoom();
  expect((await large()).status).toBe(201);
  const [stored] = await query('SELECT SUM(LENGTH(bytes)) AS bytes FROM email_attachment_chunks');
  expect(Number(stored!['bytes'])).toBe(attachmentBytes);
});
