import { type Command, InvalidArgumentError } from 'commander';
import * as rotation from '../../../shared/domain/operations/secret-rotation.ts';
import type { Tools } from './tools.ts';

/** The operator's commands about the keys that secrets are encrypted with. */
export function addSecretCommands(program: Command, { print }: Tools): void {
  const secrets = program.command('secrets').description('data that SECRET_KEY encrypts');
  const show = (places: rotation.RotationProgress[]) =>
    print(places.map(({ place, resealed, left, keys }) => ({ place, resealed, left, keys: keys.join(',') })));
  secrets
    .command('status')
    .description('how much is not yet encrypted with the first key of SECRET_KEY')
    .action(async () => show(await rotation.countLeft()));
  secrets
    .command('rotate')
    .description(
      'encrypt all of it with the first key of SECRET_KEY; you may stop this command and start it again, and the processes can run meanwhile',
    )
    .option('--batch <rows>', 'how many are read at a time', rowsOf, 200)
    .action(async (options: { batch: number }) => {
      const places = await rotation.resealAll(options);
      show(places);
      const left = places.reduce((sum, place) => sum + place.left, 0);
      if (left > 0)
        throw new Error(
          `${left} rows could not be decrypted: SECRET_KEY lacks their keys (${[...new Set(places.flatMap(({ keys }) => keys))].join(', ')}), or the rows are damaged`,
        );
    });
}

function rowsOf(text: string): number {
  if (!/^[1-9][0-9]{0,3}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number from 1 to 9999.');
  return Number(text);
}
