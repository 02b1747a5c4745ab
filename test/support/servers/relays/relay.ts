/** Domain -> where its mail goes: to the server on this port, or into the relay's own mailbox, which is a delivery. */
export type Routes = Record<string, number | 'mailbox'>;

export type Relay = {
  port: number;
  /** Returns the relay's log, for the message of a failed test. */
  log: () => string;
};
