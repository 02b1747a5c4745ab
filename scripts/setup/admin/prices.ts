import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import * as smsPrices from '../../../shared/domain/sms/prices.ts';
import type { Tools } from './tools.ts';

/** The operator's commands about what text messages cost. */
export function addPriceCommands(program: Command, { print }: Tools): void {
  const prices = program.command('prices').description('prices of a part of a text message, by country');
  prices
    .command('load <file>')
    .description(
      'load a CSV file with the columns country,gbp,eur,validFrom: all of its lines, or none; an empty amount means no price. A price holds from its day (UTC) until the next one of its country',
    )
    .action(async (file: string) => print(await smsPrices.load(await textOf(file))));
  prices
    .command('list')
    .description('prices of now, by country')
    .option('--all', 'earlier and later ones too, newest first')
    .action(async ({ all }: { all?: true }) => {
      const found = await (all ? smsPrices.listAll() : smsPrices.listCurrent());
      print(
        found.map(({ country, validFrom, ...price }) => ({
          country,
          ...smsPrices.costToWire(price),
          validFrom: validFrom.toISOString().slice(0, 10),
        })),
      );
    });
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(
      code === 'ENOENT' ? `There is no file ${file}` : `${file} cannot be read (${code ?? 'unknown fault'})`,
      { cause: error },
    );
  }
}
