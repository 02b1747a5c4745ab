import { expect, test } from 'vitest';
import { attempt } from '../../../shared/domain/sms/delivery/delivery.ts';
import { startApi } from '../../support/api/start-api.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';

useDatabase();

// A proxy removes the path of PUBLIC_URL from each request.
test.each([
  ['below PUBLIC_URL', undefined, '/messaging/l', '/l'],
  [
    'below a path that begins like that of PUBLIC_URL',
    '/messaging-links',
    '/messaging-links',
    '/messaging-links',
  ],
])('where PUBLIC_URL has a path, links %s lead to their URLs', async (_where, ownPath, path, servedPath) => {
  const api = await startApi();
  const own = await textingWorkspace();
  changeSettings({
    PUBLIC_URL: `${api.url}/messaging`,
    SHORT_LINK_URL: ownPath && `${api.url}${ownPath}`,
  });
  const target = 'https://shop.example/orders/7';
  const recipient = '+447400123456';
  const { id, content } = await sendSms(api, own, { recipient, content: target, shortenLinks: true });
  const token = content.slice(`${api.url}${path}/`.length);
  expect(content).toBe(`${api.url}${path}/${token}`);
  await attempt(id);
  const { status, headers } = await api.request('GET', `${servedPath}/${token}`);
  expect([status, headers['location']]).toEqual([302, target]);
  const again = await sendSms(api, own, { recipient, content, shortenLinks: true });
  expect(again.content).toBe(content);
});
