import { keyIdOf, open, seal, sealingKeyId } from '../../common/secrets.ts';
import * as db from '../../db/server/sealed-secrets.system.ts';

/** The secrets of a column that the first key of SECRET_KEY has not sealed. */
export type RotationProgress = {
  place: string;
  resealed: number;
  left: number;
  /** The ids of the keys that sealed the secrets that are left. */
  keys: string[];
};

const defaultBatch = 500;

/**
 * Seals again, with the first key of SECRET_KEY, all values that another of its keys has sealed. Each value is changed
 * on its own, and only if it is still the value that was read, so this can be stopped and restarted at any time, while
 * everything runs. A secret that no key of SECRET_KEY opens is left as it is, and counted.
 */
export async function resealAll({ batch = defaultBatch } = {}): Promise<RotationProgress[]> {
  const ended: RotationProgress[] = [];
  for (const place of db.sealedPlaces) ended.push(await walk(place, batch, reseal));
  return ended;
}

/** Counts the same secrets and changes none. */
export async function countLeft({ batch = defaultBatch } = {}): Promise<RotationProgress[]> {
  const ended: RotationProgress[] = [];
  for (const place of db.sealedPlaces) ended.push(await walk(place, batch, async () => 'left'));
  return ended;
}

type SealedPage = Awaited<ReturnType<typeof db.listSealedOtherwise>>;
type ResealOutcome = 'resealed' | 'left' | 'changed';

async function walk(
  place: db.SealedPlace,
  batch: number,
  each: (value: db.SealedValue) => Promise<ResealOutcome>,
): Promise<RotationProgress> {
  const counts = { resealed: 0, left: 0, changed: 0 };
  const keyIds = new Set<string>();
  let after: db.SealedValue['key'] | null = null;
  do {
    const page: SealedPage = await db.listSealedOtherwise(place, sealingKeyId(), after, batch);
    for (const value of page.values) {
      const end = await each(value);
      counts[end] += 1;
      if (end === 'left') keyIds.add(keyIdOf(value.sealed));
    }
    after = page.last;
  } while (after);
  return {
    place: `${place.table}.${place.column}`,
    resealed: counts.resealed,
    left: counts.left,
    keys: [...keyIds],
  };
}

async function reseal(value: db.SealedValue): Promise<ResealOutcome> {
  let secret: string;
  try {
    secret = open(value.owner, value.sealed);
  } catch {
    return 'left';
  }
  return (await db.updateSealed(value, seal(value.owner, secret))) ? 'resealed' : 'changed';
}
