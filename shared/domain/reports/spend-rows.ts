import { listReportRows } from '../../db/reports/counts.ts';
import { idFromBytes } from '../../formats/ids.ts';
import { hourOf, selectionOf } from './pieces.ts';

/**
 * Text messages that are paid for (or would be, if the workspace had a balance): neither held nor refunded. Money is
 * in ten-thousandths. `charged`: the amount that the balance was charged for these messages.
 */
export type SpendSums = { messages: number; parts: number; gbp: number; eur: number; charged: number };

/** `value`: a country, the id of the first key of a lineage, or a tag; null: of messages that have none. */
type SpendRow = SpendSums & { value: string | null };

/** `all`: one row, the sums of all texts. */
type SpendDimension = 'country' | 'key' | 'tag' | 'all';

const mostRows = 1_000;

/** Sums texts by the hour of acceptance: `from` and `to` (not included) are rounded down to it. Most pounds first. */
export async function spendBy(
  workspaceId: string,
  from: Date,
  to: Date,
  dimension: SpendDimension,
): Promise<SpendRow[]> {
  const rows = await listReportRows(workspaceId, dimension, {
    channels: ['sms'],
    rows: selectionOf(hourOf(from), hourOf(to)),
    wanted: ['spent', 'spent_parts', 'spent_gbp', 'spent_eur', 'charged'],
    most: 'spent_gbp',
    limit: mostRows,
  });
  return rows.map(({ value, counts }) => ({
    value: nameOf(dimension, value),
    messages: counts.spent,
    parts: counts.spent_parts,
    gbp: counts.spent_gbp,
    eur: counts.spent_eur,
    charged: counts.charged,
  }));
}

/** Returns the sum over all texts of the range. */
export async function spendTotal(workspaceId: string, from: Date, to: Date): Promise<SpendSums> {
  const [row] = await spendBy(workspaceId, from, to, 'all');
  const { messages = 0, parts = 0, gbp = 0, eur = 0, charged = 0 } = row ?? {};
  return { messages, parts, gbp, eur, charged };
}

function nameOf(dimension: SpendDimension, value: Buffer): string | null {
  if (value.length === 0) return null;
  return dimension === 'key' ? idFromBytes('key', value) : value.toString();
}
