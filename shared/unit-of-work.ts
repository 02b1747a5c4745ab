/** One request, one transaction (design rule 1). */
export { afterCommit, transaction } from './db/client.ts';
