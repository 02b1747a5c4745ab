import { config } from '../../../shared/config/config.ts';
import { gateways, type Submission, type TextMessage } from '../../../shared/transports/sms.ts';
import { atEnd } from '../runner/at-end.ts';

/** Plays the SMS network in this process: it records each message in `taken`, and answers as `says` does. */
export function useTextGateway() {
  const taken: TextMessage[] = [];
  const accepted = (): Promise<Submission> => Promise.resolve({ kind: 'accepted', reference: 'ok' });
  const [played, name] = [gateways['simulator']!, config.SMS_GATEWAY];
  const stop = () => void (gateways[name] = played);
  const gateway = { taken, says: accepted, works: accepted, stop };
  gateways[name] = {
    name: 'network',
    submit: (message) => {
      taken.push(message);
      return gateway.says();
    },
  };
  atEnd(stop);
  return gateway;
}
