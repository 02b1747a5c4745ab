/**
 * A preload (`NODE_OPTIONS=--import …`) that leads one process through proxies: where it connects to a port that
 * PROXIED_PORTS names (a JSON object), it gets to the port that stands there. So this process alone can be cut off from
 * a server, also from one whose address another server has told it.
 */
import net from 'node:net';

const proxies = JSON.parse(process.env.PROXIED_PORTS ?? '{}');
const { connect } = net.Socket.prototype;

net.Socket.prototype.connect = function (...args) {
  // net.connect passes on its arguments as one list.
  const given = Array.isArray(args[0]) ? args[0] : args;
  const proxy = proxies[given[0]?.port];
  if (proxy !== undefined) given[0] = { ...given[0], port: proxy };
  return connect.apply(this, args);
};
