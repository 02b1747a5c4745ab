import type { TextRow, UsageRow } from '../rows.ts';
import type { Evidence, Finding } from '../types.ts';
import { collect } from './findings.ts';

/** Returns whether no gateway has the text, so that its parts and its price were given back. */
const isGivenBack = ({ status, sentMs, uncertainCount }: TextRow): boolean =>
  status === 'cancelled' || (status === 'failed' && sentMs === null && uncertainCount === 0);

/** I7: the usage of a key and the charges of a balance match their messages; no limit is exceeded, nothing negative. */
export function quotas({ ledger, rows }: Evidence): Finding[] {
  const findings = collect('I7');
  const outbound = [...rows.texts.values()].filter(({ direction }) => direction === 'outbound');
  const byLineage = Map.groupBy(outbound, ({ lineageId }) => lineageId);
  for (const usage of rows.usage) {
    const texts = (byLineage.get(usage.lineageId) ?? []).filter((text) => !isGivenBack(text));
    const parts = partsOf(usage, texts);
    if (parts.inDay !== usage.usedInDay)
      findings.add(
        `its messages of the day have ${parts.inDay} parts, and ${usage.usedInDay} are counted`,
        usage.lineageId,
      );
    if (parts.inMonth !== usage.usedInMonth)
      findings.add(
        `its messages of the month have ${parts.inMonth} parts, and ${usage.usedInMonth} are counted`,
        usage.lineageId,
      );
    const limited = ledger.customers.find(({ limited: { keyId } }) => keyId === usage.lineageId)?.limited;
    if (limited && Math.max(parts.inDay, usage.usedInDay) > limited.dailyParts)
      findings.add(`more than the ${limited.dailyParts} parts that it may send a day`, usage.lineageId);
  }
  for (const [workspaceId, { balance, sum }] of rows.balances) {
    if (balance !== sum)
      findings.add(`the balance is ${balance}, and its ledger adds up to ${sum}`, workspaceId);
    if (balance < 0) findings.add('the balance is negative', workspaceId);
  }
  for (const text of outbound) {
    const { charged, charges, refunds } = text;
    if (charges !== charged) findings.add('charged otherwise than its record says', text.id);
    if (refunds !== (isGivenBack(text) ? charged : 0))
      findings.add('what went back is not what should have', text.id);
    if (text.status === 'held' && charged > 0) findings.add('held, and paid for', text.id);
  }
  return findings.list();
}

function partsOf({ day, month }: UsageRow, texts: TextRow[]): { inDay: number; inMonth: number } {
  let [inDay, inMonth] = [0, 0];
  for (const { createdMs, parts } of texts) {
    const date = new Date(createdMs).toISOString();
    if (date.startsWith(day)) inDay += parts;
    if (date.startsWith(month.slice(0, 7))) inMonth += parts;
  }
  return { inDay, inMonth };
}
