import { randomBytes, randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { now } from '../../../shared/common/clock.ts';
import { fitting, type OutsideColumn, outsideColumns } from '../../../shared/db/client/outside-text.ts';
import { query, transaction } from '../../../shared/db/client.ts';
import * as emails from '../../../shared/db/email/emails.system.ts';
import {
  findReportedEmailForUpdate,
  updateReportedEmail,
} from '../../../shared/db/email/mail-reports.system.ts';
import * as systemSms from '../../../shared/db/sms/messages.system.ts';
import * as sms from '../../../shared/db/sms/messages.ts';
import * as receipts from '../../../shared/db/sms/receipts.system.ts';
import * as deliveries from '../../../shared/db/webhooks/deliveries/deliveries.system.ts';
import * as systemMail from '../../../shared/domain/operations/system-mail.ts';
import * as suppressions from '../../../shared/domain/suppressions.ts';
import * as health from '../../../shared/domain/webhooks/health/health.ts';
import { idToBytes, newId } from '../../../shared/formats/ids.ts';
import { startApi } from '../../support/api/start-api.ts';
import { acceptEmail } from '../../support/data/accepted-email.ts';
import { dueDelivery, nowhere } from '../../support/data/deliveries.ts';
import { workspace } from '../../support/data/factory.ts';
import { sendSms, textingWorkspace } from '../../support/data/new-sms.ts';
import { systemMailsTo } from '../../support/data/webhook-health.ts';
import { useDatabase } from '../../support/database/database.ts';
import { changeSettings } from '../../support/processes/settings.ts';
import { checkedColumns, ownColumns } from '../text-columns.ts';

useDatabase();

type Column = { name: string; charset: string | null; length: number };

async function textColumns(): Promise<Column[]> {
  const rows = await query<{ t: string; c: string; charset: string | null; length: number }[]>(
    `SELECT table_name AS t, column_name AS c, character_set_name AS charset, character_maximum_length AS length
     FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name NOT LIKE 'knex%'
       AND (data_type LIKE '%char' OR data_type LIKE '%text' OR data_type LIKE '%blob' OR data_type = 'varbinary')`,
  );
  return rows.map((row) => ({
    name: `${row['t']}.${row['c']}`,
    charset: row['charset'],
    length: row['length'],
  }));
}

test('every column for text is listed, with what keeps texts within it', async () => {
  const listed = [checkedColumns, ownColumns].flatMap((columns) =>
    Object.entries(columns).flatMap(([table, names]) => names.split(' ').map((name) => `${table}.${name}`)),
  );
  const all = (await textColumns()).map(({ name }) => name);
  expect([...listed, ...Object.keys(outsideColumns)].toSorted()).toEqual(all.toSorted());
});

test('what others say is cut to what its column holds', async () => {
  const columns = new Map((await textColumns()).map((column) => [column.name, column]));
  const widths: Record<string, { bytes?: number; characters?: number; isAscii?: boolean }> = outsideColumns;
  for (const [name, { bytes, characters, isAscii }] of Object.entries(widths)) {
    const { charset, length } = columns.get(name)!;
    expect([name, length, charset]).toEqual([
      name,
      bytes ?? characters,
      bytes === undefined ? (isAscii ? 'ascii' : 'utf8mb4') : null,
    ]);
  }
});

const piece = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('\ud83d', '\ude00', '\0', '😀', 'é', 'x', '\u2028', '"', '\\', '‮', '\ufeff'),
);
/** Short texts, and texts that are longer than any column. */
const anyText = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 8 }), fc.constantFrom(1, 30, 3_000))
  .map(([pieces, times]) => pieces.join('').repeat(times))
  .filter((text) => text !== '');

test('it is the start of the text, whole characters, and as much as there is room for; a name stays a name', () => {
  fc.assert(
    fc.property(
      anyText,
      fc.constantFrom(...(Object.keys(outsideColumns) as OutsideColumn[])),
      (text, column) => {
        const width: { bytes?: number; characters?: number; isAscii?: boolean; isName?: boolean } =
          outsideColumns[column];
        const kept = fitting(column, text);
        expect(kept.isWellFormed()).toBe(true);
        expect(fitting(column, kept)).toBe(kept);
        const [size, most] =
          width.bytes === undefined
            ? [[...kept].length, width.characters!]
            : [Buffer.byteLength(kept), width.bytes];
        expect(size).toBeLessThanOrEqual(most);
        if (width.isAscii) expect(kept).toMatch(/^[\x20-\x7e]*$/);
        else if (!width.isName || size < most) expect(text.toWellFormed().startsWith(kept)).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
  const long = 'r'.repeat(64);
  const names = ['1', '2', ''].map((end) => fitting('sms_messages.gateway_reference', long + end));
  expect(new Set(names).size).toBe(3);
  expect(names[0]).toBe(fitting('sms_receipts_unmatched.reference', `${long}1`));
});

const texts = () => fc.sample(anyText, { numRuns: 25 });

let own: Awaited<ReturnType<typeof workspace>>;
beforeAll(async () => {
  changeSettings({ SYSTEM_SENDER: 'alerts@platform.example' });
  own = await textingWorkspace();
});

test('whatever the host is called, the end of an attempt is noted, and so are those that are noted with it', async () => {
  const end = (host: string, isSuccess = false) => ({
    webhookId: newId('webhook', now()),
    workspaceId: own.workspaceId,
    host,
    isSuccess,
    endedAt: now(),
  });
  for (const host of texts()) {
    const beside = `${randomUUID()}.example`;
    await health.note([end(host), end(beside), end(host, true)]);
    const rows = await query('SELECT host FROM webhook_hosts WHERE host IN (?)', [
      [fitting('webhook_hosts.host', host), beside].map((name) => Buffer.from(name)),
    ]);
    expect(rows).toHaveLength(2);
  }
});

test('whatever an endpoint answers, the outcome of the delivery is written down', async () => {
  const { id } = await dueDelivery(own, nowhere);
  for (const text of texts()) {
    const claimed = await deliveries.claimDelivery({
      id,
      at: now(),
      until: new Date(now().getTime() + 60_000),
    });
    const isOurs = await deliveries.finishDelivery({
      deliveryId: id,
      token: claimed!.token,
      claims: claimed!.claims,
      status: 'pending',
      attempts: claimed!.attempts + 1,
      scheduleStep: 0,
      dueAt: new Date(now().getTime() - 1_000),
      parked: false,
      completedAt: null,
      attempt: { attemptedAt: now(), durationMs: 1, responseStatus: 599, responseBody: text, error: text },
    });
    expect(isOurs).toBe(true);
    const [row] = await query('SELECT response_body, error FROM webhook_deliveries WHERE id = ?', [
      idToBytes(id),
    ]);
    expect(row).toMatchObject({
      response_body: fitting('webhook_deliveries.response_body', text),
      error: fitting('webhook_deliveries.error', text),
    });
  }
});

const reasonOf = (text: string) => ({ code: text, description: text, retryable: false });

test('whatever a mail server says, what becomes of the email and of its recipient is written down', async () => {
  const { id } = await acceptEmail(own);
  for (const text of texts()) {
    const claim = { id, at: now(), until: new Date(now().getTime() + 60_000) };
    const { record, token } = (await emails.claimEmail(claim))!;
    const reason = { category: 'failed' as const, ...reasonOf(text) };
    const due = { ...record, reason, dueAt: new Date(now().getTime() - 1_000) };
    expect(await emails.finishEmail({ email: due, token, events: [] })).toBe(true);
    const kept = {
      code: fitting('emails.reason_code', text),
      description: fitting('emails.reason_description', text),
    };
    const written = await transaction(async () => {
      const before = (await findReportedEmailForUpdate(id))!;
      expect(before.reason).toMatchObject(kept);
      return updateReportedEmail(before, { ...before, reason, eventSeq: before.eventSeq + 1 });
    });
    expect(written).toBe(true);

    const recipientKey = `${randomBytes(8).toString('hex')}@example.com`;
    const recipient = { workspaceId: own.workspaceId, recipient: recipientKey, recipientKey };
    await transaction(() => suppressions.addRecipient(recipient, 'all', 'bounce', text));
    const [row] = await query('SELECT reason FROM suppressions WHERE email_key = ?', [recipientKey]);
    expect(row!['reason']).toBe(fitting('suppressions.reason', text));
  }
});

test('whatever a gateway says, what becomes of the text and its receipt are written down', async () => {
  const { id } = await sendSms(await startApi(), own);
  for (const text of texts()) {
    const until = new Date(now().getTime() + 60_000);
    const { record, token } = (await systemSms.claimSms({ id, at: now(), until }))!;
    const reason = { category: 'failed' as const, ...reasonOf(text) };
    const dueAt = new Date(now().getTime() - 1_000);
    const message = { ...record, reason, dueAt, gateway: 'network', gatewayReference: text };
    await systemSms.updateSmsOutcomes([{ message, token }]);
    const after = (await sms.findSms(own.workspaceId, id))!;
    expect(after).toMatchObject({
      gatewayReference: fitting('sms_messages.gateway_reference', text),
      reason: {
        code: fitting('sms_messages.reason_code', text),
        description: fitting('sms_messages.reason_description', text),
      },
    });
    await sms.updateSms(own.workspaceId, after, { ...after, reason });
    const found = await transaction(() => systemSms.findSmsOfGatewayForUpdate('network', text));
    expect(found?.id).toBe(id);

    await receipts.insertUnmatchedReceipt({ gateway: 'network', reference: text, reason }, now());
    expect((await receipts.findUnmatchedReceipt('network', text))!.reason!.description).toBe(
      fitting('sms_receipts_unmatched.reason_description', text),
    );
    expect((await receipts.listMatchableReceipts(null, 10)).matchable).toHaveLength(1);
    await receipts.deleteUnmatchedReceipt('network', text);
    expect(await receipts.findUnmatchedReceipt('network', text)).toBeNull();
  }
});

test('whatever the name of what a mail of the platform is about, it is queued', async () => {
  for (const text of texts().slice(0, 10)) {
    const to = `${randomBytes(8).toString('hex')}@example.com`;
    await transaction(() => systemMail.send(to, { subject: `Webhook to ${text} fails`, text }));
    const [mail] = await systemMailsTo(to);
    expect(mail!.subject).toBe(fitting('emails.subject', `Webhook to ${text} fails`));
  }
});
