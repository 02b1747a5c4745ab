import { query, transaction } from '../../../shared/db/client.ts';

/** How many rows and entries of indexes the server looks at for the work. */
export function rowsRead(work: () => Promise<unknown>): Promise<number> {
  // The server counts the reads of one connection, and a transaction keeps to one.
  return transaction(async () => {
    const [first, second] = [await soFar(), await soFar()];
    await work();
    // To ask for the counts counts too.
    return (await soFar()) - second - (second - first);
  });
}

/** MariaDB counts apart what it throws away by an index alone. */
async function soFar(): Promise<number> {
  const rows = await query("SHOW SESSION STATUS LIKE 'Handler_%'");
  const counts = new Map(rows.map((row) => [String(row['Variable_name']), Number(row['Value'])]));
  const of = (name: string) => counts.get(name) ?? 0;
  const read = [...counts].filter(([name]) => name.startsWith('Handler_read')).map(([, count]) => count);
  return read.reduce((sum, count) => sum + count, 0) + of('Handler_icp_attempts') - of('Handler_icp_match');
}
