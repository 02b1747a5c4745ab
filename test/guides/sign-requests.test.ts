import { beforeAll, describe, expect, test } from 'vitest';
import { hmacKey, newSecret } from '../support/api/signed-key.ts';
import { type Client, startApi } from '../support/api/start-api.ts';
import { workspace } from '../support/data/factory.ts';
import { newEmail } from '../support/data/new-email.ts';
import { useDatabase } from '../support/database/database.ts';
import { inLanguages, run } from './run-program.ts';

// The code that customers copy from the guide "Sign requests", against a key in strict mode.
useDatabase();

let api: Client;
let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  api = await startApi();
  own = await workspace();
});

describe.each(inLanguages({ node: 'signed-request.mjs', python: 'signed_request.py' }))(
  'the signed request in $language',
  (program) => {
    const send = async (args: string[], changes: Record<string, string> = {}) => {
      const { key, signer } = await hmacKey(own.workspaceId);
      const settings = {
        API_URL: api.url,
        API_KEY: key,
        API_KEY_ID: signer.keyId,
        SIGNING_SECRET: signer.secret,
      };
      const { code, output } = await run(program, args, { ...settings, ...changes });
      const [, status, text] = /^(\d{3}) (.*)$/s.exec(output) ?? [];
      if (!status) throw new Error(`It wrote: ${output}`);
      return { code, status: Number(status), body: JSON.parse(text!) };
    };

    test('is accepted with a body, without one, and with a query', async () => {
      const clientReference = `Grüße 🙂 ${program.language}`;
      const sent = await send(['POST', '/v2/email', JSON.stringify(newEmail(own, { clientReference }))]);
      expect(sent).toMatchObject({ code: 0, status: 201, body: { clientReference } });
      const search = `?limit=1&clientReference=${encodeURIComponent(clientReference)}`;
      const listed = await send(['GET', `/v2/email${search}`]);
      expect(listed).toMatchObject({ code: 0, status: 200, body: { data: [{ id: sent.body.id }] } });
      expect((await send(['GET', `/v2/email/${sent.body.id}`])).body).toEqual(sent.body);
    });

    test('is refused with another secret', async () => {
      const { code, status, body } = await send(['GET', '/v2/email'], { SIGNING_SECRET: newSecret() });
      expect({ code, status }).toEqual({ code: 1, status: 401 });
      expect(body.type).toBe(`${api.url}/problems/signature_invalid`);
    });
  },
);
