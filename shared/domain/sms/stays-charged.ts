/** The course of a text so far. `isPartlyTaken`: a gateway has parts of it, from whichever attempt. */
type Course = { isSent: boolean; uncertainCount: number; isPartlyTaken: boolean };

/**
 * Returns whether a gateway has the text or may have it, in whole or in part. Such a text stays charged, even if it
 * fails (API decisions §14). Refunds and reports both ask this function, so that they agree.
 */
export function staysCharged({ isSent, uncertainCount, isPartlyTaken }: Course): boolean {
  return isSent || uncertainCount > 0 || isPartlyTaken;
}
