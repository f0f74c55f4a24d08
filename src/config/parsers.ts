import { accessSync, constants } from 'node:fs';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { fractionDigits, parseDecimal } from '../base/money.ts';
import { type ExchangeAddress, exchangeNames, isExchangeName } from '../exchanges/exchange.ts';

// Parsers of setting texts. Each returns the value, or throws BadSetting.

/** A setting whose text cannot be used. */
export class BadSetting extends Error {}

/** One pepper for key hashes; `version` is stored with each hash that it made. */
export interface Pepper {
  readonly version: number;
  readonly secret: string;
}

/** A whole number from `min` to `max`. */
export const integer =
  (min: number, max: number) =>
  (text: string): number => {
    if (!/^-?\d+$/.test(text)) throw new BadSetting('is not a whole number');
    const value = Number(text);
    if (value < min) throw new BadSetting(`is too small: it must lie between ${min} and ${max}`);
    if (value > max) throw new BadSetting(`is too large: it must lie between ${min} and ${max}`);
    return value;
  };

const wholeUsd = integer(0, 1_000_000_000);

/**
 * Amounts in whole US dollars: one for each asset, and others for assets that are named, as
 * 'USDT/TRC20'.
 */
interface AssetUsd {
  readonly each: number;
  readonly named: ReadonlyMap<string, number>;
}

/**
 * An amount in whole US dollars for each asset, then others by asset: `1000000,USDT/TRC20=2000000`.
 */
export const assetUsd = (text: string): AssetUsd => {
  const [each = '', ...others] = text.split(',').map((part) => part.trim());
  const named = new Map<string, number>();
  for (const other of others) {
    const [, asset, amount] = /^([A-Z0-9]{2,10}\/[A-Z0-9]{2,20})=(.*)$/.exec(other) ?? [];
    if (asset === undefined || amount === undefined) {
      throw new BadSetting(`holds '${other.slice(0, 40)}', which is not like USDT/TRC20=2000000`);
    }
    if (named.has(asset)) throw new BadSetting(`names ${asset} twice`);
    named.set(asset, wholeUsd(amount));
  }
  return { each: wholeUsd(each), named };
};

/** One of the given words. */
export const oneOf =
  <T extends string>(...values: readonly T[]) =>
  (text: string): T => {
    const found = values.find((value) => value === text);
    if (found === undefined) throw new BadSetting(`must be one of ${values.join(', ')}`);
    return found;
  };

/** A fraction in decimal text, from 0 to 1. */
export const fraction = (text: string): string => {
  if (!/^(?:0(?:\.\d{1,6})?|1(?:\.0{1,6})?)$/.test(text)) {
    throw new BadSetting('must be a decimal from 0 to 1 with at most 6 digits after the point');
  }
  return text;
};

/** A fraction in decimal text, below a half. */
export const rate = (text: string): string => {
  const value = parseDecimal(text);
  if (!value || value.lt('0') || value.gte('0.5') || fractionDigits(value) > 6) {
    throw new BadSetting('must be a decimal from 0 to below 0.5 with at most 6 digits after the point');
  }
  return value.toFixed();
};

/** A URL of one of the protocols, such as `https:`. */
export const url =
  (...protocols: readonly string[]) =>
  (text: string): string => {
    if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
      // prose-ok: the slashes stand in a text
      throw new BadSetting(`must be a URL that begins with ${protocols.map((name) => `${name}//`).join(' or ')}`);
    }
    return text;
  };

/** What a URL of servers must be replaced by, in words for operators. */
export const oneRedis = 'name the address of one Redis, or of a proxy or service that leads to the master';
const onePostgres = 'name the address of one PostgreSQL, or of a proxy or service that leads to the primary';

/** Whether a URL names several hosts, as `postgres://a,b/c` or by a parameter `host`. */
function hasSeveralHosts(text: string): boolean {
  const [, authority = '', rest = ''] = /^[^/?#]*\/\/([^/?#]*)(.*)$/s.exec(text) ?? [];
  const hosts = authority.slice(authority.lastIndexOf('@') + 1);
  return hosts.includes(',') || /[?&](?:host|hostaddr|port)=[^&#]*(?:,|%2c)/i.test(rest);
}

/** The value of a parameter of a URL; null without it. */
function parameterOf(text: string, name: string): string | null {
  return URL.canParse(text) ? new URL(text).searchParams.get(name) : null;
}

/** The URL of a PostgreSQL. Sessions are kept with a primary only. */
export const postgresUrl = (text: string): string => {
  if (hasSeveralHosts(text)) throw new BadSetting(`names several hosts: ${onePostgres} (docs/fail-over.md)`);
  const found = url('postgres:', 'postgresql:')(text);
  const wanted = parameterOf(found, 'target_session_attrs');
  if (wanted !== null && !['primary', 'read-write'].includes(wanted)) {
    throw new BadSetting(
      'has target_session_attrs other than read-write or primary: the gateway works with a primary only (docs/fail-over.md)',
    );
  }
  return found;
};

/** The URL of a Redis that counts alone. */
export const redisUrl = (text: string): string => {
  const parameters = URL.canParse(text) ? [...new URL(text).searchParams.keys()] : [];
  const words = [text.split('://', 1)[0] ?? '', ...parameters].join(' ');
  const kind = /sentinel/i.test(words) ? 'Redis Sentinel' : /cluster/i.test(words) ? 'Redis Cluster' : null;
  if (kind) throw new BadSetting(`names ${kind}, which the gateway cannot use: ${oneRedis} (docs/fail-over.md)`);
  if (hasSeveralHosts(text)) {
    throw new BadSetting(
      `names several hosts, as for Redis Sentinel or Redis Cluster, which the gateway cannot use: ${oneRedis} (docs/fail-over.md)`,
    );
  }
  return url('redis:', 'rediss:')(text);
};

/** The URL of an identity provider: https, or http on this machine. */
export const issuer = (text: string): string => {
  const address = url('https:', 'http:')(text);
  const { protocol, hostname, search, hash } = new URL(address);
  if (protocol === 'http:' && !isLoopback(hostname)) throw new BadSetting('must begin with https://');
  if (search !== '' || hash !== '') throw new BadSetting('must have nothing after its path');
  return address;
};

/** A scheme and host, as browsers send them in Origin. */
export const origin = (text: string): string => {
  const address = new URL(issuer(text));
  if (address.pathname !== '/') throw new BadSetting('must end with the host, without a path');
  return address.origin;
};

/**
 * An origin that browsers count as secure: https, or http on localhost. Passkeys belong to host
 * names, not to IP addresses.
 */
export const cabinetOrigin = (text: string): string => {
  const found = origin(text);
  const { protocol, hostname } = new URL(found);
  if (protocol !== 'https:' && hostname !== 'localhost')
    throw new BadSetting('must begin with https://, or be http://localhost');
  if (/^[\d.]+$|^\[/.test(hostname))
    throw new BadSetting('must have a host name: passkeys cannot belong to an IP address');
  return found;
};

/** Path of a file that can be read. */
export const readableFile = (text: string): string => {
  try {
    accessSync(text, constants.R_OK);
  } catch {
    throw new BadSetting('names a file that cannot be read');
  }
  return text;
};

/** An address or a host name. */
export const host = (text: string): string => {
  if (!/^[A-Za-z0-9.:_-]{1,253}$/.test(text)) throw new BadSetting('is neither an address nor a host name');
  return text;
};

/** Networks in CIDR form, separated by commas. */
export const cidrList = (text: string): readonly string[] =>
  text.split(',').map((part) => {
    const cidr = part.trim();
    if (!ipaddr.isValidCIDR(cidr)) {
      throw new BadSetting(
        `holds '${cidr}', which is not a network in CIDR form (a hop count or 'true' can be spoofed)`,
      );
    }
    return cidr;
  });

/**
 * Networks in CIDR form and host names in small letters, separated by commas. An address alone is
 * the network that has no other.
 */
export const denyList = (text: string): readonly string[] =>
  text.split(',').flatMap((part) => {
    const name = part.trim();
    const family = isIP(name);
    if (family !== 0) return `${name}/${family === 4 ? 32 : 128}`;
    return isNetwork(name) ? cidrList(name) : host(name).toLowerCase();
  });

/** Whether an entry of `denyList` is a network. No host name has a slash. */
export const isNetwork = (part: string): boolean => part.includes('/');

/** Countries by their ISO 3166-1 codes of two letters. */
export const countryList = (text: string): readonly string[] =>
  text.split(',').map((part) => {
    const country = part.trim();
    if (!/^[A-Z]{2}$/.test(country)) throw new BadSetting(`holds '${country.slice(0, 20)}', which is not two capitals`);
    return country;
  });

/** `version:secret`, newest first, separated by commas. The first may omit its version. */
export const peppers = (text: string): readonly Pepper[] => {
  const list = text.split(',').map((part, index): Pepper => {
    const match = /^(?:(\d{1,4}):)?(\S{32,256})$/.exec(part.trim());
    if (!match?.[2]) throw new BadSetting('must hold at least 32 characters without spaces');
    if (match[1] === undefined && index > 0) throw new BadSetting('needs a version before each pepper after the first');
    return { version: match[1] === undefined ? 1 : Number.parseInt(match[1], 10), secret: match[2] };
  });
  if (new Set(list.map((pepper) => pepper.version)).size < list.length) {
    throw new BadSetting('gives one version to two peppers');
  }
  return list;
};

/** 32 bytes as hexadecimal digits. */
export const bytes32 = (text: string): string => {
  if (!/^[0-9a-f]{64}$/.test(text)) throw new BadSetting('must be 64 hexadecimal digits, in small letters');
  return text;
};

/** An exchange by its name, optionally with another address. */
export const exchange = (text: string): ExchangeAddress => {
  const [name = '', address] = text.trim().split(/=(.*)/s);
  if (!isExchangeName(name)) {
    throw new BadSetting(`names '${name.slice(0, 40)}', which is none of ${exchangeNames.join(', ')}`);
  }
  return { name, origin: address === undefined ? null : origin(address) };
};

/** Exchanges, separated by commas, each once. */
export const exchanges = (text: string): readonly ExchangeAddress[] => {
  const list = text.split(',').map(exchange);
  if (new Set(list.map(({ name }) => name)).size < list.length) throw new BadSetting('names an exchange twice');
  return list;
};

/** A coin by its code. */
export const coin = (text: string): string => {
  if (!/^[A-Z0-9]{2,10}$/.test(text)) throw new BadSetting('must be a coin, in capital letters');
  return text;
};

/** A coin on a network, as 'USDC/ERC20'. */
export const asset = (text: string): { readonly coin: string; readonly network: string } => {
  const [, coin, network] = /^([A-Z0-9]{2,10})\/([A-Z0-9]{2,20})$/.exec(text) ?? [];
  if (coin === undefined || network === undefined) throw new BadSetting('must be a coin and its network');
  return { coin, network };
};

const loopbackHosts = new Set(['127.0.0.1', '::1', '[::1]', 'localhost']);

/** Whether a host name or address is this machine's own. */
export function isLoopback(name: string): boolean {
  return loopbackHosts.has(name) || /^127(\.\d{1,3}){3}$/.test(name);
}
