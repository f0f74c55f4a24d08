import { readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { BadValue, type FileSection, plainText, type Reader } from './file-section.ts';
import type { NodeConfig } from './network-config.ts';

/**
 * Reads a node of a network, with the secrets that it keeps in separate files. Faults are
 * recorded in the section.
 */
export function readNode(section: FileSection): NodeConfig {
  const url = section.has('url_file')
    ? nodeUrl.read(secretOf(section, 'url', nodeUrl) ?? nodeUrl.good)
    : section.required('url', nodeUrl);
  const user = section.optional<string | null>('user', plainText('gateway'), null);
  const password = secretOf(section, 'password', plainText('<a long random text>'));
  if (password !== null && user === null) section.fault('user', 'is missing, as there is a password', 'gateway');
  const headers = { ...readHeaders(section, false), ...readHeaders(section, true) };
  section.end();
  return { url, user, password, headers };
}

/** A member that may be kept in a separate file, as `<name>_file`. Null when both are missing. */
function secretOf(section: FileSection, name: string, reader: Reader<string>): string | null {
  const inPlace = section.optional<string | null>(name, reader, null);
  const fileName = `${name}_file`;
  const path = section.optional<string | null>(fileName, plainText(`/run/secrets/${name}`), null);
  if (path === null) return inPlace;
  if (inPlace !== null) section.fault(fileName, `is given together with ${name}; keep one of the two`);
  return readSecret(section, fileName, path, reader);
}

function readSecret(section: FileSection, name: string, path: string, reader: Reader<string>): string | null {
  try {
    return reader.read(readFileSync(path, 'utf8').trim());
  } catch (error) {
    const what =
      error instanceof BadValue ? `names a file whose text ${error.message}` : 'names a file that cannot be read';
    section.fault(name, what, error instanceof BadValue ? reader.good : undefined);
    return null;
  }
}

function readHeaders(node: FileSection, inFiles: boolean): Record<string, string> {
  const section = node.section(inFiles ? 'header_files' : 'headers');
  const found: Record<string, string> = {};
  for (const name of section.names()) {
    const given = section.required(name, plainText(inFiles ? '/run/secrets/api-key' : '<the key of the provider>'));
    if (!/^[A-Za-z0-9-]{1,100}$/.test(name)) section.fault(name, 'is no name of a header', 'X-Api-Key');
    else found[name] = inFiles ? (readSecret(section, name, given, plainText('<the key>')) ?? '') : given;
  }
  return found;
}

const nodeUrl: Reader<string> = {
  good: 'https://node-1.example/',
  read(value) {
    if (typeof value !== 'string' || !URL.canParse(value)) throw new BadValue('must be a URL');
    const { protocol, hostname, username, password } = new URL(value);
    if (protocol !== 'http:' && protocol !== 'https:') throw new BadValue('must begin with https:// or http://');
    if (username !== '' || password !== '') {
      throw new BadValue('must hold no credentials; they go into user and password_file');
    }
    if (protocol === 'http:' && !isNear(hostname)) {
      throw new BadValue(
        'must begin with https:// outside your own network: a machine on the way could report false deposits',
      );
    }
    return value;
  },
};

/**
 * Whether a host is this machine, in a private network, or named as only such a network knows it.
 */
function isNear(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(name)) {
    return ['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'].includes(ipaddr.parse(name).range());
  }
  return !name.includes('.') || /\.(localhost|local|internal|lan|home\.arpa)$/.test(name);
}
