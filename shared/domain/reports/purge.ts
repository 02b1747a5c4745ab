import { now } from '../../common/clock.ts';
import { config } from '../../config/config.ts';
import { deleteReportsBefore } from '../../db/reports/counts.system.ts';
import { deleteStatesBefore } from '../../db/reports/messages.system.ts';
import { deleteLedgerSumsBefore } from '../../db/sms/ledger.system.ts';
import { hourOf, startOf } from './pieces.ts';
import { statesUntil } from './recount.ts';

/** Deletes some rows whose retention has ended; figures by whole months, so that hours, days and months agree. */
export async function purge(limit: number): Promise<number> {
  const oldest = hourOf(new Date(now().getTime() - config.REPORT_RETENTION_DAYS * 86_400_000));
  return Math.max(
    await deleteReportsBefore(startOf('month', oldest), limit),
    await deleteLedgerSumsBefore(startOf('month', oldest), limit),
    await deleteStatesBefore(statesUntil(), limit),
  );
}
