import { config } from '../../../../shared/config/config.ts';
import { withServer } from '../../database/drop-databases.ts';

/** Writes over a connection of its own, because the connections of the platform are closed by then. */
export async function writeLate(): Promise<void> {
  const database = new URL(config.MYSQL_URL).pathname.slice(1);
  await withServer(config.MYSQL_URL, (server) =>
    server.query(
      `INSERT INTO \`${database}\`.sms_prices (country, gbp, eur, valid_from) VALUES ('GB', 1, 1, NOW())`,
    ),
  );
}
