import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import type { Problem } from '../../../shared/common/errors.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as emailDelivery from '../../../shared/domain/email/delivery/delivery.ts';
import * as email from '../../../shared/domain/email/email.ts';
import { idToBytes } from '../../../shared/formats/ids.ts';
import { callerOf } from '../../support/data/accepted-email.ts';
import { acceptMany } from '../../support/data/email-rows.ts';
import { workspace } from '../../support/data/factory.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { type SmtpSink, startSmtpSink } from '../../support/servers/smtp-sink.ts';
import { advanceClockTo } from '../../support/time/advance-clock.ts';

useDatabase();

let own: Awaited<ReturnType<typeof workspace>>;
let sink: SmtpSink;
beforeAll(async () => {
  sink = await startSmtpSink();
  changeSettings({ SMTP_URL: sink.url });
  own = await workspace();
});

const races = 1_000;
const leadMs = 150;

/** Returns whether the cancellation won. The side that starts first does not always win. */
async function cancelOf(id: string): Promise<boolean> {
  try {
    await transaction(() => email.cancel(callerOf(own), id));
    return true;
  } catch (error) {
    expect((error as Problem).code).toBe('not_cancellable');
    return false;
  }
}

// Shows F37
test('of 1,000 cancellations against 1,000 sends at the moment of their time, each has exactly one winner', async () => {
  // A worker looks a quarter of a second ahead, so for this long both the worker and a cancellation may take the email.
  const scheduledAt = new Date(now().getTime() + 10 * 60_000);
  const emails = await acceptMany(own, races, (index) => ({
    recipient: `race-${index}@example.com`,
    scheduledAt: scheduledAt.toISOString(),
  }));
  await advanceClockTo(new Date(scheduledAt.getTime() - 10_000));
  const winners: string[] = [];
  for (let start = 0; start < races; start += 20) {
    // The emails are already due for the worker (due_at), but not yet for a cancellation (scheduled_at).
    await query("UPDATE emails SET due_at = ?, scheduled_at = ? WHERE status = 'queued' AND id IN (?)", [
      new Date(now().getTime() + leadMs),
      new Date(now().getTime() + 60_000),
      emails.slice(start, start + 20).map(({ id }) => idToBytes(id)),
    ]);
    await Promise.all(
      emails.slice(start, start + 20).map(async ({ id }, index) => {
        const pause = () => new Promise((resolve) => setTimeout(resolve, (start + index) % 4));
        const [isCancelled, outcome] = await Promise.all([
          index % 2 ? cancelOf(id) : pause().then(() => cancelOf(id)),
          index % 2 ? pause().then(() => emailDelivery.attempt(id)) : emailDelivery.attempt(id),
        ]);
        expect({ isCancelled, outcome }).toEqual({ isCancelled, outcome: isCancelled ? 'dropped' : 'done' });
        winners.push(isCancelled ? 'cancel' : 'send');
      }),
    );
  }
  expect(winners).toHaveLength(races);
  // If one side always won, the test would show no race.
  for (const side of ['cancel', 'send'])
    expect(winners.filter((winner) => winner === side).length).toBeGreaterThan(races / 100);

  const arrived = Map.groupBy(sink.messages, ({ envelope }) => envelope.to[0]!);
  // One statement for all, because two for each email take as long as a third of the races.
  const ended = await query<{ id: Buffer; status: string; told: Buffer }[]>(
    `SELECT e.id, e.status, GROUP_CONCAT(v.type ORDER BY v.record_seq) AS told
      FROM emails e JOIN events v ON v.workspace_id = e.workspace_id AND v.record_id = e.id GROUP BY e.id, e.status`,
  );
  const byId = new Map(ended.map(({ id, ...how }) => [id.toString('hex'), how]));
  for (const [index, { id }] of emails.entries()) {
    const copies = arrived.get(`race-${index}@example.com`)?.length ?? 0;
    const { status, told } = byId.get(idToBytes(id).toString('hex'))!;
    expect({ status, copies, told: String(told) }).toEqual(
      copies === 1
        ? { status: 'sent', copies, told: 'email.queued,email.sent' }
        : { status: 'cancelled', copies: 0, told: 'email.queued,email.cancelled' },
    );
  }
});
