import { query, transaction } from '../../../shared/db/client.ts';

/** Returns how many rows and index entries the server reads for the work. */
export function rowsRead(work: () => Promise<unknown>): Promise<number> {
  // The server counts the reads of one connection, and a transaction uses only one connection.
  return transaction(async () => {
    const [first, second] = [await soFar(), await soFar()];
    await work();
    // A question for the counts is itself counted, so its cost is subtracted.
    return (await soFar()) - second - (second - first);
  });
}

/** Returns the reads so far. MariaDB counts separately the entries that it drops by an index condition alone (ICP). */
async function soFar(): Promise<number> {
  const rows = await query("SHOW SESSION STATUS LIKE 'Handler_%'");
  const counts = new Map(rows.map((row) => [String(row['Variable_name']), Number(row['Value'])]));
  const of = (name: string) => counts.get(name) ?? 0;
  const read = [...counts].filter(([name]) => name.startsWith('Handler_read')).map(([, count]) => count);
  return read.reduce((sum, count) => sum + count, 0) + of('Handler_icp_attempts') - of('Handler_icp_match');
}
