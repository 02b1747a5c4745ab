/** The course of a text so far. `isPartlyTaken`: a gateway has parts of it, from whichever attempt. */
type Course = { isSent: boolean; uncertainCount: number; isPartlyTaken: boolean };

/**
 * Whether a gateway has the text or may have it, in whole or in part: it stays charged then, whatever becomes of it (API
 * decisions §14). Refunds and reports both ask here, so that they add up.
 */
export function staysCharged({ isSent, uncertainCount, isPartlyTaken }: Course): boolean {
  return isSent || uncertainCount > 0 || isPartlyTaken;
}
