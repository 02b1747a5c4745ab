/** Where mail for each domain goes: to the server on this port, or into a mailbox of the relay's own, which is a delivery. */
export type Routes = Record<string, number | 'mailbox'>;

export type Relay = {
  port: number;
  /** The text that it has written, for the message of a failed test. */
  log: () => string;
};
