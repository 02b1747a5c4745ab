import net from 'node:net';
import tls from 'node:tls';

type SmppConnectOptions = {
  host: string;
  port: number;
  isTls: boolean;
  /** Trusted certificates in PEM, in addition to Node's own. */
  ca?: string | undefined;
  responseMs: number;
};

/** Opens a connection to the carrier. With TLS, Node has checked the certificate. */
export function connect({ host, port, isTls, ca, responseMs }: SmppConnectOptions): Promise<net.Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<net.Socket>();
  const name = net.isIP(host) ? {} : { servername: host };
  const socket = isTls
    ? tls.connect({ host, port, ...name, ...(ca !== undefined && { ca: [ca, ...tls.rootCertificates] }) })
    : net.connect({ host, port });
  const timer = setTimeout(() => socket.destroy(new Error('the carrier cannot be reached')), responseMs);
  socket.setNoDelay(true);
  const failed = (error: Error) => {
    clearTimeout(timer);
    reject(error);
  };
  socket.once('error', failed);
  socket.once(isTls ? 'secureConnect' : 'connect', () => {
    clearTimeout(timer);
    socket.off('error', failed);
    resolve(socket);
  });
  return promise;
}
