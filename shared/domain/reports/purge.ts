import { now } from '../../common/clock.ts';
import { forgetAtEnd } from '../../common/closing.ts';
import { config } from '../../config/config.ts';
import { deleteReportsBefore } from '../../db/reports/counts.system.ts';
import { channels } from '../../db/reports/counts.ts';
import { deleteStatesOf } from '../../db/reports/messages.system.ts';
import { deleteAged } from '../../db/server/aged-rows.system.ts';
import { deleteLedgerSumsBefore } from '../../db/sms/ledger.system.ts';
import { firstUuidAt } from '../../formats/ids.ts';
import { hourOf, startOf } from './pieces.ts';
import { statesUntil } from './recount.ts';

/** Deletes some rows whose retention has ended; figures by whole months, so that hours, days and months agree. */
export async function purge(limit: number): Promise<number> {
  const oldest = hourOf(new Date(now().getTime() - config.REPORT_RETENTION_DAYS * 86_400_000));
  return Math.max(
    await deleteReportsBefore(startOf('month', oldest), limit),
    await deleteLedgerSumsBefore(startOf('month', oldest), limit),
    await purgeStates(limit),
  );
}

/**
 * The end of the range in which this process has deleted the states of the channel that is kept for less time. Without
 * it, every run would read all states of the other channel again. A new process reads them once.
 */
let reached: Buffer = Buffer.alloc(16);
forgetAtEnd(() => {
  reached = Buffer.alloc(16);
});

/**
 * Deletes the states of both channels that are older than the longer retention, by their ids, which contain the time.
 * Then deletes the older states of the channel with the shorter retention.
 */
async function purgeStates(limit: number): Promise<number> {
  const [longer, shorter] = channels.toSorted((one, other) => +statesUntil(one) - +statesUntil(other));
  const gone = await deleteAged('report_states', statesUntil(longer!), limit);
  const until = statesUntil(shorter!);
  if (gone === limit || until <= statesUntil(longer!)) return gone;
  const found = await deleteStatesOf(shorter!, { from: reached, until }, limit);
  reached = found.next ?? firstUuidAt(until);
  // If there are more states to read, report a full batch, so that the caller runs another one.
  return found.next ? limit : Math.max(gone, found.gone);
}
