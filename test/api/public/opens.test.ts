import PostalMime from 'postal-mime';
import { beforeAll, expect, test } from 'vitest';
import { query } from '../../../shared/db/client.ts';
import { attempt } from '../../../shared/domain/email/delivery/delivery.ts';
import { linkOf } from '../../../shared/domain/email/tracking/links.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { startApi } from '../../support/api/start-api.ts';
import { acceptEmail, eventsOf } from '../../support/data/accepted-email.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { waitFor } from '../../support/time/wait-for.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
beforeAll(async () => {
  [sink, own] = [await startSmtpSink(), await workspace()];
  await startApi();
  changeSettings({ SMTP_URL: sink.url });
});

let recipients = 0;
async function accepted(changes: Record<string, unknown> = {}) {
  recipients += 1;
  const recipient = `opens-${recipients}@example.com`;
  const content = { html: '<html><body><p>Hello</p></body></html>', text: 'Hello' };
  const email = await acceptEmail(own, { recipient, trackOpens: true, content, ...changes });
  const html = async () => {
    expect(await attempt(email.id)).toBe('done');
    const { raw } = sink.messages.find((message) => message.envelope.to.includes(recipient))!;
    return (await PostalMime.parse(raw)).html!;
  };
  return { ...email, html };
}
const imageIn = (html: string) => /<img src="([^"]+)"/.exec(html)?.[1];
const openedEvents = async (id: string) =>
  (await eventsOf(own, id)).filter(({ type }) => type === 'email.opened');

test('the image stands at the end of what is shown, and only where opens are tracked', async () => {
  const inBody = await (await accepted()).html();
  expect(inBody).toMatch(/<p>Hello<\/p><img src="[^"]+\/o\/[0-9a-z]{52}\.gif"[^>]*><\/body><\/html>/);
  const bare = await (await accepted({ content: { html: '<p>Hello</p>' } })).html();
  expect(bare.trimEnd()).toMatch(/^<p>Hello<\/p><img [^>]*>$/);
  const untracked = await (await accepted({ trackOpens: false })).html();
  expect(imageIn(untracked)).toBeUndefined();
});

test('every load is counted, and the first one is told of once', async () => {
  const email = await accepted();
  const url = imageIn(await email.html())!;
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('image/gif');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  expect(
    Buffer.from(await answer.arrayBuffer())
      .subarray(0, 6)
      .toString(),
  ).toBe('GIF89a');
  const first = await email.read();
  expect(first).toMatchObject({ openCount: 1, status: 'sent', openedAt: expect.any(Date) });

  await Promise.all(Array.from({ length: 99 }, () => fetch(url)));
  await waitFor('all loads to be counted', async () => (await email.read()).openCount === 100);
  expect((await email.read()).openedAt).toEqual(first.openedAt);
  const told = await openedEvents(email.id);
  expect(told).toHaveLength(1);
  expect(told[0]!.data).toMatchObject({
    id: email.id,
    openCount: 1,
    openedAt: first.openedAt!.toISOString(),
  });
  expect(await email.eventTypes()).toEqual(['email.queued', 'email.sent', 'email.opened']);
});

test('HEAD is not a load', async () => {
  const email = await accepted();
  const url = imageIn(await email.html())!;
  expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
  await fetch(url);
  expect((await email.read()).openCount).toBe(1);
});

test('an image loaded before the relay’s answer is written down counts, and its event comes after email.sent', async () => {
  const email = await accepted();
  const { dueAt } = await email.read();
  const asQueued = { status: 'queued', sent_at: null };
  const url = imageIn(await email.html())!;
  const { eventSeq, sentAt } = await email.read();
  // Sets the state between the relay's answer and the commit.
  await query('UPDATE emails SET ? WHERE id = ?', [{ ...asQueued, due_at: dueAt }, idToBytes(email.id)]);
  const load = fetch(url);
  expect((await load).status).toBe(200);
  expect((await email.read()).openedAt).toBeNull();
  await query('UPDATE emails SET ? WHERE id = ?', [
    { status: 'sent', sent_at: sentAt, due_at: null, event_seq: eventSeq },
    idToBytes(email.id),
  ]);
  await waitFor('the load to be counted', async () => (await email.read()).openCount === 1);
  await waitFor('the event', async () => (await openedEvents(email.id)).length === 1);
});

// Shows A56
test('a token that is not ours gets the image too, and counts nothing', async () => {
  const email = await accepted();
  const html = await email.html();
  const [tracked, untracked] = [imageIn(html)!, await accepted({ trackOpens: false })];
  await untracked.html();
  for (const url of [
    tracked.replace(/.\.gif$/, (end) => (end === '0.gif' ? '1.gif' : '0.gif')),
    tracked.replace(/[0-9a-z]{52}/, 'x'),
    `${linkOf('unsubscribe', email.id).replace('/u/', '/o/')}.gif`,
    `${linkOf('open', untracked.id)}.gif`,
  ]) {
    const answer = await fetch(url);
    expect([url, answer.status, answer.headers.get('content-type')]).toEqual([url, 200, 'image/gif']);
  }
  expect((await email.read()).openCount).toBe(0);
  expect((await untracked.read()).openCount).toBe(0);
});
