import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Where deliveries may go. */
export interface EgressRules {
  readonly ports: readonly number[];
  /** Networks of the operator that are reachable from outside, and no receiver. */
  readonly denyCidrs: readonly string[];
  /** The gateway's own names. Names below them count as well. */
  readonly denyHosts: readonly string[];
  /** Whether receivers may be on this machine, with any port, with and without TLS. */
  readonly allowLoopback: boolean;
}

const longestUrl = 2_048;
/** RFC 1035 section 2.3.4. */
const longestHost = 253;
const longestLabel = 63;
const httpsPort = 443;

/** Endings that no public name has: RFC 6761, 6762, 8375, 9476, and common inside names. */
const privateEndings = [
  'localhost',
  'local',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
  'test',
  'example',
  'invalid',
  'onion',
  'alt',
];

/** IPv6 addresses of the public internet. All others have a special purpose or no owner. */
const publicIpv6 = ipaddr.parseCIDR('2000::/3');

const oneOfOurs = 'its host is one of ours';

/** The addresses of this machine by its own name, which DNS is not asked for (RFC 6761). */
export const ownAddresses: readonly string[] = ['127.0.0.1', '::1'];

/** Whether the host of a parsed URL is this machine, as a name or as an address. */
export function isThisMachine(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  return isIP(address) === 0 ? isBelow(hostname, ['localhost']) : ipaddr.process(address).range() === 'loopback';
}

/**
 * Judges the address of a receiver as text. The name is judged again at each connection, when it
 * is resolved.
 *
 * @returns The address to store, or what is wrong with it.
 */
export function judgeUrl(text: string, rules: EgressRules): { readonly url: string } | { readonly fault: string } {
  if (text.length > longestUrl) return { fault: `it is longer than ${longestUrl} characters` };
  // Spaces around it, tabs and line breaks would vanish. Parsers disagree on backslashes.
  const isOdd = [...text].some((sign) => sign <= ' ' || sign === '\u007f' || sign === '\\');
  const url = isOdd ? null : URL.parse(text);
  if (!url) return { fault: 'it is not a URL like https://hooks.example.com/gateway' };
  const isLocal = rules.allowLoopback && isThisMachine(url.hostname);
  if (url.protocol !== 'https:' && !(isLocal && url.protocol === 'http:')) {
    return { fault: 'it must begin with https://' };
  }
  if (url.username !== '' || url.password !== '') return { fault: 'it must carry no user name and no password' };
  if (url.hash !== '') return { fault: 'it must have no fragment' };
  if (isLocal) return isBelow(url.hostname, rules.denyHosts) ? { fault: oneOfOurs } : { url: url.href };
  const port = url.port === '' ? httpsPort : Number.parseInt(url.port, 10);
  if (!rules.ports.includes(port)) return { fault: `its port must be ${rules.ports.join(' or ')}` };
  const fault = hostFault(url.hostname, rules);
  return fault === null ? { url: url.href } : { fault };
}

/**
 * What is wrong with the host of a parsed URL; null when nothing is. Parsing has turned every
 * spelling of an IPv4 address into four numbers.
 */
function hostFault(hostname: string, { denyHosts, allowLoopback }: EgressRules): string | null {
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return 'its host must be a name, not an address';
  if (hostname.endsWith('.')) return 'its host must not end with a dot';
  if (hostname.length > longestHost || hostname.split('.').some(({ length }) => length < 1 || length > longestLabel)) {
    return 'its host is no name that DNS could have';
  }
  if (isBelow(hostname, denyHosts)) return oneOfOurs;
  if (allowLoopback) return null;
  if (!hostname.includes('.')) return 'its host must be a full name with a domain';
  if (isBelow(hostname, privateEndings)) return 'its host is not a public name';
  return null;
}

function isBelow(hostname: string, names: readonly string[]): boolean {
  return names.some((name) => hostname === name || hostname.endsWith(`.${name}`));
}

/** Whether a delivery may connect to an address. It must be plain public unicast and not ours. */
export function isAllowedAddress(address: string, { denyCidrs, allowLoopback }: EgressRules): boolean {
  // A zone such as %eth0 names an interface of this machine.
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (allowLoopback && range === 'loopback') return true;
  if (range !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(publicIpv6)) return false;
  return !denyCidrs.some((cidr) => {
    const [network, bits] = ipaddr.parseCIDR(cidr);
    return network.kind() === parsed.kind() && parsed.match(network, bits);
  });
}
