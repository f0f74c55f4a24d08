import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A certificate that signs itself, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

const dayMs = 86_400_000;
/** A day before now, so that clocks of a test may be behind. */
const leadMs = dayMs;

const oids = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  subjectAltName: '551d11',
} as const;

/** A value of ASN.1, in DER. */
function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...items: readonly Buffer[]): Buffer => der(0x30, ...items);
const oid = (name: keyof typeof oids): Buffer => der(0x06, Buffer.from(oids[name], 'hex'));
const bits = (bytes: Buffer): Buffer => der(0x03, Buffer.from([0]), bytes);
const utcTime = (ms: number): Buffer =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().slice(2, 19).replaceAll(/[-:T]/g, '')}Z`));

/** Makes a certificate for names, of X.509 version 3. It needs no program but Node. */
export async function makeCertificate(names: readonly string[], days = 2): Promise<Certificate> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('ecdsaWithSha256'));
  const name = sequence(der(0x31, sequence(oid('commonName'), der(0x0c, Buffer.from(names[0] ?? '')))));
  const now = Date.now();
  const hosts = sequence(...names.map((host) => der(0x82, Buffer.from(host))));
  const certified = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    // A serial number is positive.
    der(0x02, Buffer.from([1]), randomBytes(8)),
    algorithm,
    name,
    sequence(utcTime(now - leadMs), utcTime(now + days * dayMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid('subjectAltName'), der(0x04, hosts)))),
  );
  const whole = sequence(certified, algorithm, bits(sign('sha256', certified, privateKey)));
  const lines = whole.toString('base64').replaceAll(/.{64}/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}
