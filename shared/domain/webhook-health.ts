/** How an attempt ended, as far as the health of its webhook goes. A 429 is neither and is not noted. */
export type AttemptEnd = {
  webhookId: string;
  workspaceId: string;
  host: string;
  isSuccess: boolean;
  endedAt: Date;
};

/** Notes attempts that have ended; many at once, as their outcomes are written together. */
export async function note(_ends: AttemptEnd[]): Promise<void> {}
