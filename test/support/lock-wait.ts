/** A statement waits 5 seconds for a lock: who is done within this time has waited for none. */
export const withoutWaitingMs = 4_500;
