import { expect, test } from 'vitest';
import { hmacKey } from '../support/api/signed-key.ts';
import { startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import { newEmail } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { changeSettings } from '../support/processes/settings.ts';
import { startWebhookReceiver } from '../support/servers/webhook-receiver.ts';
import { inLanguages, run } from './run-program.ts';

// The programs of the guides, where a proxy gives the platform a path and removes it from each request.
useDatabase();

test.each([
  ...inLanguages({ node: 'send-once.mjs', python: 'send_once.py' }),
  ...inLanguages({ node: 'signed-request.mjs', python: 'signed_request.py' }),
  { language: 'Node', command: process.execPath, program: 'report-chart.mjs' },
])('$program reaches a platform whose address has a path', async (program) => {
  const api = await startApi();
  const own = await workspace();
  const proxy = await startWebhookReceiver({
    respond: async ({ method, url, headers, body }) => {
      const path = /^\/messaging(\/.*)/.exec(url)?.[1];
      if (path === undefined) return { status: 404 };
      const { host: _, connection: __, 'content-length': ___, ...rest } = headers;
      const init = { method, headers: rest, ...(method === 'POST' ? { body: body.toString() } : {}) };
      const answer = await fetch(api.url + path, init);
      return { status: answer.status, body: await answer.text() };
    },
  });
  const address = `${proxy.url}/messaging`;
  changeSettings({ PUBLIC_URL: address });
  const { key, signer } = await hmacKey(own.workspaceId);
  const email = JSON.stringify(newEmail(own));
  const args = {
    send: ['order-1', '/v2/email', email],
    signed: ['POST', '/v2/email', email],
    report: ['from=2026-11-02&to=2026-11-16&channel=sms'],
  }[/^[a-z]+/.exec(program.program)![0]]!;
  const settings = {
    API_URL: `${address}/`,
    API_KEY: program.program.startsWith('signed') ? key : own.key,
    API_KEY_ID: signer.keyId,
    SIGNING_SECRET: signer.secret,
  };
  expect(await run(program, args, settings)).toMatchObject({ code: 0 });
});
