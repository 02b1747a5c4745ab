import { changeSettings } from '../processes/settings.ts';
import { type DnsAnswer, type DnsServer, startDnsServer } from '../servers/dns-server.ts';

type Published = { records: { purpose: string; name: string; type: string; value: string }[] };

/** Starts the DNS of sending domains. Tests write its records as owners do, and the platform asks it from now on. */
export async function startZone() {
  const answers = new Map<string, DnsAnswer>();
  let all: DnsAnswer | null = null;
  const server: DnsServer = await startDnsServer(({ name }) => all ?? answers.get(name) ?? 'unknown');
  changeSettings({ DNS_SERVERS: [server.address], DNS_TIMEOUT_SECONDS: 3 });
  const recordOf = ({ records }: Published, purpose: string) => {
    const record = records.find((each) => each.purpose === purpose);
    if (!record) throw new Error(`The domain asks for no ${purpose} record`);
    return record;
  };
  return {
    address: server.address,
    questions: server.questions,
    set: (name: string, answer: DnsAnswer) => void answers.set(name, answer),
    /** Publishes the records that the service asks for. */
    publish: (domain: Published, ...purposes: string[]) => {
      for (const purpose of purposes) {
        const { name, type, value } = recordOf(domain, purpose);
        answers.set(name, type === 'TXT' ? { texts: [value] } : { alias: value });
      }
    },
    withdraw: (domain: Published, purpose: string) => void answers.delete(recordOf(domain, purpose).name),
    /** Sets one answer to all questions; null gives each name its own answer again. */
    answerAll: (answer: DnsAnswer | null) => {
      all = answer;
    },
  };
}
