/** Which engines a cluster run has several of: MySQL first, then Redis. */
export const forms = ['galera-sentinel', 'galera-cluster', 'group-replication'] as const;

export type FormName = (typeof forms)[number];
